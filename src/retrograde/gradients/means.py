"""What a judgement may use: the program's snapshots, time, and chance."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from retrograde.gradients.clock import UNTIMED, Clock
from retrograde.gradients.execution import Snapshots
from retrograde.gradients.other import Others

Float = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Means:
    """What a judgement may use.

    Attributes:
        snapshots: Waiting copies of the program.
        rng: Random directions.
        deadline: When to begin no further measurement, on `time.monotonic`.
        say: Told what is being done.
        objective: Name of the loss to judge by, None for all.
        trusted: Parameters whose ideal gradient agreed with measured slopes in an earlier iteration.
        others: Gradients of another implementation, to be told apart from those used.
        clock: When all must be over: what is not done by then is cut short.
        longest: Time that one run of the program may take at least [s].
    """

    snapshots: Snapshots
    rng: np.random.Generator
    deadline: float
    say: Callable[[str], None]
    objective: str | None = None
    trusted: frozenset[str] = frozenset()
    others: Others = field(default_factory=dict[tuple[str, int], Float])
    clock: Clock = UNTIMED
    longest: float = 5.0

    @property
    def remaining(self) -> float:
        """Time left until no further measurement is begun [s]."""
        return self.deadline - time.monotonic()

    @property
    def limit(self) -> float:
        """Time that one run of the program may take [s]."""
        return max(self.longest, 2.0 * self.remaining)
