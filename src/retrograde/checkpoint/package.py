"""Schedules of the package `checkpoint-schedules`: revolve, memory and disk, and others."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from retrograde.checkpoint.actions import Action, Advance, Place, Record, Restore, Reverse


@dataclass(frozen=True)
class Packaged:
    """A schedule of `checkpoint-schedules` (`pip install retrograde[checkpoint]`).

    Attributes:
        make: Makes the package's schedule for a number of steps: `lambda n: Revolve(n, 20)`.
    """

    make: Callable[[int], Any]

    def actions(self, steps: int) -> Iterator[Action]:
        """As in `Schedule`.

        Raises:
            ImportError: The package is not installed.
            ValueError: The schedule keeps records of steps beside the states they start from, as mixed ones do.
        """
        try:
            package: Any = importlib.import_module("checkpoint_schedules")
        except ImportError as error:
            raise ImportError(
                "this schedule needs checkpoint-schedules: pip install 'retrograde[checkpoint]'"
            ) from error
        schedule = self.make(steps)
        for action in schedule:
            kind = type(action).__name__
            if kind == "EndReverse":
                return
            if kind != "EndForward":
                yield _translated(action, kind, package.StorageType)


def _translated(action: Any, kind: str, storage: Any) -> Action:
    places = {storage.RAM: Place.MEMORY, storage.DISK: Place.DISK}
    if kind == "Forward":
        keep = places[action.storage] if action.write_ics else None
        if not action.write_adj_deps:
            return Advance(action.n0, action.n1, keep)
        if action.storage is not storage.WORK:
            raise ValueError("schedules that keep the records of steps are not supported; use one that keeps states")
        return Record(action.n0, action.n1, keep)
    if kind == "Reverse":
        return Reverse(action.n0, action.n1)
    if kind in ("Copy", "Move") and action.to_storage is storage.WORK:
        return Restore(action.n, drop=kind == "Move")
    raise ValueError(f"the action {action!r} is not supported")
