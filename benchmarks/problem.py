"""The problem that all benchmarks of speed solve: forty bins, a hundred steps of Heun's method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp
from numpy.typing import NDArray

from retrograde.aerosol import Environment, SectionalState, SizeGrid
from retrograde.aerosol.physics import BrownianKernel
from retrograde.aerosol.processes import CoagulationCellAverage, CoagulationFixedPivot, Integration
from retrograde.aerosol.simulation import Simulation

Floats = NDArray[np.float64]
BINS, STEPS, STEP = 40, 100, 20.0
GRID = SizeGrid.from_diameters(np.geomspace(10e-9, 1e-6, BINS))
AIR = Environment.uniform(1)
KERNEL = np.asarray(BrownianKernel().matrix_numpy(GRID, AIR))[0]


def numbers(boxes: int) -> Floats:
    """Log-normal aerosols of some 1e11 particles m^-3 in different boxes, shape [boxes, bins]."""
    rng = np.random.default_rng(0)
    mode = np.log(rng.uniform(30e-9, 120e-9, (boxes, 1)))
    shape = np.exp(-0.5 * ((GRID.ln_diameters - mode) / np.log(1.7)) ** 2)
    return rng.uniform(0.5e11, 2e11, (boxes, 1)) * shape / shape.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class Ours:
    """A prepared simulation and its calls."""

    integration: Integration
    number: Any
    gradient_array: Any

    def forward(self) -> None:
        """All steps."""
        self.integration.forward(self.number)

    def backward(self) -> None:
        """Gradient of the sum of squares of the final numbers, after `forward`."""
        cotangent: Any = self.integration.number.grad
        wp.launch(
            double_last,
            dim=cotangent.shape[1:],
            inputs=[self.integration.number, cotangent.shape[0] - 1],
            outputs=[cotangent],
            device="cpu",
        )
        self.gradient_array.zero_()
        self.integration.backward(self.gradient_array)

    def gradient(self) -> None:
        """Forward and backward."""
        self.forward()
        self.backward()


@wp.kernel(enable_backward=False)
def double_last(number: wp.array3d(dtype=wp.float64), last: int, cotangent: wp.array3d(dtype=wp.float64)):
    """Cotangent of the sum of squares of the last numbers."""
    b, i = wp.tid()
    cotangent[last, b, i] = wp.float64(2.0) * number[last, b, i]


def ours(
    boxes: int,
    steps: int = STEPS,
    scheme: type[CoagulationFixedPivot] | type[CoagulationCellAverage] = CoagulationFixedPivot,
    store_every: int | None = 1,
) -> Ours:
    """This project's simulation of so many boxes on the CPU."""
    times = np.array([0.0, STEP * steps])
    simulation = Simulation(GRID, (scheme(KERNEL),), times, substeps=steps, store_every=store_every)
    state = SectionalState.from_numpy(numbers(boxes), GRID, device="cpu")
    return Ours(
        simulation.prepare(boxes, device="cpu"), state.number, wp.zeros((boxes, BINS), dtype=wp.float64, device="cpu")
    )
