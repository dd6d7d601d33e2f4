"""Runs programs, and audits of programs, from tests: one warm server a test process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).parents[2]
Document = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What became of one program.

    Attributes:
        ok: It ended with exit status 0.
        status: Its exit status.
        document: The audit's document; None in a plain run, or where the audit left none.
        stdout, stderr: What it wrote.
        seconds: How long it took [s].
    """

    ok: bool
    status: int
    document: Document | None
    stdout: str
    stderr: str
    seconds: float


class AuditFailedError(RuntimeError):
    """The audit left no document: its standard error is the message."""


class Auditor:
    """Audits programs and runs them plainly; a context manager that ends its server.

    On systems without `fork` every program gets a new interpreter.
    """

    def __init__(self) -> None:
        self._server: subprocess.Popen[str] | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="retrograde-tests-")
        self._count = 0

    def __enter__(self) -> Auditor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the server and remove the sources that were written for it."""
        if self._server is not None:
            assert self._server.stdin is not None
            assert self._server.stdout is not None
            self._server.stdin.close()
            self._server.wait(timeout=30)
            self._server.stdout.close()
            self._server = None
        self._folder.cleanup()

    def stop(self) -> None:
        """End the server at once, with the program that it serves; for another thread than the one that waits."""
        if self._server is not None:
            self._server.terminate()

    def audit(self, program: str | Path, timeout: float = 120.0, **options: object) -> Document:
        """Audit a program, given by its path or by its source.

        Args:
            program: The path of a program's file, or a program's source.
            timeout: Time after which the audit is ended [s].
            options: Fields of `retrograde.request.AuditRequest`.

        Raises:
            AuditFailedError: The audit left no document.
        """
        outcome = self._request("audit", self._path(program), timeout, options)
        if outcome.document is None:
            raise AuditFailedError(f"status {outcome.status} after {outcome.seconds:.1f} s\n{outcome.stderr[-4000:]}")
        return outcome.document

    def run(self, program: str | Path, timeout: float = 60.0) -> Outcome:
        """Run a program plainly."""
        return self._request("plain", self._path(program), timeout, {})

    def _path(self, program: str | Path) -> Path:
        if isinstance(program, Path):
            return program.resolve()
        self._count += 1
        path = Path(self._folder.name) / f"program_{os.getpid()}_{self._count}.py"
        path.write_text(program, encoding="utf-8")
        return path

    def _request(self, mode: str, path: Path, timeout: float, options: Mapping[str, object]) -> Outcome:
        if not hasattr(os, "fork"):
            return _without_fork(mode, path, timeout)
        server = self._ready()
        assert server.stdin is not None
        assert server.stdout is not None
        message = {"mode": mode, "path": str(path), "timeout": timeout, "options": dict(options)}
        server.stdin.write(json.dumps(message) + "\n")
        server.stdin.flush()
        line = server.stdout.readline()
        if not line:
            raise AuditFailedError(f"The server ended with status {server.wait()}.")
        return Outcome(**json.loads(line))

    def _ready(self) -> subprocess.Popen[str]:
        if self._server is None:
            self._server = subprocess.Popen(
                [sys.executable, "-P", "-m", "tests.support.server"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=ROOT,
                env=_environment(),
            )
            assert self._server.stdout is not None
            if not self._server.stdout.readline():
                raise AuditFailedError("The server did not start.")
        return self._server


def _environment() -> dict[str, str]:
    paths = [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(p for p in paths if p), "PYTHONHASHSEED": "0"}


def _without_fork(mode: str, path: Path, timeout: float) -> Outcome:
    command = [sys.executable, str(path)]
    if mode == "audit":
        command = [sys.executable, "-m", "retrograde", "audit", "--format", "json", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False, env=_environment())
    document = json.loads(done.stdout) if mode == "audit" and done.stdout else None
    return Outcome(done.returncode == 0, done.returncode, document, done.stdout, done.stderr, 0.0)
