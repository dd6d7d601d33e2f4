"""Replay of recorded events: a deterministic program of the initial masses, with its adjoint by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from retrograde.aerosol._device import WarpArray, new_zeros, shape_of, to_device, to_host, wp
from retrograde.aerosol.particles._memory import add_untaped, untaped_copy
from retrograde.aerosol.particles._rates import rates_of
from retrograde.aerosol.particles._sweep import (
    log_probabilities,
    replay_events,
    replay_with_sizes,
    sweep_events,
    sweep_with_score,
)
from retrograde.aerosol.particles.events import EventRecord, Record
from retrograde.aerosol.particles.simulation import ParticleSimulation, ParticleTrajectory
from retrograde.aerosol.particles.state import ParticleState
from retrograde.aerosol.processes._tape import active_tape
from retrograde.aerosol.states import Environment

Floats = NDArray[np.float64]


def replay(state: ParticleState, events: EventRecord) -> ParticleState:
    """Let recorded events happen to the particles of a state.

    From the run's own initial state this gives its final state bit for bit. From other masses it is the
    pathwise program: the same particles merge and are lost. Inside a `wp.Tape` block it is recorded if
    the masses carry a gradient.

    Args:
        state: Particles in the slots of the recorded run.
        events: The record.

    Raises:
        ValueError: The record is for other boxes or slots.
    """
    _check_boxes(state, events)
    begin, end = _range(events, state.device)
    return ParticleState(_let_happen(state.masses, events, begin, end), state.density, state.volume)


def replay_with_gas(
    simulation: ParticleSimulation,
    state: ParticleState,
    gas: WarpArray,
    events: EventRecord,
    rate_factor: WarpArray | None = None,
) -> tuple[ParticleState, WarpArray]:
    """Replay of a run with condensation: its steps anew, the recorded events between them.

    Inside a `wp.Tape` block all of it is recorded.

    Args:
        simulation: The simulation that ran.
        state: Particles in the slots of the recorded run.
        gas: Concentrations of the vapours [kg m^-3], shape [boxes, species].
        events: The record.
        rate_factor: What the condensation rates of every box are multiplied with [1], shape [boxes].

    Returns:
        Particles and gas at the last time.

    Raises:
        ValueError: The simulation has no condensation, or the record is for other boxes or slots.
    """
    if simulation.condensation is None:
        raise ValueError("simulation: has no condensation; use replay")
    _check_boxes(state, events)
    air = simulation.environment or Environment.uniform(1)
    options: dict[str, Any] = {"volume": state.volume, "density": state.density, "environment": air}
    options["rate_factor"] = rate_factor
    masses, begin = state.masses, np.zeros(events.boxes, dtype=np.int32)
    for duration, end in zip(np.diff(np.asarray(simulation.times)), events.ends, strict=True):
        half = float(duration) / 2.0
        masses, gas, _ = simulation.condensation.advance(masses, gas, half, **options)
        first, last = (wp.array(e, dtype=wp.int32, device=state.device) for e in (begin, end))
        masses = _let_happen(masses, events, first, last)
        masses, gas, _ = simulation.condensation.advance(masses, gas, half, **options)
        begin = end
    return ParticleState(masses, state.density, state.volume), gas


def _let_happen(masses: WarpArray, events: EventRecord, begin: Any, end: Any) -> WarpArray:
    """Masses after the events, in new memory; recorded on the active tape if they carry a gradient."""
    before: Any = masses
    device = before.device
    after: Any = untaped_copy(before, requires_grad=bool(before.requires_grad))
    wp.launch(replay_events, events.boxes, [events.slots, begin, end, after], device=device, record_tape=False)
    tape = active_tape()
    if tape is None or not before.requires_grad:
        return after

    def pull_back() -> None:
        through: Any = untaped_copy(after.grad)
        after.grad.zero_()
        inputs = [events.slots, begin, end, through]
        wp.launch(sweep_events, events.boxes, inputs, device=device, record_tape=False)
        add_untaped(through, before.grad)

    tape.record_func(pull_back, [before, after])
    return after


def pullback(events: EventRecord, cotangent: ArrayLike | WarpArray, *, device: Any = None) -> WarpArray:
    """Cotangent of the initial masses from that of the final ones, the events held fixed.

    Args:
        events: The record.
        cotangent: Derivatives of a loss to the final masses, shape [boxes, particles, species].
        device: Warp device of the result; the current default if None.

    Returns:
        Derivatives to the initial masses, shape [boxes, particles, species].
    """
    result = _copied(cotangent, device)
    begin, end = _range(events, device)
    inputs = [events.slots, begin, end, result]
    wp.launch(sweep_events, events.boxes, inputs, device=device, record_tape=False)
    return result


class EventScore:
    """Derivatives of the log-probability of a run's events to its initial masses.

    The probability is that of every acceptance and rejection, given what was proposed: proposals follow
    bounds by size class, which do not change with small changes of the masses.

    Args:
        simulation: The simulation that ran.
        trajectory: Its run, recorded with `Record.PROPOSALS`.

    Raises:
        ValueError: Rejected proposals were not recorded.
    """

    def __init__(self, simulation: ParticleSimulation, trajectory: ParticleTrajectory) -> None:
        events = trajectory.events
        if events is None or events.kind is not Record.PROPOSALS:
            raise ValueError("trajectory: the score of its events needs a run with record=Record.PROPOSALS")
        self._events, self._initial = events, trajectory.states[0]
        self._device = self._initial.device
        self._rates = rates_of(simulation.laws(self._initial.boxes), self._device)
        self._bounds = trajectory.classes.on_device(self._device)
        self._inverse_density = to_device(1.0 / self._initial.density, device=self._device)
        self._begin, self._end = _range(events, self._device)
        sizes, out = self._log_probabilities(self._initial.masses)
        self._slopes = self._slopes_of(sizes, out)

    def pullback(self, cotangent: ArrayLike | WarpArray, weight: ArrayLike) -> WarpArray:
        """Pathwise cotangent of the initial masses, plus `weight` times the score.

        Args:
            cotangent: Derivatives of a loss to the final masses, shape [boxes, particles, species].
            weight: What the score of each box is multiplied with, a loss less its baseline, shape [boxes].
        """
        result = _copied(cotangent, self._device)
        inputs = [
            self._events.slots,
            self._begin,
            self._end,
            self._slopes,
            self._inverse_density,
            to_device(np.asarray(weight, dtype=np.float64), device=self._device),
            result,
        ]
        wp.launch(sweep_with_score, self._events.boxes, inputs, device=self._device, record_tape=False)
        return result

    def log_probability(self, masses: WarpArray | None = None) -> Floats:
        """Log-probability of the recorded acceptances and rejections [1], shape [boxes].

        Args:
            masses: Initial masses other than the run's own, near enough to leave every particle in its class.
        """
        _, out = self._log_probabilities(self._initial.masses if masses is None else masses)
        return to_host(out).sum(axis=1)

    def _log_probabilities(self, masses: WarpArray) -> tuple[Any, Any]:
        """Volumes of the particles of every event, and its log-probability."""
        boxes, capacity = shape_of(self._events.times)
        sizes: Any = new_zeros((boxes, capacity, 2), device=self._device, requires_grad=True)
        self._proposed: Any = new_zeros((boxes, capacity), device=self._device)
        out: Any = new_zeros((boxes, capacity), device=self._device, requires_grad=True)
        events, copy = self._events.slots, untaped_copy(masses)
        inputs = [events, self._begin, self._end, self._rates, self._bounds, self._inverse_density]
        inputs += [copy, sizes, self._proposed]
        wp.launch(replay_with_sizes, boxes, inputs, device=self._device, record_tape=False)
        inputs = [events, self._end, self._rates, self._proposed, sizes]
        wp.launch(log_probabilities, (boxes, capacity), inputs, outputs=[out], device=self._device, record_tape=False)
        return sizes, out

    def _slopes_of(self, sizes: Any, out: Any) -> Any:
        """Derivatives of the log-probabilities to the volumes [m^-3], by the kernel's adjoint."""
        out.grad.fill_(1.0)
        wp.launch(
            log_probabilities,
            shape_of(out),
            inputs=[self._events.slots, self._end, self._rates, self._proposed, sizes],
            outputs=[out],
            adj_inputs=[None, None, self._rates, None, sizes.grad],
            adj_outputs=[out.grad],
            device=self._device,
            adjoint=True,
            record_tape=False,
        )
        return sizes.grad


def _check_boxes(state: ParticleState, events: EventRecord) -> None:
    if events.boxes != state.boxes:
        raise ValueError(f"state: has {state.boxes} boxes, the events are those of {events.boxes}")
    highest = events.highest_slot()
    if highest >= state.slots:
        raise ValueError(f"state: has {state.slots} slots, the events name slot {highest}")


def _range(events: EventRecord, device: Any) -> tuple[Any, Any]:
    begin = wp.zeros(events.boxes, dtype=wp.int32, device=device)
    return begin, wp.array(events.counts, dtype=wp.int32, device=device)


def _copied(cotangent: ArrayLike | WarpArray, device: Any) -> WarpArray:
    untyped: Any = cotangent
    if isinstance(untyped, wp.array):
        return untaped_copy(untyped)
    return to_device(np.asarray(cotangent, dtype=np.float64), device=device)
