"""What happens to the particles, as it is prescribed to an inversion and not touched by it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.inversion.loss_laws import CalibratedLoss
from retrograde.aerosol.physics import BrownianKernel
from retrograde.aerosol.processes import CoagulationFixedPivot, Process
from retrograde.aerosol.simulation import Simulation
from retrograde.aerosol.states import Environment

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Prescribed:
    """Air, particles and processes.

    Attributes:
        temperature: Temperature [K].
        pressure: Pressure [Pa].
        density: Particle density [kg m^-3].
        loss: Loss law; None for no losses.
        coagulates: Whether particles coagulate, by Fuchs' Brownian kernel.
        kernel_factor: Factor on the kernel besides the loss law's enhancement [1].
    """

    temperature: float
    pressure: float
    density: float
    loss: CalibratedLoss | None = None
    coagulates: bool = True
    kernel_factor: float = 1.0

    @property
    def air(self) -> Environment:
        """The air of one box."""
        return Environment.uniform(1, self.temperature, self.pressure)

    @property
    def factor(self) -> float:
        """Factor on Fuchs' kernel [1]."""
        return self.kernel_factor * (1.0 if self.loss is None else self.loss.enhancement)

    def processes(self, grid: SizeGrid) -> tuple[Process, ...]:
        """Processes on a size grid."""
        result: list[Process] = []
        if self.coagulates:
            table = self.factor * BrownianKernel(density=self.density).for_boxes(grid, self.air)
            result.append(CoagulationFixedPivot(table))
        if self.loss is not None:
            result += self.loss.processes(self.air, self.density)
        return tuple(result)

    def simulation(self, grid: SizeGrid, times: Floats, substeps: int | None = 1) -> Simulation:
        """Simulation through `times` [s]."""
        return Simulation(grid, self.processes(grid), times, substeps=substeps)

    def variations(self, kernel_error: float, share: float) -> list[tuple[str, Prescribed]]:
        """Named changes by a share of one standard deviation of what is prescribed.

        Args:
            kernel_error: Relative standard deviation of the kernel [1].
            share: Part of it that is taken, small enough for effects to be linear [1].
        """
        result: list[tuple[str, Prescribed]] = []
        if self.coagulates and kernel_error > 0.0:
            factor = self.kernel_factor * (1.0 + share * kernel_error)
            result.append(("coagulation kernel", replace(self, kernel_factor=factor)))
        if self.loss is not None:
            result += [("loss law", replace(self, loss=loss)) for loss in self.loss.variations(share)]
        return result

    def without_coagulation(self) -> Prescribed:
        """The same without coagulation."""
        return replace(self, coagulates=False)
