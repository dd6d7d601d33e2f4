"""The particle model in the mean: against the finite process, exact solutions and the sectional model."""

from __future__ import annotations

import numpy as np
import pytest
from tests.aerosol.particles.means import assert_mean, assert_spectrum

from retrograde.aerosol import Environment, SectionalState, SizeGrid
from retrograde.aerosol.exact import (
    AdditiveSolution,
    ConstantSolution,
    ExponentialStart,
    ProductSolution,
    additive_kmers,
    constant_kmers,
    mixing_state_index,
    product_kmers,
)
from retrograde.aerosol.exact.finite import additive_counts, constant_counts, product_counts
from retrograde.aerosol.particles import ParticleSimulation, ParticleState, PoissonStart, Record
from retrograde.aerosol.physics import (
    AdditiveKernel,
    BrownianKernel,
    CoagulationKernel,
    ConstantKernel,
    PowerLawLoss,
    ProductKernel,
    TableKernel,
)
from retrograde.aerosol.processes import CoagulationFixedPivot, Dilution, FirstOrderLoss
from retrograde.aerosol.simulation import Simulation

N0, V0, RHO = 1e12, 1e-21, 1000.0
CONSTANT, ADDITIVE, PRODUCT = ConstantKernel(1.0 / N0), AdditiveKernel(1.0 / N0 / V0), ProductKernel(1.0 / N0 / V0**2)
AIR = Environment.uniform(1)


def equal_particles(boxes: int, particles: int) -> ParticleState:
    return ParticleState.from_numpy(np.full((boxes, particles, 1), V0 * RHO), particles / N0)


def exponential(boxes: int, particles: int, seed: int = 0) -> ParticleState:
    """One particle from each of as many equal parts of the exponential distribution."""
    place = np.arange(particles)[:, np.newaxis] + np.random.default_rng(seed).uniform(size=(boxes, particles, 1))
    return ParticleState.from_numpy(-V0 * RHO * np.log1p(-place / particles), particles / N0)


def advance(kernel: CoagulationKernel, state: ParticleState, times: object, **options: object) -> ParticleState:
    simulation = ParticleSimulation(times, kernel=kernel, **options)
    return simulation.run(state, seed=11, record=Record.NOTHING).final


def advance_in_calls(kernel: CoagulationKernel, state: ParticleState, time: float, calls: int) -> ParticleState:
    simulation = ParticleSimulation([0.0, time / calls], kernel=kernel)
    for seed in range(calls):
        state = simulation.run(state, seed=seed, record=Record.NOTHING).final
    return state


def constant_mean(n: int, tau: float) -> float:
    return float(constant_counts(n, tau / n))


def additive_mean(n: int, eta: float) -> float:
    return float(additive_counts(n, n, eta / n))


def product_mean(n: int, progress: float) -> float:
    return product_counts(n, progress / n)


FINITE = [
    (CONSTANT, constant_mean, 0.5, 6000, 1),
    (CONSTANT, constant_mean, 0.5, 6000, 100),
    (CONSTANT, constant_mean, 2.0, 16_000, 1),
    (CONSTANT, constant_mean, 10.0, 50_000, 1),
    (ADDITIVE, additive_mean, 1.0, 40_000, 1),
    (ADDITIVE, additive_mean, 0.25, 8000, 100),
    (PRODUCT, product_mean, 0.5, 11_000, 1),
    (PRODUCT, product_mean, 0.25, 5000, 100),
]


@pytest.mark.parametrize(("kernel", "exact", "time", "boxes", "calls"), FINITE)
def test_finite_process_has_its_own_mean_at_any_step(kernel, exact, time, boxes, calls):
    """The exact means of 100 particles, which lie up to 2 % above Smoluchowski's, in one call and in a hundred."""
    final = advance_in_calls(kernel, equal_particles(boxes, 100), time, calls)
    assert_mean(final.counts().astype(float), exact(100, time), power=2e-3)


SOLUTIONS: list[tuple[CoagulationKernel, ExponentialStart, float]] = [
    (CONSTANT, ConstantSolution(1.0 / N0, N0, V0), 2.0),
    (ADDITIVE, AdditiveSolution(1.0 / N0 / V0, N0, V0), 1.0),
    (PRODUCT, ProductSolution(1.0 / N0 / V0**2, N0, V0), 0.25),
]


@pytest.mark.parametrize(("kernel", "solution", "time"), SOLUTIONS, ids=["constant", "additive", "product"])
def test_exact_solutions_at_many_particles(kernel, solution, time):
    """Number, its spectrum and the spectrum of mass at 1e4 particles a box."""
    start = exponential(400, 10_000)
    final = advance(kernel, start, [0.0, time])
    assert_mean(final.total_number(), solution.total_number(time), power=2e-3)
    np.testing.assert_allclose(final.moment(1.0), start.moment(1.0), rtol=1e-12)
    grid = SizeGrid.from_ratio(V0 / 512, 4.0, 8)
    assert_spectrum(final.bin_numbers(grid), solution.bin_numbers(grid.edges, time))
    assert_spectrum(final.bin_volumes(grid), solution.bin_volumes(grid.edges, time))


@pytest.mark.parametrize(
    ("kernel", "time", "kmers", "fraction", "boxes", "power"),
    [
        (CONSTANT, 2.0, constant_kmers, 0.5, 40, 1e-2),
        (CONSTANT, 2.0, constant_kmers, 0.2, 60, 1e-2),
        (ADDITIVE, 1.0, additive_kmers, 0.5, 400, 2e-3),
        (ADDITIVE, 1.0, additive_kmers, 0.2, 40, 1e-2),
        (PRODUCT, 0.5, product_kmers, 0.5, 120, 1e-2),
        (PRODUCT, 0.5, product_kmers, 0.2, 180, 1e-2),
    ],
)
def test_mixing_state_and_species(kernel, time, kmers, fraction, boxes, power):
    """Chi of an external mixture; the mass of every species is kept."""
    particles = 10_000
    masses = np.zeros((boxes, particles, 2))
    cut = int(fraction * particles)
    masses[:, :cut, 0] = masses[:, cut:, 1] = V0 * RHO
    state = ParticleState.from_numpy(masses, particles / N0)
    final = advance(kernel, state, [0.0, time])
    expected = mixing_state_index(lambda k: kmers(k, time), [fraction, 1.0 - fraction])
    assert_mean(final.mixing_state_index(), expected, power)
    np.testing.assert_allclose(final.species_mass(), state.species_mass(), rtol=1e-12)


def _brownian_time(tau: float, volume: float) -> float:
    rate = BrownianKernel().matrix_numpy(SizeGrid.from_volumes([volume, 2 * volume]), AIR)[0, 0, 0]
    return tau / (N0 * rate)


def _sectional(grid: SizeGrid, volume: float, processes: tuple, time: float) -> SectionalState:
    number = np.where(np.arange(grid.bins) == int(np.argmin(np.abs(grid.volumes - volume))), N0, 0.0)
    simulation = Simulation(grid, processes, np.array([0.0, time]), substeps=400)
    return simulation.run(SectionalState.from_numpy(number, grid)).final


@pytest.mark.parametrize(("tau", "boxes"), [(0.1, 20), (1.0, 120), (10.0, 480)])
def test_brownian_coagulation_agrees_with_the_sectional_model(tau, boxes):
    """Equal particles of 50 nm; the sectional error is removed by two grids, of the second order in their ratio."""
    volume = np.pi / 6.0 * 50e-9**3
    time = _brownian_time(tau, volume)
    processes = (CoagulationFixedPivot(BrownianKernel(), AIR),)
    totals = [
        _sectional(SizeGrid.from_ratio(volume, 2.0 ** (1 / q), 12 * q + 1), volume, processes, time) for q in (4, 8)
    ]
    coarse, fine = (s.total_number()[0] for s in totals)
    particles = 10_000
    state = ParticleState.from_numpy(np.full((boxes, particles, 1), volume * RHO), particles / N0)
    final = advance(BrownianKernel(), state, [0.0, time], environment=AIR)
    assert_mean(final.total_number(), fine + (fine - coarse) / 3.0, power=2e-3)


def test_brownian_mass_spectrum_and_species_agree_with_the_sectional_model():
    """A log-normal aerosol in two halves of different species, at K N t about 1, in bins of a factor of eight."""
    grid = SizeGrid.from_ratio(1e-24, 2.0 ** (1 / 8), 24 * 8)
    number = np.exp(-0.5 * (np.log(grid.diameters / 50e-9) / 0.5) ** 2) * (grid.volumes < 1e-20)
    number *= N0 / number.sum()
    start = PoissonStart.on_grid(number, grid, 10_000 / N0).sample(60, seed=3)
    masses = start.state.numpy()
    halves = np.concatenate([masses * (np.arange(masses.shape[1]) % 2 == k)[:, None] for k in (0, 1)], axis=2)
    state = ParticleState.from_numpy(halves, start.state.volume)
    time = _brownian_time(1.0, np.pi / 6.0 * 50e-9**3)
    final = advance(BrownianKernel(), state, [0.0, time], environment=AIR)
    simulation = Simulation(grid, (CoagulationFixedPivot(BrownianKernel(), AIR),), np.array([0.0, time]), 100)
    sectional = simulation.run(SectionalState.from_numpy(number, grid)).final.numpy()[0].reshape(8, 24)
    coarse = SizeGrid(np.sqrt(grid.edges[:-1:24] * grid.edges[24::24]), grid.edges[::24])
    expected = (sectional * grid.volumes.reshape(8, 24)).sum(axis=1)
    held = expected > 1e-4 * expected.sum()
    assert held.sum() >= 4
    assert_spectrum(final.bin_volumes(coarse)[:, held], expected[held])
    assert_spectrum(final.bin_numbers(coarse)[:, held], sectional.sum(axis=1)[held])
    np.testing.assert_allclose(final.species_mass(), state.species_mass(), rtol=1e-12)


def test_losses_act_beside_coagulation_as_in_the_sectional_model():
    volume = np.pi / 6.0 * 50e-9**3
    time = _brownian_time(1.0, volume)
    law, dilution = PowerLawLoss(0.2 / time, 0.3 / time, -1.5), 0.4 / time
    processes = (CoagulationFixedPivot(BrownianKernel(), AIR), FirstOrderLoss(law), Dilution(dilution))
    totals = [
        _sectional(SizeGrid.from_ratio(volume, 2.0 ** (1 / q), 12 * q + 1), volume, processes, time) for q in (4, 8)
    ]
    state = ParticleState.from_numpy(np.full((500, 5000, 1), volume * RHO), 5000 / N0)
    final = advance(BrownianKernel(), state, [0.0, time], environment=AIR, loss=law, dilution=dilution)
    for order in (0.0, 1.0):
        coarse, fine = (s.moment(order)[0] for s in totals)
        assert_mean(final.moment(order), fine + (fine - coarse) / 3.0, power=4e-3)


def test_a_kernel_given_as_a_table_is_the_same_process():
    grid = SizeGrid.from_ratio(V0, 1.5, 40)
    table = TableKernel(np.full((40, 40), 1.0 / N0))
    state = equal_particles(9000, 100)
    final = advance(table, state, [0.0, 1.0], grid=grid)
    assert_mean(final.counts().astype(float), float(constant_counts(100, 0.01)), power=2e-3)
