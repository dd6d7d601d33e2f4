"""The process in which a program runs under one of Warp's checks: `python -P -m retrograde.stock.child TOOL FOLDER`.

The program is stopped after a few backward passes, and what it writes is kept away from its files, as in any
re-execution.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import warp.autograd

from retrograde.gradients.execution import detach_from_world, refuse_programs
from retrograde.program import execute
from retrograde.request import AuditRequest
from retrograde.stock.words import Tool
from retrograde.trace.warp_api import wp

PASSES = 3
"""Backward passes after which a program is stopped under the tracker where the user names no number."""

MOST = 32
"""Inputs and outputs of an array that gradcheck is told to look at, at most."""


def turn_tracker_on() -> None:
    """Have Warp warn of arrays that are written after a taped launch read them; before any kernel is built."""
    wp.config.verify_autograd_array_access = True


def stop_after(passes: int, leave: Callable[[str], None]) -> None:
    """Leave after the given number of `Tape.backward`."""
    original: Any = wp.Tape.backward
    seen = 0

    def backward(tape: Any, *args: Any, **kwargs: Any) -> None:
        nonlocal seen
        original(tape, *args, **kwargs)
        seen += 1
        if seen >= passes:
            leave(f"stopped after {passes} backward passes")

    wp.Tape.backward = backward


def check_first_tape(leave: Callable[[str, bool | None], None]) -> None:
    """Run `gradcheck_tape` on the first tape of which the gradient is asked, and leave."""
    check: Any = warp.autograd.gradcheck_tape
    original: Any = wp.Tape.backward

    def backward(tape: Any, *_args: Any, **_kwargs: Any) -> None:
        wp.Tape.backward = original
        launches = sum(not callable(launch) for launch in tape.launches)
        try:
            passed = check(tape, raise_exception=False, max_inputs_per_var=MOST, max_outputs_per_var=MOST)
        except Exception as error:
            leave(f"gave up on the first tape: {type(error).__name__}: {error}", None)
        else:
            leave(f"checked the {launches} launches of the first tape, one by one", not passed)

    wp.Tape.backward = backward


def main() -> None:
    """Run the program that the folder's request names, and leave there what became of it."""
    tool, folder = Tool(sys.argv[1]), Path(sys.argv[2])
    request = AuditRequest(**json.loads((folder / "request.json").read_text(encoding="utf-8")))
    words = os.open(folder / "words.txt", os.O_WRONLY | os.O_CREAT, 0o600)
    outcome = os.open(folder / "outcome.json", os.O_WRONLY | os.O_CREAT, 0o600)
    sys.stdout = sys.stderr = os.fdopen(words, "w", encoding="utf-8", errors="replace")

    def leave(ended: str, flagged: bool | None = None) -> None:
        sys.stdout.flush()
        os.write(outcome, json.dumps({"ended": ended, "flagged": flagged}).encode())
        os._exit(0)

    detach_from_world(str(folder), keep=(words, outcome))
    refuse_programs(lambda _outcome: leave("given up: the program starts other programs"))
    if tool is Tool.TRACKER:
        turn_tracker_on()
        stop_after(request.iterations or PASSES, leave)
    else:
        check_first_tape(leave)
    ending = execute(request)
    leave("ran to its end" if ending.ran else f"could not be run to its end: {ending.reason}")


if __name__ == "__main__":
    main()
