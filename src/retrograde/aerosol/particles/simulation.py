"""The stochastic particle model: coagulation, dilution and loss as one exact jump process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from retrograde.aerosol._device import WarpArray, new_zeros, to_device, wp
from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.particles._classes import SizeClasses, size_classes
from retrograde.aerosol.particles._process import EXCEEDED, FULL, Bounds, Boxes, arrange, run_process
from retrograde.aerosol.particles._rates import RateLaws, rates_of
from retrograde.aerosol.particles.events import EventRecord, EventStore, Record
from retrograde.aerosol.particles.state import ParticleState
from retrograde.aerosol.physics import CoagulationKernel, LossLaw, TableKernel
from retrograde.aerosol.states import Environment

Floats = NDArray[np.float64]

_RAISED = 1.1
"""A bound that a rate was found above becomes this much larger than that rate."""


@dataclass(frozen=True, eq=False)
class ParticleTrajectory:
    """Particle states at all times of a run.

    Attributes:
        times: Times of the states [s], shape [times].
        states: The states; slots keep their particles through a run.
        events: What happened, unless the run was to remember nothing.
        raised_bounds: How often a rate was found above its bound, and the interval run again.
    """

    times: Floats
    states: tuple[ParticleState, ...]
    events: EventRecord | None
    raised_bounds: int

    @property
    def final(self) -> ParticleState:
        """State at the last time."""
        return self.states[-1]


@dataclass(frozen=True, eq=False)
class ParticleSimulation:
    """Coagulation, dilution and loss of single particles, exact in law at any time grid.

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
        self, state: ParticleState, *, seed: int, record: Record = Record.EVENTS, first_box: int = 0
    ) -> ParticleTrajectory:
        """One realisation in every box, from `state` at the first time through all others.

        What happens in a box depends on the seed, the box's number and the box's own particles alone.

        Args:
            state: Particles at the first time.
            seed: Seed of all boxes, from 0 to 2^64 - 1.
            record: What to remember of the events.
            first_box: Number of the first box; the others count on from it.

        Raises:
            ValueError: The fields are for another number of boxes, or the seed is out of range.
        """
        if not 0 <= seed < 2**64:
            raise ValueError(f"seed: expected a whole number from 0 to 2^64 - 1, got {seed}")
        return _Run(self, state, seed, record, first_box).through()

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
        self, simulation: ParticleSimulation, state: ParticleState, seed: int, record: Record, first_box: int
    ) -> None:
        self.simulation, self.state, self.seed = simulation, state, seed
        self.device = state.device
        self.laws = simulation.laws(state.boxes)
        self.rates = rates_of(self.laws, self.device)
        self.times = np.asarray(simulation.times, dtype=np.float64)
        # Without sources every event empties a slot; only rejected proposals can be more.
        self.store = EventStore(state.boxes, state.slots, record, self.device)
        self.raised = 0
        numbers = np.arange(first_box, first_box + state.boxes, dtype=np.uint64).astype(np.uint32)
        self.boxes = _boxes(state, numbers, self.device)
        self.classes: SizeClasses | None = None
        self._arranged_for: ParticleState | None = None

    def through(self) -> ParticleTrajectory:
        states = [self.state]
        for end in self.times[1:] - self.times[0]:
            states.append(self._interval(states[-1], float(end)))
            self.store.close_interval()
        return ParticleTrajectory(self.times, tuple(states), self.store.record(), self.raised)

    def _interval(self, before: ParticleState, end: float) -> ParticleState:
        """State at the end of the interval that begins with `before`."""
        if self.classes is None:
            self.classes = self._classes(before)
        if self.classes is None:
            return before
        started = self.boxes.draws.numpy().copy(), self.boxes.clock.numpy().copy()
        exceeded: Any = new_zeros((before.boxes, 3), device=self.device)
        while True:
            masses: Any = wp.clone(before.masses, requires_grad=False)
            self.boxes.masses = masses
            bounds = self._bounds(self.classes)
            self._start(bounds, before)
            self._advance(bounds, end, exceeded)
            status = self.boxes.status.numpy()
            if not (status == int(EXCEEDED)).any():
                self._arranged_for = ParticleState(masses, before.density, before.volume)
                return self._arranged_for
            self._raise(status == int(EXCEEDED), exceeded.numpy())
            self._arranged_for = None
            self.boxes.draws.assign(started[0])
            self.boxes.clock.assign(started[1])
            self.store.back_to_last_interval()

    def _classes(self, state: ParticleState) -> SizeClasses | None:
        sizes = state.particle_volumes()
        if not (sizes > 0.0).any():
            return None
        smallest, largest = float(sizes[sizes > 0.0].min()), float(sizes.sum(axis=1).max())
        classes = size_classes(self.laws, smallest, largest, self.simulation.margin)
        count = len(classes.edges) - 1
        self.boxes.stops = wp.zeros((state.boxes, count + 1), dtype=wp.int32, device=self.device)
        self.boxes.rows = new_zeros((state.boxes, count), device=self.device)
        return classes

    def _bounds(self, classes: SizeClasses) -> Any:
        bounds: Any = Bounds()
        bounds.edges = to_device(classes.edges, device=self.device)
        bounds.pairs = to_device(classes.pairs, device=self.device)
        bounds.losses = to_device(classes.losses, device=self.device)
        return bounds

    def _start(self, bounds: Any, state: ParticleState) -> None:
        """Make the boxes ready to go on: sorted into classes, unless they still are."""
        if state is self._arranged_for:
            self.boxes.status.fill_(int(FULL))
            return
        inputs = [self.boxes, bounds, self.rates]
        wp.launch(arrange, self.state.boxes, inputs, device=self.device, record_tape=False)

    def _advance(self, bounds: Any, end: float, exceeded: WarpArray) -> None:
        """Go on to `end`, with a larger store as often as one is full."""
        while True:
            inputs = [
                self.boxes,
                bounds,
                self.rates,
                self.store.device_struct(),
                wp.uint64(self.seed),
                wp.float64(end),
                exceeded,
            ]
            wp.launch(run_process, self.state.boxes, inputs, device=self.device, record_tape=False)
            if not (self.boxes.status.numpy() == int(FULL)).any():
                return
            self.store.grow()

    def _raise(self, boxes: NDArray[np.bool_], exceeded: Floats) -> None:
        """Raise the bounds that rates were found above."""
        assert self.classes is not None
        self.raised += 1
        for box in np.flatnonzero(boxes):
            environment = int(self.laws.environment_of[box])
            a, b, rate = int(exceeded[box, 0]), int(exceeded[box, 1]), float(exceeded[box, 2]) * _RAISED
            if b < 0:
                self.classes.losses[environment, a] = max(self.classes.losses[environment, a], rate)
            else:
                rate = max(self.classes.pairs[environment, a, b], rate)
                self.classes.pairs[environment, a, b] = self.classes.pairs[environment, b, a] = rate


def _boxes(state: ParticleState, numbers: NDArray[np.uint32], device: Any) -> Any:
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
    boxes.numbers = wp.array(numbers, dtype=wp.uint32, device=device)
    return boxes
