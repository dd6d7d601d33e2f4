"""What a judgement may use: the program's snapshots, time, and chance."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from retrograde.gradients.execution import Snapshots
from retrograde.gradients.other import Others

Float = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Means:
    """What a judgement may use.

    Attributes:
        snapshots: Waiting copies of the program.
        rng: Random directions.
        deadline: When to stop measuring, on `time.monotonic`.
        say: Told what is being done.
        objective: Name of the loss to judge by, None for all.
        trusted: Parameters whose ideal gradient agreed with measured slopes in an earlier iteration.
        others: Gradients of another implementation, to be told apart from those used.
    """

    snapshots: Snapshots
    rng: np.random.Generator
    deadline: float
    say: Callable[[str], None]
    objective: str | None = None
    trusted: frozenset[str] = frozenset()
    others: Others = field(default_factory=dict[tuple[str, int], Float])

    @property
    def remaining(self) -> float:
        """Time left [s]."""
        return self.deadline - time.monotonic()
