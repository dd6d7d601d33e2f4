"""Schedules that compute every state once more at most."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from retrograde.checkpoint.actions import Action, Advance, Place, Record, Restore, Reverse


@dataclass(frozen=True)
class Everything:
    """Records all steps at once: no recomputation, and memory that grows with the steps."""

    def actions(self, steps: int) -> Iterator[Action]:
        """As in `Schedule`."""
        yield Record(0, steps)
        yield Reverse(0, steps)


@dataclass(frozen=True)
class Uniform:
    """Keeps a state at every so many steps.

    Attributes:
        every: Steps between two kept states; the square root of the number of steps if None, which takes the least
            memory: about 2 sqrt(n) states.

    Raises:
        ValueError: `every` is not positive.
    """

    every: int | None = None

    def __post_init__(self) -> None:
        if self.every is not None and self.every < 1:
            raise ValueError(f"every: expected a positive number of steps, or None, got {self.every}")

    def actions(self, steps: int) -> Iterator[Action]:
        """As in `Schedule`."""
        every = self.every or max(1, math.isqrt(steps - 1) + 1 if steps > 1 else 1)
        return in_segments([*range(0, steps, every), steps])


@dataclass(frozen=True)
class Tapered:
    """Keeps states at growing distances from the end: about sqrt(2 n) states, each step computed twice at most.

    What is kept for the end of the horizon is free again by the time that the beginning is reversed, and the room is
    used for longer ranges there: the first of m ranges may have m steps, the last one, at whose time all m states are
    kept, a single one.
    """

    def actions(self, steps: int) -> Iterator[Action]:
        """As in `Schedule`."""
        room = math.isqrt(2 * steps)
        while room * (room + 1) // 2 < steps:
            room += 1
        starts = [0]
        while starts[-1] < steps:
            starts.append(min(steps, starts[-1] + max(1, room - len(starts) + 1)))
        return in_segments(starts)


def in_segments(starts: Sequence[int]) -> Iterator[Action]:
    """Ranges of steps between given ones: all their first states are kept, then one range after the other reversed."""
    ranges = list(pairwise(starts))
    for start, stop in ranges[:-1]:
        yield Advance(start, stop, keep=Place.MEMORY)
    yield Record(*ranges[-1])
    yield Reverse(*ranges[-1])
    for start, stop in reversed(ranges[:-1]):
        yield Restore(start, drop=True)
        yield Record(start, stop)
        yield Reverse(start, stop)
