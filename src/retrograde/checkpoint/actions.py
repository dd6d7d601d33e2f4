"""What a schedule says is to be done, in order: the protocol between schedules and what carries them out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Protocol


class Place(Enum):
    """Where a state is kept."""

    MEMORY = "memory"
    DISK = "disk"


@dataclass(frozen=True)
class Advance:
    """Run steps without recording them.

    Attributes:
        start, stop: From the state before step `start` to the state before step `stop`.
        keep: Where the state at `start` is kept first, None for nowhere.
    """

    start: int
    stop: int
    keep: Place | None = None


@dataclass(frozen=True)
class Record:
    """Run steps and record them, so that they can be reversed.

    Attributes:
        start, stop: As in `Advance`.
        keep: As in `Advance`.
    """

    start: int
    stop: int
    keep: Place | None = None


@dataclass(frozen=True)
class Reverse:
    """Carry the adjoint through recorded steps, from the state before `stop` to the state before `start`."""

    start: int
    stop: int


@dataclass(frozen=True)
class Restore:
    """Go on from a state that was kept.

    Attributes:
        step: The step before which it was the state.
        drop: Whether it is not needed any more.
    """

    step: int
    drop: bool


Action = Advance | Record | Reverse | Restore


class Schedule(Protocol):
    """Which states are kept, and which are computed again."""

    def actions(self, steps: int) -> Iterator[Action]:
        """Actions for a horizon, from the first state to the last and back.

        The state before step 0 is at hand at the beginning, and nothing is kept. The steps must be recorded and
        reversed one range after the other, the last one first, each range once.
        """
        ...
