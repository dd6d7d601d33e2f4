"""How much time a part of an audit has, so that the whole ends when it was promised to."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


class OutOfTimeError(Exception):
    """A part of an audit has used up its time; what had been found before it began still holds."""


@dataclass(frozen=True)
class Clock:
    """The end of one part of an audit.

    Attributes:
        end: When it must be over, on `time.monotonic` [s].
    """

    end: float = math.inf

    @property
    def left(self) -> float:
        """Time left [s], not below zero."""
        return max(0.0, self.end - time.monotonic())

    def share(self, part: float) -> Clock:
        """A clock for what may use this part of the time left."""
        return self if math.isinf(self.end) else Clock(time.monotonic() + part * self.left)

    def check(self) -> None:
        """Go on only if there is time.

        Raises:
            OutOfTimeError: There is none left.
        """
        if time.monotonic() > self.end:
            raise OutOfTimeError

    def within(self, step: Callable[[], T], otherwise: T, what: str, cut: list[str]) -> T:
        """What a step returns; if time runs out in it, what holds without it, and a note of what was cut short.

        Args:
            step: What may raise `OutOfTimeError`.
            otherwise: Its result where time ran out.
            what: What it does, in words.
            cut: Takes the note.
        """
        try:
            return step()
        except OutOfTimeError:
            cut.append(what)
            return otherwise


UNTIMED = Clock()
"""For what may take as long as it needs."""
