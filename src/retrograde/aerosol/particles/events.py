"""Records of a run's events: who merged with whom, who was lost, and when."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol._device import WarpArray, new_zeros, shape_of, to_host, wp
from retrograde.aerosol.particles._process import ACCEPTED_ONLY, ALL_PROPOSALS, NO_RECORD, Store

Floats = NDArray[np.float64]


class Record(Enum):
    """What a run remembers of its events."""

    NOTHING = int(NO_RECORD)
    """Nothing: the least memory; such a run has no gradient."""
    EVENTS = int(ACCEPTED_ONLY)
    """Mergers and losses: enough to replay the run and for pathwise gradients."""
    PROPOSALS = int(ALL_PROPOSALS)
    """Rejected proposals too, which the score of the events needs."""


@dataclass(frozen=True, eq=False)
class EventRecord:
    """Events of a run in the order in which they happened, 16 bytes each.

    Attributes:
        slots: A merger is (kept slot, emptied slot), a loss is (-1, emptied slot), a rejected proposal
            of either has ~slot for the second, shape [boxes, capacity, 2], int32.
        times: Times since the start of the run [s], shape [boxes, capacity].
        ends: Events that a box has seen at the end of every interval, shape [intervals, boxes], int32.
        kind: What was remembered.
    """

    slots: WarpArray
    times: WarpArray
    ends: NDArray[np.int32]
    kind: Record

    @property
    def boxes(self) -> int:
        """Number of boxes."""
        return shape_of(self.slots)[0]

    @property
    def counts(self) -> NDArray[np.int32]:
        """Events of every box, rejected proposals included, shape [boxes]."""
        return self.ends[-1]

    def highest_slot(self) -> int:
        """Highest slot that is named, -1 without events."""
        untyped: Any = self.slots
        slots = untyped.numpy()
        used = [row[:count].reshape(-1) for row, count in zip(slots, self.counts, strict=True)]
        named = np.concatenate(used) if used else slots.reshape(-1)
        return int(np.maximum(named, ~named).max(initial=-1))

    def mergers(self, box: int) -> tuple[NDArray[np.int32], Floats]:
        """Mergers of one box: kept and emptied slots, shape [mergers, 2], and times [s], shape [mergers]."""
        slots, times = self._of(box)
        chosen = (slots[:, 0] >= 0) & (slots[:, 1] >= 0)
        return slots[chosen], times[chosen]

    def losses(self, box: int) -> tuple[NDArray[np.int32], Floats]:
        """Losses of one box: emptied slots, shape [losses], and times [s], shape [losses]."""
        slots, times = self._of(box)
        chosen = (slots[:, 0] < 0) & (slots[:, 1] >= 0)
        return slots[chosen, 1], times[chosen]

    def _of(self, box: int) -> tuple[NDArray[np.int32], Floats]:
        untyped: Any = self.slots
        count = int(self.counts[box])
        return untyped.numpy()[box, :count].copy(), to_host(self.times)[box, :count]


class EventStore:
    """Memory that a run writes its events to; it grows as needed and drops nothing."""

    def __init__(self, boxes: int, capacity: int, kind: Record, device: Any) -> None:
        self.kind = kind
        self._boxes, self._device = boxes, device
        self._capacity = max(1, capacity) if kind is not Record.NOTHING else 0
        self.slots: Any = wp.zeros((boxes, self._capacity, 2), dtype=wp.int32, device=device)
        self.times: Any = new_zeros((boxes, self._capacity), device=device)
        self.count: Any = wp.zeros(boxes, dtype=wp.int32, device=device)
        self._ends: list[NDArray[np.int32]] = []

    def grow(self) -> None:
        """Twice the capacity, what is stored kept."""
        held = self._capacity
        slots, times = self.slots, self.times
        self._capacity = 2 * held
        self.slots = wp.zeros((self._boxes, self._capacity, 2), dtype=wp.int32, device=self._device)
        self.times = new_zeros((self._boxes, self._capacity), device=self._device)
        wp.copy(self.slots[:, :held], slots)
        wp.copy(self.times[:, :held], times)

    def device_struct(self) -> Any:
        """The store as kernels take it."""
        store: Any = Store()
        store.mode, store.slots, store.times, store.count = self.kind.value, self.slots, self.times, self.count
        return store

    def close_interval(self) -> None:
        """Note how many events there were up to now."""
        self._ends.append(np.array(self.count.numpy(), dtype=np.int32))

    def record(self) -> EventRecord | None:
        """What was stored; None if nothing was to be."""
        if self.kind is Record.NOTHING:
            return None
        return EventRecord(self.slots, self.times, np.stack(self._ends), self.kind)
