"""What is known of a launch whose adjoint is not its derivative, when its kernel is opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from retrograde.gradients.twins.parameters import extent_of
from retrograde.gradients.twins.rewrite import Rewrite, Twin
from retrograde.gradients.twins.source import KernelSource
from retrograde.trace.operations import LaunchCall


@dataclass(frozen=True, eq=False)
class Situation:
    """A launch under examination.

    Attributes:
        source: Its kernel's source.
        call: The launch.
        finite: Whether its adjoint is finite for finite cotangents.
        broken: Elements whose adjoint is not finite, by argument and index ("p[1]").
        forward: Runs a twin forward on the contents from before the launch, which stay as they are; returns the
            values of the twin's further arguments afterwards.
        backward: Runs a twin's adjoint too, for random cotangents.
    """

    source: KernelSource
    call: LaunchCall
    finite: bool
    broken: tuple[str, ...]
    forward: Callable[[Twin], Sequence[Any]]
    backward: Callable[[Twin], Sequence[Any]]

    def notes(self, twin: Twin) -> npt.NDArray[np.float64]:
        """Run a twin forward; what it noted."""
        return twin.parameters.notes(self.forward(twin))

    def backward_notes(self, twin: Twin) -> npt.NDArray[np.float64]:
        """Run a twin forward and backward; what it noted."""
        return twin.parameters.notes(self.backward(twin))

    @property
    def dimensions(self) -> int:
        """Number of dimensions of the launch."""
        return len(extent_of(self.call))

    @property
    def threads(self) -> int:
        """Number of threads of the launch."""
        return int(np.prod(extent_of(self.call)))


Find = Callable[[Situation], "list[Rewrite]"]
