"""A simulation of an aerosol resolved by size and composition, with its adjoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from retrograde.aerosol._device import WarpArray, device_of, shape_of, to_host, type_of, wp
from retrograde.aerosol.composition.exchange import GasExchange, PreparedExchange
from retrograde.aerosol.composition.grid import CompositionGrid
from retrograde.aerosol.composition.state import CompositionState
from retrograde.aerosol.composition.terms import composition_terms
from retrograde.aerosol.processes.integration import Integration
from retrograde.aerosol.processes.plain import PlainIntegration
from retrograde.aerosol.processes.stepper import Stepper
from retrograde.aerosol.processes.terms import Method, Process, Terms
from retrograde.aerosol.states import check_concentrations

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CompositionTrajectory:
    """Composition-resolved states at all times of a simulation.

    Attributes:
        grid: Sizes and compositions.
        times: Times of the states [s], shape [times].
        states: State at each time; a loss on one of them reaches the initial state.
        gas: Concentration of the vapours at each time [kg m^-3], shape [boxes, vapours]; none without an exchange.
        substeps: Steps taken between two times, the most where they were chosen.
        peak_rate: Largest rate at which a cell was emptied in each box [s^-1], shape [boxes].
        emptied: Boxes in which a particle lost all that it held of a vapour, shape [boxes].
        exhausted: Boxes in which particles took up all gas, shape [boxes].
    """

    grid: CompositionGrid
    times: Floats
    states: tuple[CompositionState, ...]
    gas: tuple[WarpArray, ...]
    substeps: int
    peak_rate: Floats
    emptied: NDArray[np.bool_]
    exhausted: NDArray[np.bool_]

    @property
    def final(self) -> CompositionState:
        """State at the last time."""
        return self.states[-1]

    @property
    def touched(self) -> NDArray[np.bool_]:
        """Boxes that touched one of the two boundaries at which a derivative is one-sided, shape [boxes]."""
        return self.emptied | self.exhausted

    def numpy(self) -> Floats:
        """Number concentrations on the grid [m^-3], on the host, shape [times, boxes, bins, fractions]."""
        return np.stack([state.numpy() for state in self.states])


@dataclass(frozen=True, eq=False)
class CompositionSimulation:
    """Processes that act together on a composition-resolved state, stepped through a time grid.

    Coagulation and losses take steps by Heun's method. Exchange with the gas takes half an interval before them and
    half after them (Strang's splitting), so times should lie close enough for it. Number, volume and every species are
    kept by coagulation to rounding, what grows past the grid's top included, and the mass of every species in particles
    and gas by the exchange.

    Inside a `wp.Tape` block a run is recorded if the state's number or the gas carries a gradient, which is exact for
    the steps taken: hand-written for coagulation and losses, Warp's own for the exchange.

    Attributes:
        grid: Sizes and compositions.
        processes: What changes the numbers: those of `retrograde.aerosol.processes`, at most one of them coagulation,
            by the fixed pivot technique.
        times: Increasing times at which states are kept [s], shape [times], two at least.
        exchange: Exchange with the gas, if there is any: `Condensation` or `Partitioning`.
        substeps: Steps between two times; None to choose the fewest that stay positive.
        store_every: States are stored for the gradient at every so many steps and restored between them; None for the
            square root of the number of steps, the least memory. 1 is fastest.

    Raises:
        ValueError: A field is not as described, or the processes do not fit the grid.

    Source: Strang (1968), SIAM Journal on Numerical Analysis 5, 506, doi:10.1137/0705041.
    """

    grid: CompositionGrid
    processes: tuple[Process, ...]
    times: Floats
    exchange: GasExchange | None = None
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

    def run(
        self, state: CompositionState, gas: WarpArray | ArrayLike | None = None, *, through_tape: bool = False
    ) -> CompositionTrajectory:
        """Step from `state` at the first time through all others.

        Args:
            state: State at the first time.
            gas: Concentration of the vapours at the first time [kg m^-3], shape [boxes, vapours] or [vapours]; a Warp
                array, whose gradient is then reached, or values.
            through_tape: Whether to leave the gradient of coagulation and losses to Warp's own adjoint of plain
                launches, which is slow, serves as a reference, and leaves the positivity limit unchecked.

        Raises:
            PositivityError: The given substeps pass the positivity limit.
            ValueError: The state is on another grid, or holds values that are negative or not finite; boxes differ in
                number; gas is missing, or given without an exchange.
        """
        if state.grid != self.grid:
            raise ValueError("state: its grid differs from the simulation's")
        state.check_values()
        if through_tape and self.substeps is None:
            raise ValueError("substeps: expected a number for a run through the tape")
        if self.exchange is None:
            if gas is not None:
                raise ValueError("gas [kg m^-3]: given, but the simulation has no exchange with it")
            flows = _Flows(self, state.boxes, through_tape)
            numbers = flows.advance(state.number, np.diff(self.times))
            return self._trajectory([state.number, *numbers[1:]], [], flows, None)
        return self._coupled(state, self._gas(gas, state, self.exchange), self.exchange, through_tape)

    def _coupled(
        self, state: CompositionState, gas: WarpArray, exchange: GasExchange, through_tape: bool
    ) -> CompositionTrajectory:
        flows = _Flows(self, state.boxes, through_tape)
        prepared = exchange.prepare(self.grid, state.boxes, state.device)
        numbers, gases = [state.number], [gas]
        for duration in np.diff(self.times):
            half = 0.5 * float(duration)
            number, gas = prepared.advance(numbers[-1], gases[-1], half)
            number = flows.advance(number, np.array([duration]))[-1]
            number, gas = prepared.advance(number, gas, half)
            numbers.append(number)
            gases.append(gas)
        return self._trajectory(numbers, gases, flows, prepared)

    def _gas(self, gas: WarpArray | ArrayLike | None, state: CompositionState, exchange: GasExchange) -> WarpArray:
        if gas is None:
            raise ValueError("gas [kg m^-3]: missing; the simulation has an exchange with it")
        if not isinstance(gas, wp.array):
            given: Any = gas
            return exchange.gas(given, state.boxes, device=state.device)
        array: Any = gas
        expected = [state.boxes, len(exchange.vapours)]
        if shape_of(array) != expected or type_of(array) is not wp.float64:
            raise ValueError(
                f"gas [kg m^-3]: expected float64 of shape {expected}, got {type_of(array)} of shape {shape_of(array)}"
            )
        check_concentrations("gas", to_host(array), "[kg m^-3]")
        return array

    def _trajectory(
        self, numbers: list[WarpArray], gases: list[WarpArray], flows: _Flows, prepared: PreparedExchange | None
    ) -> CompositionTrajectory:
        none = np.zeros(flows.boxes, dtype=bool)
        return CompositionTrajectory(
            grid=self.grid,
            times=self.times,
            states=tuple(CompositionState(number, self.grid) for number in numbers),
            gas=tuple(gases),
            substeps=flows.substeps,
            peak_rate=flows.peak_rate,
            emptied=none if prepared is None else to_host(prepared.emptied) != 0,
            exhausted=none if prepared is None else to_host(prepared.exhausted) != 0,
        )


class _Flows:
    """Coagulation and losses of a run, in one go or interval by interval.

    Attributes:
        boxes: Number of boxes.
        substeps: Most steps taken in an interval so far.
        peak_rate: Largest rate at which a cell was emptied so far [s^-1], shape [boxes].
    """

    def __init__(self, simulation: CompositionSimulation, boxes: int, through_tape: bool) -> None:
        self._simulation, self._through_tape = simulation, through_tape
        self._first: Integration | None = None
        self.boxes, self.substeps = boxes, 0
        self.peak_rate: Floats = np.zeros(boxes)

    def advance(self, number: WarpArray, intervals: Floats) -> list[WarpArray]:
        """Number at the start and after each interval [m^-3], shape [boxes, rows, fractions]."""
        simulation = self._simulation
        grid = simulation.grid
        untyped: Any = number
        flat = untyped.reshape((self.boxes, grid.cells))
        stepper = Stepper(
            simulation.terms, intervals, simulation.substeps, Method.HEUN, simulation.store_every, self._first
        )
        integration = self._plain(stepper, flat) if self._through_tape else self._hand_written(stepper, flat)
        self.substeps = max(self.substeps, integration.plan.substeps)
        numbers: Any = integration.number
        return [numbers[i].reshape((self.boxes, grid.rows, grid.fractions)) for i in range(len(intervals) + 1)]

    def _hand_written(self, stepper: Stepper, number: WarpArray) -> Integration:
        integration = stepper.run(number)
        integration.record(number)
        self._first = self._first or integration
        self.peak_rate = np.maximum(self.peak_rate, to_host(integration.peak_rate))
        return integration

    def _plain(self, stepper: Stepper, number: WarpArray) -> PlainIntegration:
        plan = stepper.plan(self._simulation.substeps or 1)
        integration = PlainIntegration(self._simulation.terms, plan, self.boxes, device=device_of(number))
        integration.run(number)
        return integration
