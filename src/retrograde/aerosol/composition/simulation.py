"""A simulation of an aerosol resolved by size and composition, with its adjoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol._device import WarpArray, shape_of, to_host
from retrograde.aerosol.composition.grid import CompositionGrid
from retrograde.aerosol.composition.state import CompositionState
from retrograde.aerosol.composition.terms import composition_terms
from retrograde.aerosol.processes.integration import Integration
from retrograde.aerosol.processes.plain import PlainIntegration
from retrograde.aerosol.processes.stepper import Stepper
from retrograde.aerosol.processes.terms import Method, Process, Terms

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CompositionTrajectory:
    """Composition-resolved states at all times of a simulation.

    Attributes:
        grid: Sizes and compositions.
        times: Times of the states [s], shape [times].
        states: State at each time; a loss on one of them reaches the initial state.
        substeps: Steps taken between two times.
        peak_rate: Largest rate at which a cell was emptied in each box [s^-1], shape [boxes].
    """

    grid: CompositionGrid
    times: Floats
    states: tuple[CompositionState, ...]
    substeps: int
    peak_rate: Floats

    @property
    def final(self) -> CompositionState:
        """State at the last time."""
        return self.states[-1]

    def numpy(self) -> Floats:
        """Number concentrations on the grid [m^-3], on the host, shape [times, boxes, bins, fractions]."""
        return np.stack([state.numpy() for state in self.states])


@dataclass(frozen=True, eq=False)
class CompositionSimulation:
    """Processes that act together on a composition-resolved state, stepped through a time grid by Heun's method.

    Number, volume and every species are kept by coagulation to rounding, what grows past the grid's top included. The
    gradient is hand-written and exact for the steps taken: inside a `wp.Tape` block a run is recorded if the state's
    number carries a gradient.

    Attributes:
        grid: Sizes and compositions.
        processes: What changes the numbers: those of `retrograde.aerosol.processes`, at most one of them coagulation,
            by the fixed pivot technique.
        times: Increasing times at which states are kept [s], shape [times], two at least.
        substeps: Steps between two times; None to choose the fewest that stay positive.
        store_every: States are stored for the gradient at every so many steps and restored between them; None for the
            square root of the number of steps, the least memory. 1 is fastest.

    Raises:
        ValueError: A field is not as described, or the processes do not fit the grid.
    """

    grid: CompositionGrid
    processes: tuple[Process, ...]
    times: Floats
    substeps: int | None = 1
    store_every: int | None = 1

    def __post_init__(self) -> None:
        times = np.array(self.times, dtype=np.float64)
        if times.ndim != 1 or len(times) < 2 or not np.all(np.isfinite(times)) or np.any(np.diff(times) <= 0.0):
            raise ValueError("times [s]: expected at least two finite, increasing values, shape [times]")
        times.setflags(write=False)
        for name, value in (("substeps", self.substeps), ("store_every", self.store_every)):
            if value is not None and value < 1:
                raise ValueError(f"{name}: expected a positive number or None, got {value}")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "processes", tuple(self.processes))
        object.__setattr__(self, "_terms", composition_terms(self.processes, self.grid))

    @property
    def terms(self) -> Terms:
        """Sum of what the processes add to the tendency, by cell."""
        terms: Terms = self.__dict__["_terms"]
        return terms

    def run(self, state: CompositionState, *, through_tape: bool = False) -> CompositionTrajectory:
        """Step from `state` at the first time through all others.

        Args:
            state: State at the first time.
            through_tape: Whether to leave the gradient to Warp's own adjoint of plain launches, which is slow, serves
                as a reference, and leaves the positivity limit unchecked.

        Raises:
            PositivityError: The given substeps pass the positivity limit.
            ValueError: The state is on another grid, holds values that are negative or not finite, or is for another
                number of boxes.
        """
        if state.grid != self.grid:
            raise ValueError("state: its grid differs from the simulation's")
        state.check_values()
        number = _flat(state.number, self.grid)
        stepper = Stepper(self.terms, np.diff(self.times), self.substeps, Method.HEUN, self.store_every)
        if through_tape:
            if self.substeps is None:
                raise ValueError("substeps: expected a number for a run through the tape")
            plain = PlainIntegration(self.terms, stepper.plan(self.substeps), state.boxes, device=state.device)
            plain.run(number)
            return self._trajectory(plain, np.full(state.boxes, np.nan))
        integration = stepper.run(number)
        integration.record(number)
        return self._trajectory(integration, to_host(integration.peak_rate))

    def _trajectory(self, integration: Integration | PlainIntegration, peak_rate: Floats) -> CompositionTrajectory:
        number: Any = integration.number
        states = tuple(CompositionState(_resolved(number[i], self.grid), self.grid) for i in range(len(self.times)))
        return CompositionTrajectory(self.grid, self.times, states, integration.plan.substeps, peak_rate)


def _flat(number: WarpArray, grid: CompositionGrid) -> WarpArray:
    """The same memory and gradient, shape [boxes, cells]."""
    untyped: Any = number
    return untyped.reshape((shape_of(number)[0], grid.cells))


def _resolved(number: WarpArray, grid: CompositionGrid) -> WarpArray:
    """The same memory and gradient, shape [boxes, rows, fractions]."""
    untyped: Any = number
    return untyped.reshape((shape_of(number)[0], grid.rows, grid.fractions))
