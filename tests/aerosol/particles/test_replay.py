"""The replay of recorded events: bit for bit, and its reverse sweep against differences of the replay."""

from __future__ import annotations

import numpy as np
import pytest
import warp as wp

from retrograde.aerosol import Environment
from retrograde.aerosol.particles import EventScore, ParticleSimulation, ParticleState, Record, pullback, replay
from retrograde.aerosol.physics import (
    AdditiveKernel,
    BrownianKernel,
    ConstantKernel,
    EddyDiffusionBox,
    PowerLawLoss,
    ProductKernel,
    TableLoss,
)

N0, V0 = 1e12, 1e-21
AIR = Environment.uniform(1)
SIMULATIONS = {
    "constant": {"kernel": ConstantKernel(1 / N0), "dilution": 0.3},
    "additive": {"kernel": AdditiveKernel(1 / N0 / V0), "loss": PowerLawLoss(0.1, 0.2, -1.0)},
    "product": {"kernel": ProductKernel(0.2 / N0 / V0**2)},
    "brownian": {"kernel": BrownianKernel(), "loss": EddyDiffusionBox(0.01, 1e-2, 1e-2, 1e-2), "dilution": 1e-4},
    "table": {
        "kernel": BrownianKernel(),
        "loss": TableLoss(np.array([2e-8, 1e-7, 1e-6]), np.array([3e-3, 1e-3, 2e-3])),
    },
}


def run(name: str, boxes: int = 4, particles: int = 60):
    fields = SIMULATIONS[name]
    time = 600.0 if isinstance(fields["kernel"], BrownianKernel) else 1.0
    simulation = ParticleSimulation([0.0, 0.4 * time, time], environment=AIR, margin=1.3, **fields)
    masses = np.random.default_rng(3).exponential(V0 * 1000, (boxes, particles, 2))
    masses[:, ::7] = 0.0
    state = ParticleState.from_numpy(masses, particles / N0, density=[1000.0, 1500.0])
    return simulation, simulation.run(state, seed=9, record=Record.PROPOSALS)


@pytest.mark.parametrize("name", SIMULATIONS)
def test_replay_gives_the_final_state_bit_for_bit(name):
    _, trajectory = run(name)
    mergers = sum(len(trajectory.events.mergers(b)[0]) for b in range(4))
    assert mergers > 20
    assert np.array_equal(replay(trajectory.states[0], trajectory.events).numpy(), trajectory.final.numpy())


def _loss(masses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A smooth function of the final masses, box by box, and its gradient; in units of the mean mass."""
    x = masses / (V0 * 1000)
    first, second = x[..., 0], x[..., 1]
    value = (np.sin(first) * (1 + second**2)).sum(axis=1)
    gradient = np.stack([np.cos(first) * (1 + second**2), np.sin(first) * 2 * second], axis=-1) / (V0 * 1000)
    return value, gradient


def _along(masses: np.ndarray, direction: np.ndarray, function, steps=(1e-3, 2e-3)) -> np.ndarray:
    """Slope of a function of the masses along a direction, by differences of fourth order."""
    (a, b), (c, d) = ([function(masses + s * h * direction) for s in (-1, 1)] for h in steps)
    return (8.0 * (b - a) - (d - c)) / (12.0 * steps[0])


@pytest.mark.parametrize("name", SIMULATIONS)
def test_reverse_sweep_is_the_slope_of_the_replay(name):
    """Every box along a random direction, to 1e-9."""
    _, trajectory = run(name)
    start = trajectory.states[0]
    masses = start.numpy()
    direction = 1e-2 * masses * np.random.default_rng(1).normal(size=masses.shape)

    def after(changed: np.ndarray) -> np.ndarray:
        state = ParticleState.from_numpy(changed, start.volume, density=start.density)
        return _loss(replay(state, trajectory.events).numpy())[0]

    gradient = pullback(trajectory.events, _loss(trajectory.final.numpy())[1]).numpy()
    found = (gradient * direction).sum(axis=(1, 2))
    np.testing.assert_allclose(found, _along(masses, direction, after), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", SIMULATIONS)
def test_score_is_the_slope_of_the_log_probability_of_the_events(name):
    simulation, trajectory = run(name)
    score = EventScore(simulation, trajectory)
    masses = trajectory.states[0].numpy()
    direction = 1e-5 * masses * np.random.default_rng(2).normal(size=masses.shape)

    def log_probability(changed: np.ndarray) -> np.ndarray:
        return score.log_probability(wp.array(changed, dtype=wp.float64))

    weight = np.array([1.0, -2.0, 0.5, 3.0])
    cotangent = _loss(trajectory.final.numpy())[1]
    both = score.pullback(cotangent, weight).numpy()
    alone = both - pullback(trajectory.events, cotangent).numpy()
    found = (alone * direction).sum(axis=(1, 2))
    expected = weight * _along(masses, direction, log_probability, steps=(1.0, 2.0))
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-12)
    assert name == "constant" or np.abs(found).min() > 1e-8


def test_replay_takes_part_on_a_tape():
    _, trajectory = run("additive")
    start = trajectory.states[0]
    masses = wp.array(start.numpy(), dtype=wp.float64, requires_grad=True)
    tape = wp.Tape()
    with tape:
        final = replay(ParticleState(masses, start.density, start.volume), trajectory.events)
    cotangent = _loss(trajectory.final.numpy())[1]
    tape.backward(grads={final.masses: wp.array(cotangent, dtype=wp.float64)})
    assert np.array_equal(masses.grad.numpy(), pullback(trajectory.events, cotangent).numpy())


def test_records_of_other_runs_are_refused():
    simulation, trajectory = run("constant")
    start = trajectory.states[0]
    few = ParticleState.from_numpy(start.numpy()[:2], start.volume[:2], density=start.density)
    with pytest.raises(ValueError, match="has 2 boxes, the events are those of 4"):
        replay(few, trajectory.events)
    small = ParticleState.from_numpy(start.numpy()[:, :5], start.volume, density=start.density)
    with pytest.raises(ValueError, match="has 5 slots, the events name slot"):
        replay(small, trajectory.events)
    plain = simulation.run(start, seed=1)
    with pytest.raises(ValueError, match=r"record=Record\.PROPOSALS"):
        EventScore(simulation, plain)
