"""Times of several functions taken in turns, so that what else the machine does falls on all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Timings:
    """Times of functions called in rotation [s], by name; the n-th times of all belong together."""

    times: Mapping[str, Sequence[float]]

    def median(self, name: str) -> float:
        """Median time of a function [s]."""
        return statistics.median(self.times[name])

    def best(self, name: str) -> float:
        """Least time of a function [s]: the one that other work on the machine disturbed least."""
        return min(self.times[name])

    def ratio(self, slower: str, faster: str) -> float:
        """Median over the rounds of one function's time over another's in the same round."""
        return statistics.median(a / b for a, b in zip(self.times[slower], self.times[faster], strict=True))


def take_turns(
    functions: Mapping[str, Callable[[], object]],
    seconds: float = 4.0,
    clock: Callable[[], float] = time.perf_counter,
) -> Timings:
    """Call the functions in rotation for about `seconds`, nine rounds at least.

    Each is called once beforehand, to compile. With `time.thread_time` for a clock, time in which the
    machine did something else does not count; it misses the work of other threads too.
    """
    for function in functions.values():
        function()
    times: dict[str, list[float]] = {name: [] for name in functions}
    start = time.perf_counter()
    while time.perf_counter() - start < seconds or len(times[next(iter(times))]) < 9:
        for name, function in functions.items():
            before = clock()
            function()
            times[name].append(clock() - before)
    return Timings(times)


def verdict(reached: bool) -> str:
    """How a claim came out."""
    return "reached" if reached else "MISSED"
