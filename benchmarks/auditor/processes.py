"""Runs programs in processes of their own and takes their wall time."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"


@dataclass(frozen=True)
class Finished:
    """A process that ended.

    Attributes:
        seconds: Its wall time [s].
        status: Its exit status.
        stdout, stderr: What it wrote.
    """

    seconds: float
    status: int
    stdout: str
    stderr: str


def run(arguments: Sequence[str | Path], limit: float = 300.0) -> Finished:
    """Run `python` with some arguments to its end; killed after `limit` [s], with status -9."""
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in paths if p)}
    start = time.perf_counter()
    try:
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            capture_output=True, text=True, timeout=limit, check=False, env=environment,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Finished(time.perf_counter() - start, -9, "", "")
    return Finished(time.perf_counter() - start, done.returncode, done.stdout, done.stderr)


def medians(ways: dict[str, Sequence[str | Path]], rounds: int) -> dict[str, tuple[float, Finished]]:
    """Median wall time [s] of several commands run in turns, once beforehand to fill caches; and the last run."""
    last = {name: run(way) for name, way in ways.items()}
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            last[name] = run(way)
            times[name].append(last[name].seconds)
    return {name: (statistics.median(seconds), last[name]) for name, seconds in times.items()}
