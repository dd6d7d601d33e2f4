"""Re-execution in a fresh process, from the program's beginning: where this one cannot be forked.

Slower than a snapshot by the program's own way to the loss, and the only way where a CUDA context is open.
"""

from __future__ import annotations

import functools
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from retrograde.gradients.execution import DIED, TOO_LONG, detach_from_world, refuse_programs
from retrograde.program import execute
from retrograde.request import AuditRequest
from retrograde.trace.observer import Observer
from retrograde.trace.plan import Outcome, Plan
from retrograde.trace.recorder import Recorder

_ORDER = "order.pickle"
_OUTCOME = "outcome.pickle"
NOT_STARTED = Outcome(failure="the system has no room for another process")


@dataclass(frozen=True)
class FreshProcesses:
    """Runs plans in processes of their own.

    Attributes:
        request: The program.
        folder: Working folder to run it in.
    """

    request: AuditRequest
    folder: str

    def begin(self, plans: Sequence[Plan], workers: int, limit: float) -> Callable[[], list[Outcome]]:
        """Re-execute several plans, some side by side, once their outcomes are waited for.

        Args:
            plans: What to do.
            workers: How many at once.
            limit: Time allowed for each [s].
        """
        return functools.partial(self._run, plans, workers, limit)

    def _run(self, plans: Sequence[Plan], workers: int, limit: float) -> list[Outcome]:
        outcomes: list[Outcome] = []
        with tempfile.TemporaryDirectory(prefix="retrograde-", dir=self.request.scratch) as root:
            for begin in range(0, len(plans), workers):
                folders = [Path(root) / str(n) for n in range(begin, min(begin + workers, len(plans)))]
                running = [
                    _start(folder, self, plan)
                    for folder, plan in zip(folders, plans[begin : begin + workers], strict=True)
                ]
                began = time.monotonic()
                outcomes += [
                    NOT_STARTED if p is None else _finish(p, f, began, limit)
                    for p, f in zip(running, folders, strict=True)
                ]
        return outcomes


def _start(folder: Path, how: FreshProcesses, plan: Plan) -> subprocess.Popen[bytes] | None:
    try:
        folder.mkdir()
        (folder / _ORDER).write_bytes(pickle.dumps((how.request, plan)))
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "retrograde.gradients.rerun", str(folder)],
            cwd=how.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None


def _finish(process: subprocess.Popen[bytes], folder: Path, began: float, limit: float) -> Outcome:
    try:
        process.wait(timeout=max(0.0, began + limit - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return TOO_LONG
    result = folder / _OUTCOME
    outcome: Outcome = pickle.loads(result.read_bytes()) if result.is_file() else DIED
    return replace(outcome, seconds=time.monotonic() - began)


def main() -> None:
    """Carry out the order that lies in a folder; the process ends at the plan's last term."""
    folder = Path(sys.argv[1])
    request, plan = pickle.loads((folder / _ORDER).read_bytes())
    result = os.open(folder / _OUTCOME, os.O_WRONLY | os.O_CREAT, 0o600)
    recorder = Recorder(lambda recorder: None)

    def finish(outcome: Outcome) -> None:
        os.write(result, pickle.dumps(outcome))
        os._exit(0)

    recorder.begin_re_execution(plan, finish)
    detach_from_world(str(folder), keep=(result,))
    refuse_programs(finish)
    Observer(recorder).install()
    execute(request)
    finish(Outcome(failure="the program ended before its backward pass"))


if __name__ == "__main__":
    main()
