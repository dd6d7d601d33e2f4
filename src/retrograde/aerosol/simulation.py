"""A simulation: processes on a size grid, stepped through a time grid, with its adjoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from retrograde.aerosol._device import WarpArray, new_zeros, shape_of, to_host, wp
from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.processes.integration import Integration
from retrograde.aerosol.processes.plain import PlainIntegration
from retrograde.aerosol.processes.stepper import PositivityError, Stepper, emptying_rates
from retrograde.aerosol.processes.terms import Method, Process, Terms, total
from retrograde.aerosol.states import SectionalState

__all__ = ["PositivityError", "Simulation", "Trajectory"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Sectional states at all times of a simulation.

    Attributes:
        grid: Size bins.
        times: Times of the states [s], shape [times].
        number: Number concentrations [m^-3], shape [times, boxes, bins].
        escaped_volume: Particle volume per volume of air that has grown past the grid's top by
            each time [m^3 m^-3], shape [times, boxes].
        substeps: Steps taken between two times.
        peak_rate: Largest rate at which a bin was emptied in each box [s^-1], shape [boxes].
    """

    grid: SizeGrid
    times: Floats
    number: WarpArray
    escaped_volume: WarpArray
    substeps: int
    peak_rate: Floats
    _integration: Integration | PlainIntegration = field(repr=False)

    def state(self, index: int) -> SectionalState:
        """State at one of the times, as a view: a loss on it reaches the initial state."""
        number: Any = self.number
        return SectionalState(number[range(len(self.times))[index]], self.grid)

    @property
    def final(self) -> SectionalState:
        """State at the last time."""
        return self.state(-1)

    def numpy(self) -> Floats:
        """Number concentrations on the host [m^-3], shape [times, boxes, bins]."""
        return to_host(self.number)


@dataclass(frozen=True, eq=False)
class Simulation:
    """Processes that act together on a sectional state, stepped through a time grid.

    The tendencies of all processes are added and integrated by one method with the same static
    number of steps between any two times. A run's gradient is hand-written and exact for the steps
    taken; on a Warp tape it takes part like any launch.

    Attributes:
        grid: Size bins.
        processes: What changes the numbers; at most one of them coagulation.
        times: Increasing times at which states are kept [s], shape [times], two at least.
        substeps: Steps between two times; None to choose the fewest that stay positive.
        method: `Method.HEUN`, explicit, of second order, positive up to a limit; or
            `Method.SEMI_IMPLICIT`, of first order, positive for any step.
        store_every: States are stored for the gradient at every so many steps and restored between
            them; None for the square root of the number of steps, the least memory. 1 is fastest.

    Raises:
        ValueError: A field is not as described, or the processes do not fit the grid.
    """

    grid: SizeGrid
    processes: tuple[Process, ...]
    times: Floats
    substeps: int | None = 1
    method: Method = Method.HEUN
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
        object.__setattr__(self, "method", Method(self.method))
        object.__setattr__(self, "_terms", total(self.processes, self.grid))

    @property
    def terms(self) -> Terms:
        """Sum of what the processes add to the tendency."""
        terms: Terms = self.__dict__["_terms"]
        return terms

    def run(self, state: SectionalState, *, through_tape: bool = False) -> Trajectory:
        """Step from `state` at the first time through all others.

        Inside a `wp.Tape` block, the run is recorded if `state.number` carries a gradient.

        Args:
            state: State at the first time.
            through_tape: Whether to leave the gradient to Warp's own adjoint of plain launches,
                which is slow and serves as a reference. The positivity limit is then looked at
                where states are kept, not at every step.

        Raises:
            PositivityError: The given substeps pass the positivity limit of Heun's method.
            ValueError: The state is on another grid, or for another number of boxes.
        """
        self._check(state)
        if through_tape:
            return self._run_through_tape(state)
        integration = self._stepper.run(state.number)
        integration.record(state.number)
        return self._trajectory(integration, to_host(integration.peak_rate))

    def _run_through_tape(self, state: SectionalState) -> Trajectory:
        """Run by plain launches; the positivity limit is looked at where states are kept."""
        if self.substeps is None:
            raise ValueError("substeps: expected a number for a run through the tape")
        plan = self._stepper.plan(self.substeps)
        integration = PlainIntegration(self.terms, plan, state.boxes, dtype=state.dtype, device=state.device)
        integration.run(state.number)
        kept = to_host(integration.number)
        peak_rate = np.max([emptying_rates(self.terms, number).max(axis=1) for number in kept], axis=0)
        step, peak = float(plan.intervals.max()) / plan.substeps, float(peak_rate.max())
        if not step * peak <= 1.0:
            raise PositivityError(step, 1.0 / peak, int(np.ceil(peak * float(plan.intervals.max()))))
        return self._trajectory(integration, peak_rate)

    def _trajectory(self, integration: Integration | PlainIntegration, peak_rate: Floats) -> Trajectory:
        return Trajectory(
            grid=self.grid,
            times=self.times,
            number=integration.number,
            escaped_volume=integration.escaped_volume,
            substeps=integration.plan.substeps,
            peak_rate=peak_rate,
            _integration=integration,
        )

    def pullback(self, trajectory: Trajectory, cotangents: WarpArray | Mapping[int, ArrayLike]) -> WarpArray:
        """Cotangent of the initial numbers from cotangents of the states at any of the times.

        Args:
            trajectory: A run of this simulation, not through the tape.
            cotangents: Derivatives of a loss with respect to the numbers: an array of shape
                [times, boxes, bins], or arrays of shape [boxes, bins] by index of the time.

        Returns:
            Derivatives of the loss with respect to the initial numbers, shape [boxes, bins].
        """
        integration = trajectory._integration  # pyright: ignore[reportPrivateUsage]
        if not isinstance(integration, Integration):
            raise ValueError("trajectory: a run through the tape has its gradient from the tape alone")
        number: Any = trajectory.number
        values = _by_time(cotangents, tuple(shape_of(trajectory.number)))
        escaped: Any = trajectory.escaped_volume
        number.grad.assign(values)
        escaped.grad.zero_()
        gradient = new_zeros(number.shape[1:], dtype=number.dtype, device=number.device)
        integration.backward(gradient)
        number.grad.zero_()
        return gradient

    def prepare(self, boxes: int, *, dtype: Any = wp.float64, device: Any = None) -> Integration:
        """All memory for runs of `boxes` boxes, whose launches can be captured in a graph.

        Raises:
            ValueError: `substeps` is None, or the processes are for another number of boxes.
        """
        if self.substeps is None:
            raise ValueError("substeps: expected a number; a prepared integration has a fixed sequence of launches")
        return Integration(self.terms, self._stepper.plan(self.substeps), boxes, dtype=dtype, device=device)

    def peak_rate(self, state: SectionalState) -> Floats:
        """Largest rate at which a bin of `state` is emptied [s^-1], shape [boxes]."""
        self._check(state)
        return emptying_rates(self.terms, state.numpy()).max(axis=1)

    @property
    def _stepper(self) -> Stepper:
        return Stepper(self.terms, np.diff(self.times), self.substeps, self.method, self.store_every)

    def _check(self, state: SectionalState) -> None:
        if state.grid != self.grid:
            raise ValueError("state: its grid differs from the simulation's")
        state.check_values()


def _by_time(cotangents: WarpArray | Mapping[int, ArrayLike], shape: tuple[int, ...]) -> Any:
    """Cotangents as one array of shape [times, boxes, bins]."""
    if not isinstance(cotangents, Mapping):
        if tuple(shape_of(cotangents)) != shape:
            raise ValueError(f"cotangents: expected shape {list(shape)}, got {shape_of(cotangents)}")
        return cotangents
    values = np.zeros(shape)
    for index, cotangent in cotangents.items():
        values[index] += np.asarray(cotangent, dtype=np.float64)
    return values
