"""Times of several functions taken in turns, so that what else the machine does falls on all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping


def medians(
    functions: Mapping[str, Callable[[], object]],
    seconds: float = 4.0,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Median time of each function [s], called in rotation for about `seconds`, five times at least.

    Each is called once beforehand, to compile. With `time.thread_time` for a clock, time in which the
    machine did something else does not count; it misses the work of other threads too.
    """
    for function in functions.values():
        function()
    times: dict[str, list[float]] = {name: [] for name in functions}
    start = time.perf_counter()
    while time.perf_counter() - start < seconds or len(times[next(iter(times))]) < 5:
        for name, function in functions.items():
            before = clock()
            function()
            times[name].append(clock() - before)
    return {name: statistics.median(values) for name, values in times.items()}


def verdict(reached: bool) -> str:
    """How a claim came out."""
    return "reached" if reached else "MISSED"
