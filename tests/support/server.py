"""A warm process that forks for every program: Warp is imported, initialised and has compiled once.

Speaks lines of JSON on its standard streams. A request is `{"mode": "plain"|"audit", "path": ..., "timeout": ...}`;
the answer is `{"ok": ..., "document": ..., "stdout": ..., "stderr": ..., "seconds": ...}`.
"""

from __future__ import annotations

import json
import os
import runpy
import shutil
import signal
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

Message = dict[str, Any]


def warm_up() -> None:
    """Pay for imports, Warp's start and the first compilation once."""
    import warp as wp

    wp.config.quiet = True
    wp.config.optimization_level = 0
    wp.init()
    from tests.support.warm_kernel import touch

    touch()
    try:
        import retrograde.audit
        import retrograde.report.json  # noqa: F401
        from retrograde.causes.registry import all_causes

        all_causes()
    except ImportError:
        traceback.print_exc()


def run_plain(path: Path) -> None:
    """Run a program as `python PATH` does."""
    sys.argv = [str(path)]
    sys.path[0] = str(path.parent)
    runpy.run_path(str(path), run_name="__main__")


def run_audit(path: Path, result: Path, options: Message) -> None:
    """Audit a program and leave its document in `result`."""
    from retrograde.audit import Audit, run
    from retrograde.report.json import to_document
    from retrograde.request import AuditRequest

    def deliver(audit: Audit) -> None:
        result.write_text(json.dumps(to_document(audit)), encoding="utf-8")

    deliver(run(AuditRequest(script=str(path), **options), progress=lambda _: None, deliver=deliver))


def _child(request: Message, folder: Path) -> None:
    """Serve one request in a fork; never returns."""
    status = 1
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.chdir(folder)
        for name, stream in (("stdout", 1), ("stderr", 2)):
            os.dup2(os.open(folder / name, os.O_CREAT | os.O_WRONLY, 0o600), stream)
        sys.stdout = os.fdopen(1, "w", buffering=1, closefd=False)
        sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
        path = Path(request["path"])
        if request["mode"] == "plain":
            run_plain(path)
        else:
            run_audit(path, folder / "document", request.get("options", {}))
        status = 0
    except SystemExit as end:
        status = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def serve_one(request: Message) -> Message:
    """Fork for one request, wait for its end, answer.

    The folder is made without a finalizer: the fork would inherit it.
    """
    if "import torch" in _text(Path(request["path"])):
        import torch  # noqa: F401 - once, here, instead of in every fork
    folder = Path(tempfile.mkdtemp(prefix="retrograde-tests-"))
    try:
        start = time.perf_counter()
        child = os.fork()
        if child == 0:
            _child(request, folder)
        status = _wait(child, start + float(request.get("timeout", 60.0)))
        document = folder / "document"
        return {
            "ok": status == 0,
            "status": status,
            "document": json.loads(document.read_text(encoding="utf-8")) if document.exists() else None,
            "stdout": _text(folder / "stdout"),
            "stderr": _text(folder / "stderr"),
            "seconds": time.perf_counter() - start,
        }
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait(child: int, deadline: float) -> int:
    """Exit status of `child`; -9 where it had to be killed."""
    pause = 0.002
    ended = 0
    try:
        while time.perf_counter() <= deadline:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            time.sleep(pause)
            pause = min(0.02, pause * 1.5)
    finally:
        if not ended:
            _kill(child)
    return -signal.SIGKILL


def _kill(child: int) -> None:
    """End a child and what it started, also where it has not begun a session of its own yet."""
    for kill in (os.kill, os.killpg):
        with suppress(ProcessLookupError):
            kill(child, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(child, 0)


def _leave(number: int, _: object) -> None:
    raise SystemExit(128 + number)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def main() -> None:
    """Serve until standard input ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    warm_up()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    answers.write(json.dumps({"ready": True}) + "\n")
    for line in sys.stdin:
        answers.write(json.dumps(serve_one(json.loads(line))) + "\n")


if __name__ == "__main__":
    main()
