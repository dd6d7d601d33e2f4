"""The stochastic particle model: coagulation, dilution and loss as one exact jump process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from retrograde.aerosol._device import new_zeros, to_device, to_host, wp
from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.particles._boxes import EXCEEDED, FULL, Boxes, arrange
from retrograde.aerosol.particles._classes import SizeClasses, size_classes
from retrograde.aerosol.particles._memory import untaped_copy
from retrograde.aerosol.particles._philox import box_numbers, check_seed
from retrograde.aerosol.particles._process import run_process
from retrograde.aerosol.particles._rates import RateLaws, rates_of
from retrograde.aerosol.particles.condensation import Condensation
from retrograde.aerosol.particles.events import EventRecord, EventStore, Record
from retrograde.aerosol.particles.state import ParticleState
from retrograde.aerosol.physics import CoagulationKernel, LossLaw, TableKernel
from retrograde.aerosol.states import Environment

Floats = NDArray[np.float64]

_EVAPORATED = 1e-9
"""Particles that evaporate are expected down to this share of the smallest volume at the start."""

_RAISED = 1.1
"""A bound that a rate was found above becomes this much larger than that rate."""


@dataclass(frozen=True, eq=False)
class ParticleTrajectory:
    """Particle states at all times of a run.

    Attributes:
        times: Times of the states [s], shape [times].
        states: The states; slots keep their particles through a run.
        events: What happened, unless the run was to remember nothing.
        raised_bounds: How often a rate was found above its bound, and all boxes run again.
        classes: Size classes and bounds of the rates that were proposed at.
        gas: Concentrations of the vapours [kg m^-3], shape [times, boxes, species]; None without condensation.
        touched: Boxes in which evaporation ended at zero mass or uptake at the gas there was, where the run has
            one-sided derivatives only, shape [boxes].
    """

    times: Floats
    states: tuple[ParticleState, ...]
    events: EventRecord | None
    raised_bounds: int
    classes: SizeClasses = field(repr=False)
    gas: Floats | None = None
    touched: NDArray[np.bool_] | None = None

    @property
    def final(self) -> ParticleState:
        """State at the last time."""
        return self.states[-1]


@dataclass(frozen=True, eq=False)
class ParticleSimulation:
    """Coagulation, dilution and loss of single particles, exact in law at any time grid; and condensation.

    The Marcus-Lushnikov process: every pair of particles merges at its kernel over the box's volume,
    every particle is lost at its rate. Pairs are proposed at a bound of their rate by size class, and
    accepted with the probability that makes up for it; as many merge as happen.

    Attributes:
        times: Increasing times at which states are kept [s], shape [times], two at least.
        kernel: Coagulation kernel of `retrograde.aerosol.physics`; None for no coagulation.
        loss: Law of the loss to walls of `retrograde.aerosol.physics`; None for no loss. Particles
            outside a table of rates are lost as those at its end.
        dilution: Rate of dilution by clean air [s^-1], a number or shape [boxes].
        environment: Air of every box, or of all if it is one; for laws that depend on it.
        condensation: Exchange with the gas; half before and half after the events of every interval, an
            error of second order in the intervals. None for none.
        grid: Bins of a kernel given as a table; particles outside count to the first or last bin.
        margin: Proposals are this much more frequent than need be [1]; scores need 1.2 or more.

    Raises:
        ValueError: A field is not as described.

    Source: Marcus (1968), Technometrics 10, 133, doi:10.1080/00401706.1968.10490523; Gillespie (1975),
    Journal of the Atmospheric Sciences 32, 1977; bounds by size class after Curtis, Michelotti and West
    (2016), doi:10.1016/j.jcp.2016.06.029.
    """

    times: ArrayLike
    kernel: CoagulationKernel | None = None
    loss: LossLaw | None = None
    dilution: ArrayLike = 0.0
    environment: Environment | None = None
    condensation: Condensation | None = None
    grid: SizeGrid | None = None
    margin: float = 1.0

    def __post_init__(self) -> None:
        times = np.array(self.times, dtype=np.float64)
        if times.ndim != 1 or len(times) < 2 or not np.all(np.isfinite(times)) or np.any(np.diff(times) <= 0.0):
            raise ValueError("times [s]: expected at least two finite, increasing values, shape [times]")
        times.setflags(write=False)
        object.__setattr__(self, "times", times)
        dilution = np.array(self.dilution, dtype=np.float64)
        if dilution.ndim > 1 or not np.all(np.isfinite(dilution)) or np.any(dilution < 0.0):
            raise ValueError("dilution [s^-1]: expected a number or shape [boxes], finite and not negative")
        dilution.setflags(write=False)
        object.__setattr__(self, "dilution", dilution)
        if isinstance(self.kernel, TableKernel) and self.grid is None:
            raise ValueError("grid: a kernel given as a table needs the bins that it is for")
        for name, law in (("kernel", self.kernel), ("loss", self.loss)):
            if law is not None and law.depends_on_environment and self.environment is None:
                raise ValueError(f"environment: {name} depends on temperature [K] and pressure [Pa]; none were given")
        if not (np.isfinite(self.margin) and self.margin > 0):
            raise ValueError(f"margin [1]: expected a finite positive number, got {self.margin}")

    def run(
        self,
        state: ParticleState,
        *,
        seed: int,
        gas: ArrayLike | None = None,
        rate_factor: ArrayLike | None = None,
        record: Record = Record.EVENTS,
        first_box: int = 0,
    ) -> ParticleTrajectory:
        """One realisation in every box, from `state` at the first time through all others.

        What happens in a box depends on the seed, the box's number and the box's own particles alone.

        Args:
            state: Particles at the first time.
            seed: Seed of all boxes, from 0 to 2^64 - 1.
            gas: Concentrations of the vapours at the first time [kg m^-3], shape [boxes, species] or
                [species], for a simulation with condensation.
            rate_factor: What the condensation rates of every box are multiplied with [1], shape [boxes].
            record: What to remember of the events.
            first_box: Number of the first box; the others count on from it.

        Raises:
            ValueError: The fields are for another number of boxes, or the seed is out of range.
        """
        check_seed(seed)
        factor = self._checked_factor(state, rate_factor)
        return _Run(self, state, gas, factor, seed, record, first_box).through()

    def _checked_factor(self, state: ParticleState, factor: ArrayLike | None) -> Floats | None:
        if factor is None:
            return None
        values = np.asarray(factor, dtype=np.float64)
        if values.shape != (state.boxes,) or not (np.isfinite(values).all() and (values >= 0).all()):
            raise ValueError(f"rate_factor [1]: expected shape [{state.boxes}], finite and not negative, got {factor}")
        return values

    def checked_gas(self, state: ParticleState, gas: ArrayLike | None) -> Floats | None:
        """Gas as condensation takes it [kg m^-3], shape [boxes, species]; None without condensation.

        Raises:
            ValueError: Gas is missing or of no use, or does not fit the state.
        """
        if self.condensation is None:
            if gas is not None:
                raise ValueError("gas: the simulation has no condensation that it could take part in")
            return None
        if gas is None:
            raise ValueError("gas [kg m^-3]: condensation needs the concentrations of its vapours")
        if self.condensation.species != state.species:
            raise ValueError(f"condensation: is for {self.condensation.species} species, the state has {state.species}")
        return self.condensation.check_gas(gas, state.boxes)

    def laws(self, boxes: int) -> RateLaws:
        """The laws for so many boxes.

        Raises:
            ValueError: A field is for another number of boxes.
        """
        environment = self.environment or Environment.uniform(1)
        if environment.boxes not in (1, boxes):
            raise ValueError(f"environment: is for {environment.boxes} boxes, the state has {boxes}")
        dilution = np.asarray(self.dilution, dtype=np.float64)
        if dilution.shape not in ((), (boxes,)):
            raise ValueError(f"dilution [s^-1]: is for {dilution.shape[0]} boxes, the state has {boxes}")
        table = self.kernel if isinstance(self.kernel, TableKernel) else None
        if table is not None and table.depends_on_environment:
            if table.values.shape[0] != boxes:
                raise ValueError(f"kernel: is for {table.values.shape[0]} boxes, the state has {boxes}")
            index = np.arange(boxes, dtype=np.int32)
            air = environment if environment.boxes == boxes else _repeated(environment, boxes)
        else:
            air, index = environment.distinct()
            index = np.broadcast_to(index, boxes).astype(np.int32)
        return RateLaws(self.kernel, self.loss, np.broadcast_to(dilution, boxes), air, index, self.grid)


def _repeated(environment: Environment, boxes: int) -> Environment:
    return Environment(np.repeat(environment.temperature, boxes), np.repeat(environment.pressure, boxes))


class _Run:
    """The memory of one run."""

    def __init__(
        self,
        simulation: ParticleSimulation,
        state: ParticleState,
        gas: ArrayLike | None,
        factor: Floats | None,
        seed: int,
        record: Record,
        first_box: int,
    ) -> None:
        self.simulation, self.state, self.seed, self.record = simulation, state, seed, record
        self.gas = simulation.checked_gas(state, gas)
        self.factor = None if factor is None else to_device(factor, device=state.device)
        self.device = state.device
        self.laws = simulation.laws(state.boxes)
        self.rates = rates_of(self.laws, self.device)
        self.boxes = _boxes(state, box_numbers(first_box, state.boxes, self.device), self.device)

    def through(self) -> ParticleTrajectory:
        """Run with bounds that turn out to hold; where one does not, all boxes start again with a larger one."""
        classes = self._classes()
        raised = 0
        while True:
            try:
                return self._attempt(classes, raised)
            except _BoundExceededError as error:
                raised += 1
                self._raise(classes, error.boxes, error.exceeded)

    def _attempt(self, classes: SizeClasses, raised: int) -> ParticleTrajectory:
        # Without sources every event empties a slot; only rejected proposals can be more.
        store = EventStore(self.state.boxes, self.state.slots, self.record, self.device)
        bounds = classes.on_device(self.device)
        self.boxes.clock.zero_()
        self.boxes.draws.zero_()
        states, gases = [self.state], [self.gas]
        touched = np.zeros(self.state.boxes, dtype=bool)
        times = np.asarray(self.simulation.times, dtype=np.float64)
        condensation = self.simulation.condensation
        masses, gas = untaped_copy(self.state.masses), self._device_gas()
        self._arrange(bounds, masses)
        for duration, end in zip(np.diff(times), times[1:] - times[0], strict=True):
            if condensation is not None:
                masses, gas, touches = self._condense(condensation, masses, gas, duration / 2.0)
                touched |= touches
                self._arrange(bounds, masses)
            self._advance(bounds, store, float(end))
            store.close_interval()
            if condensation is not None:
                masses, gas, touches = self._condense(condensation, masses, gas, duration / 2.0)
                touched |= touches
                gases.append(to_host(gas))
            elif end != times[-1] - times[0]:
                states.append(self._state(untaped_copy(masses)))
                continue
            states.append(self._state(masses))
        return ParticleTrajectory(
            times=times,
            states=tuple(states),
            events=store.record(),
            raised_bounds=raised,
            classes=classes,
            gas=None if condensation is None else np.stack([g for g in gases if g is not None]),
            touched=touched,
        )

    def _state(self, masses: Any) -> ParticleState:
        return ParticleState(masses, self.state.density, self.state.volume)

    def _arrange(self, bounds: Any, masses: Any) -> None:
        """Sort the particles into classes, from now on in this memory."""
        self.boxes.masses = masses
        inputs = [self.boxes, bounds, self.rates]
        wp.launch(arrange, self.state.boxes, inputs, device=self.device, record_tape=False)

    def _device_gas(self) -> Any:
        return None if self.gas is None else to_device(self.gas, device=self.device)

    def _condense(self, condensation: Condensation, masses: Any, gas: Any, duration: float) -> Any:
        air = self.simulation.environment or Environment.uniform(1)
        volume, density = self.state.volume, self.state.density
        options: dict[str, Any] = {"volume": volume, "density": density, "environment": air}
        return condensation.advance(masses, gas, duration, rate_factor=self.factor, **options)

    def _classes(self) -> SizeClasses:
        """Classes from the smallest particle to all that a box holds."""
        sizes = self.state.particle_volumes()
        some = sizes[sizes > 0.0]
        smallest, largest = (float(some.min()), float(sizes.sum(axis=1).max())) if some.size else (1.0, 1.0)
        if self.gas is not None:
            # Particles may evaporate, and all gas condense.
            largest += float((self.gas @ (1.0 / self.state.density) * self.state.volume).max())
            smallest *= _EVAPORATED
        classes = size_classes(self.laws, smallest, largest, self.simulation.margin)
        count = len(classes.edges) - 1
        self.boxes.stops = wp.zeros((self.state.boxes, count + 1), dtype=wp.int32, device=self.device)
        self.boxes.rows = new_zeros((self.state.boxes, count), device=self.device)
        return classes

    def _advance(self, bounds: Any, store: EventStore, end: float) -> None:
        """Go on to `end`, with a larger store as often as one is full."""
        exceeded: Any = new_zeros((self.state.boxes, 3), device=self.device)
        self.boxes.status.fill_(int(FULL))
        while True:
            inputs = [
                self.boxes,
                bounds,
                self.rates,
                store.device_struct(),
                wp.uint64(self.seed),
                wp.float64(end),
                exceeded,
            ]
            wp.launch(run_process, self.state.boxes, inputs, device=self.device, record_tape=False)
            status = self.boxes.status.numpy()
            if (status == int(EXCEEDED)).any():
                raise _BoundExceededError(status == int(EXCEEDED), exceeded.numpy())
            if not (status == int(FULL)).any():
                return
            store.grow()

    def _raise(self, classes: SizeClasses, boxes: NDArray[np.bool_], exceeded: Floats) -> None:
        """Raise the bounds that rates were found above."""
        for box in np.flatnonzero(boxes):
            environment = int(self.laws.environment_of[box])
            a, b, rate = int(exceeded[box, 0]), int(exceeded[box, 1]), float(exceeded[box, 2]) * _RAISED
            if b < 0:
                classes.losses[environment, a] = max(classes.losses[environment, a], rate)
            else:
                rate = max(classes.pairs[environment, a, b], rate)
                classes.pairs[environment, a, b] = classes.pairs[environment, b, a] = rate


class _BoundExceededError(Exception):
    """A rate above its bound was met."""

    def __init__(self, boxes: NDArray[np.bool_], exceeded: Floats) -> None:
        self.boxes, self.exceeded = boxes, exceeded.copy()
        super().__init__("a rate is above its bound")


def _boxes(state: ParticleState, numbers: Any, device: Any) -> Any:
    boxes: Any = Boxes()
    count = state.boxes
    boxes.sizes = new_zeros((count, state.slots), device=device)
    boxes.inverse_density = to_device(1.0 / state.density, device=device)
    boxes.volume = to_device(state.volume, device=device)
    boxes.order = wp.zeros((count, state.slots), dtype=wp.int32, device=device)
    boxes.clock = new_zeros(count, device=device)
    boxes.draws = wp.zeros(count, dtype=wp.int64, device=device)
    for name in ("merged", "tops", "status"):
        setattr(boxes, name, wp.zeros(count, dtype=wp.int32, device=device))
    boxes.numbers = numbers
    return boxes
