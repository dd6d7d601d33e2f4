"""Condensation on particles: known growth, kept mass, and the gradient of its replay between events."""

from __future__ import annotations

import numpy as np
import pytest
import warp as wp
from tests.aerosol.particles import problems

from retrograde.aerosol import Environment
from retrograde.aerosol.particles import (
    Condensation,
    ParticleSimulation,
    ParticleState,
    replay_with_gas,
)
from retrograde.aerosol.particles.estimators import StochasticProblem
from retrograde.aerosol.particles.losses import ParticleMoment
from retrograde.aerosol.physics import BrownianKernel, uptake_rate

D0, RHO, DV, M = 1e-4, 1000.0, 1e-5, 0.1
AIR = Environment.uniform(1)


def sphere(diameter):
    return np.pi / 6.0 * RHO * np.asarray(diameter, dtype=float) ** 3


def test_large_particles_grow_by_the_square_of_their_diameter():
    """D^2 = D0^2 + 8 DV G t / rho in so much air that the gas stays as it is, with an error of first order."""
    gas, time = 0.1, 0.5
    exact = np.sqrt(D0**2 + 8 * DV * gas * time / RHO)
    errors = []
    for substeps in (10, 20, 40):
        condensation = Condensation(DV, [M], [0.0], substeps=substeps)
        state = ParticleState.from_numpy(sphere([[[D0]]]), 1e9, density=RHO)
        final = ParticleSimulation([0.0, time], condensation=condensation).run(state, seed=1, gas=[gas]).final
        errors.append(float(np.cbrt(6 / np.pi * final.particle_volumes()[0, 0])) - exact)
    # The transition correction at this size is within 0.3 % of the continuum, and stays in the difference.
    assert errors[0] - errors[1] == pytest.approx(2.0 * (errors[1] - errors[2]), rel=0.05)
    assert abs(errors[2]) < 5e-3 * (exact - D0)


def test_gas_decays_at_the_sink_of_the_particles():
    """So little gas that sizes stay: Gc = Gc0 exp(-CS t), whatever the substeps are."""
    diameters = np.array([5e-8, 2e-7, 1e-6])
    sink = uptake_rate(diameters, DV, M, 0.7, 298.15).sum() / 1e-9
    condensation = Condensation(DV, [M], [0.0], accommodation=0.7, substeps=1)
    state = ParticleState.from_numpy(sphere(diameters)[None, :, None], 1e-9, density=RHO)
    run = ParticleSimulation([0.0, 3.0 / sink], condensation=condensation).run(state, seed=1, gas=[1e-16])
    assert run.gas[-1, 0, 0] == pytest.approx(1e-16 * np.exp(-3.0), rel=1e-6)
    assert not run.touched.any()


def mixed_run(record_time=4000.0, intervals=4):
    """Two species, one of them volatile, on particles that coagulate."""
    rng = np.random.default_rng(2)
    masses = sphere(rng.lognormal(np.log(1e-7), 0.4, (3, 40)))[..., None] * [0.4, 0.6]
    state = ParticleState.from_numpy(masses, 1e-11, density=[1000.0, 1400.0])
    condensation = Condensation(
        [8e-6, 5e-6], [0.1, 0.2], [2e-9, 0.0], surface_tension=0.03, exchanged=[True, True], accommodation=[1.0, 0.5]
    )
    times = np.linspace(0.0, record_time, intervals + 1)
    simulation = ParticleSimulation(times, kernel=BrownianKernel(), environment=AIR, condensation=condensation)
    gas = np.array([5e-9, 2e-9])
    return simulation, state, gas, simulation.run(state, seed=5, gas=gas)


def test_mass_of_gas_and_particles_is_kept():
    _, state, gas, run = mixed_run()
    before = gas + state.species_mass()
    after = run.gas[-1] + run.final.species_mass()
    np.testing.assert_allclose(after, before, rtol=1e-13)
    assert (np.abs(run.gas[-1] / gas - 1.0) > 0.02).all()
    assert (run.final.counts() < state.counts()).all()


def test_evaporation_ends_at_nothing_and_uptake_at_the_gas_there_is():
    """Small particles vanish, their slots are empty; mass is kept, and the boxes are reported."""
    masses = sphere([[[1e-8], [1.2e-8], [3e-7]]])
    state = ParticleState.from_numpy(masses, 1e-12, density=RHO)
    condensation = Condensation(DV, [M], [1e-6], surface_tension=0.05)
    run = ParticleSimulation([0.0, 10.0], condensation=condensation).run(state, seed=1, gas=[1e-6])
    assert run.touched.all()
    assert run.final.counts().tolist() == [1]
    np.testing.assert_allclose(run.gas[-1, 0] + run.final.species_mass()[0], 1e-6 + state.species_mass()[0], rtol=1e-13)
    assert (run.gas >= 0.0).all()


def test_replay_with_condensation_is_bit_for_bit():
    simulation, state, gas, run = mixed_run()
    device_gas = wp.array(np.tile(gas, (3, 1)), dtype=wp.float64)
    final, left = replay_with_gas(simulation, state, device_gas, run.events)
    assert np.array_equal(final.numpy(), run.final.numpy())
    assert np.array_equal(left.numpy(), run.gas[-1])


def test_gradient_of_the_replay_on_a_tape_agrees_with_differences():
    """From a function of the final particles and gas to initial masses and gas, along random directions."""
    simulation, state, gas, run = mixed_run()
    masses = wp.array(state.numpy(), dtype=wp.float64, requires_grad=True)
    vapour = wp.array(np.tile(gas, (3, 1)), dtype=wp.float64, requires_grad=True)
    rng = np.random.default_rng(4)
    by_masses, by_gas = rng.normal(size=masses.shape) / 1e-18, rng.normal(size=vapour.shape) / 1e-9
    tape = wp.Tape()
    with tape:
        final, left = replay_with_gas(
            simulation, ParticleState(masses, state.density, state.volume), vapour, run.events
        )
    seeds = {final.masses: wp.array(by_masses, dtype=wp.float64), left: wp.array(by_gas, dtype=wp.float64)}
    tape.backward(grads=seeds)

    def value(m: np.ndarray, g: np.ndarray) -> float:
        moved = ParticleState.from_numpy(m, state.volume, density=state.density)
        after, rest = replay_with_gas(simulation, moved, wp.array(g, dtype=wp.float64), run.events)
        return float((by_masses * after.numpy()).sum() + (by_gas * rest.numpy()).sum())

    for k in range(2):
        at = [state.numpy(), np.tile(gas, (3, 1))]
        direction = [np.zeros_like(at[0]), np.zeros_like(at[1])]
        direction[k] = 1e-3 * at[k] * rng.normal(size=at[k].shape)
        v = {h: value(*(x + h * d for x, d in zip(at, direction, strict=True))) for h in (-2, -1, 1, 2)}
        slope = (8.0 * (v[1] - v[-1]) - (v[2] - v[-2])) / 12.0
        found = float((masses.grad.numpy() * direction[0]).sum() + (vapour.grad.numpy() * direction[1]).sum())
        assert found == pytest.approx(slope, rel=1e-8)


def test_noisy_rates_are_reparameterised():
    """Rates mu + sigma e: the mean growth of 400 boxes has the derivatives of its own differences, and those known."""
    boxes, gas_there = 400, 0.1
    noise = np.random.default_rng(3).normal(size=boxes)
    state = ParticleState.from_numpy(np.full((boxes, 1, 1), sphere(D0)), 1e9, density=RHO)
    simulation = ParticleSimulation([0.0, 0.5], condensation=Condensation(DV, [M], [0.0], substeps=16))
    gas = np.full((boxes, 1), gas_there)

    def squares(factor: np.ndarray) -> np.ndarray:
        run = simulation.run(state, seed=1, gas=gas, rate_factor=factor)
        return np.cbrt(6 / np.pi * run.final.particle_volumes()[:, 0]) ** 2

    factor = wp.array(1.0 + 0.1 * noise, dtype=wp.float64, requires_grad=True)
    events = simulation.run(state, seed=1, gas=gas).events
    tape = wp.Tape()
    with tape:
        final, _ = replay_with_gas(simulation, state, wp.array(gas, dtype=wp.float64), events, factor)
    volumes = final.particle_volumes()
    cotangent = 2.0 / 3.0 * np.cbrt(6 / np.pi) ** 2 * volumes ** (-1 / 3) / RHO
    tape.backward(grads={final.masses: wp.array(cotangent[..., None], dtype=wp.float64)})
    each = factor.grad.numpy()
    found = np.array([each.mean(), (each * noise).mean()])
    h = 1e-4
    for k, direction in enumerate((np.ones(boxes), noise)):
        moved = [squares(1.0 + 0.1 * noise + s * h * direction).mean() for s in (-1, 1)]
        assert found[k] == pytest.approx((moved[1] - moved[0]) / (2 * h), rel=1e-6)
    # D^2 = D0^2 + 8 DV G t / rho times the rate, whose mean has no derivative to the spread of the noise.
    assert found[0] == pytest.approx(8 * DV * gas_there * 0.5 / RHO, rel=1e-2)
    assert found[1] == pytest.approx(found[0] * noise.mean(), abs=1e-2 * found[0])


def test_what_does_not_fit_is_refused():
    state = ParticleState.from_numpy(sphere([[[1e-7]]]), 1e-9)
    condensation = Condensation(DV, [M], [0.0])
    simulation = ParticleSimulation([0.0, 1.0], condensation=condensation)
    with pytest.raises(ValueError, match=r"gas \[kg m\^-3\]: condensation needs"):
        simulation.run(state, seed=1)
    with pytest.raises(ValueError, match=r"gas \[kg m\^-3\]: expected shape \[1, 1\] or \[1\], got \[2\]"):
        simulation.run(state, seed=1, gas=[1.0, 1.0])
    with pytest.raises(ValueError, match=r"rate_factor \[1\]: expected shape \[1\]"):
        simulation.run(state, seed=1, gas=[1.0], rate_factor=[1.0, 1.0])
    with pytest.raises(ValueError, match="negative"):
        simulation.run(state, seed=1, gas=[-1.0])
    with pytest.raises(ValueError, match="no condensation that it could take part in"):
        ParticleSimulation([0.0, 1.0]).run(state, seed=1, gas=[1.0])
    with pytest.raises(ValueError, match="is for 2 species, the state has 1"):
        ParticleSimulation([0.0, 1.0], condensation=Condensation(DV, [M, M], 0.0)).run(state, seed=1, gas=[1.0, 1.0])
    with pytest.raises(ValueError, match="diffusivity"):
        Condensation(0.0, [M], [0.0])
    with pytest.raises(ValueError, match="substeps"):
        Condensation(DV, [M], [0.0], substeps=0)
    with pytest.raises(ValueError, match="molar_mass"):
        Condensation(DV, M, 0.0)
    with pytest.raises(ValueError, match="estimators take no condensation"):
        StochasticProblem(problems.start(), simulation, ParticleMoment())
    with pytest.raises(ValueError, match="has no condensation; use replay"):
        replay_with_gas(ParticleSimulation([0.0, 1.0]), state, None, None)
