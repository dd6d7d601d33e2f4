"""Runs Warp's own checks on a program, each in a process group of its own."""

from __future__ import annotations

import json
import signal
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from retrograde.cli.process_group import ProcessGroup
from retrograde.cli.progress import Progress
from retrograde.cli.signals import StopFlag, stop_flag
from retrograde.cli.supervise import Interrupted
from retrograde.request import AuditRequest
from retrograde.stock.words import Stock, Tool, checked_kernels, distinct, overwrite_warnings

LIMIT = 60.0
"""Time for each check where the user names no budget for the audit [s]."""

_CHILD = (sys.executable, "-P", "-m", "retrograde.stock.child")
_POLL = 0.03
_WHOLE = ("stopped after", "ran to its end")


def ask_stock(request: AuditRequest, progress: Progress) -> tuple[Stock, ...]:
    """What Warp's own checks say of the program of `request`.

    Raises:
        Interrupted: A signal asked to stop.
    """
    with stop_flag() as flag:
        return tuple(_ask(tool, request, progress, flag) for tool in Tool)


def _ask(tool: Tool, request: AuditRequest, progress: Progress, flag: StopFlag) -> Stock:
    limit = LIMIT if request.budget is None else request.budget
    with tempfile.TemporaryDirectory(prefix="retrograde-", ignore_cleanup_errors=True) as folder:
        place = Path(folder)
        (place / "request.json").write_text(json.dumps(asdict(request)), encoding="utf-8")
        started = time.monotonic()
        group = ProcessGroup([*_CHILD, tool.value, folder])
        try:
            while group.poll() is None and flag.signal is None and time.monotonic() < started + limit:
                progress.show(f"asking Warp's {tool.value}")
                time.sleep(_POLL)
            overdue = group.poll() is None
        finally:
            progress.clear()
            group.end(flag.signal or signal.SIGTERM)
        if flag.signal is not None:
            raise Interrupted(flag.signal)
        outcome = _outcome(place, group.status or 0, overdue, limit)
        return _stock(tool, _text(place / "words.txt"), outcome, time.monotonic() - started)


def _outcome(place: Path, status: int, overdue: bool, limit: float) -> dict[str, Any]:
    text = _text(place / "outcome.json")
    if text:
        return json.loads(text)
    if overdue:
        return {"ended": f"did not end within {limit:g} s", "flagged": None}
    died = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
    return {"ended": f"its process ended {died}", "flagged": None}


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def _stock(tool: Tool, text: str, outcome: dict[str, Any], seconds: float) -> Stock:
    flagged: bool | None = outcome["flagged"]
    if tool is Tool.TRACKER:
        said = overwrite_warnings(text)
        count = len(said)
        flagged = True if said else (False if outcome["ended"].startswith(_WHOLE) else None)
    else:
        said = checked_kernels(text)
        count = sum(sentence.endswith("failed.") for sentence in said)
        flagged = True if count else flagged
    return Stock(tool, flagged, distinct(said), count, outcome["ended"], seconds)
