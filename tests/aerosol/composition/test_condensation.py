"""Condensation on pivots: exact growth and decay, conservation, boundaries, every gradient."""

from __future__ import annotations

import numpy as np
import pytest
import warp as wp
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from tests.aerosol.processes.references import assert_agrees, differences

from retrograde.aerosol import Environment, SizeGrid
from retrograde.aerosol.composition import (
    Activity,
    CompositionGrid,
    CompositionSimulation,
    CompositionState,
    CompositionTrajectory,
    Condensation,
    ContinuumUptake,
    Species,
    Vapour,
    VolumeProportionalUptake,
)
from retrograde.aerosol.composition.vapours import surface_concentrations
from retrograde.aerosol.exact import ConstantGrowthSolution
from retrograde.aerosol.grids import diameter_of
from retrograde.aerosol.losses import KappaLoss, MixingStateLoss, SizeKappaLoss
from retrograde.aerosol.physics import ConstantKernel, koehler_saturation_ratio, uptake_rate
from retrograde.aerosol.processes import CoagulationFixedPivot, Dilution, FirstOrderLoss

Floats = NDArray[np.float64]
AIR = Environment.uniform(1)
CORE, ACID, OIL = (
    Species("core", 1800.0, 0.0, 0.2),
    Species("acid", 1400.0, 0.6, 0.1),
    Species("oil", 900.0, 0.05, 0.15),
)
GRID = CompositionGrid(SizeGrid.geometric(50e-9, 200e-9, bins_per_decade=8), (CORE, ACID, OIL), 3)
CONDENSING = Vapour("acid", 0.1, 1e-5)
VOLATILE = Vapour("oil", 0.15, 8e-6, saturation=2e-9, surface_tension=0.03)


def state(seed: int = 0, scale: float = 1e10) -> CompositionState:
    number = scale * np.random.default_rng(seed).uniform(0.2, 1.0, (GRID.bins, GRID.fractions))
    return CompositionState.from_numpy(number, GRID)


@pytest.mark.parametrize("with_coagulation", [True, False])
def test_growth_in_proportion_to_volume_is_exact_in_the_limit(with_coagulation: bool) -> None:
    """With and without coagulation by a constant kernel; the error in volume halves with the spacing."""
    rate, number, mean = 1e-15, 1e12, 1e-21
    growth, end = 0.5e-3, 1e3
    exact = ConstantGrowthSolution(rate if with_coagulation else 1e-30, growth, number, mean)
    processes = (CoagulationFixedPivot(ConstantKernel(rate)),) if with_coagulation else ()
    errors = []
    for ratio in (2.0, 2.0**0.5, 2.0**0.25):
        bins = int(np.ceil(np.log(3e4) / np.log(ratio)))
        grid = CompositionGrid(SizeGrid.from_ratio(1e-3 * mean, ratio, bins), (Species("x"),), 1)
        uptake = VolumeProportionalUptake(growth * 1000.0)
        condensation = Condensation((Vapour("x", 0.1, 1e-5, uptake=uptake),), AIR)
        simulation = CompositionSimulation(grid, processes, np.linspace(0.0, end, 7), condensation, substeps=None)
        start = CompositionState.from_numpy(exact.bin_numbers(grid.sizes.edges, 0.0)[:, None], grid)
        sizes = simulation.run(start, [1.0]).final.sectional()
        volume = exact.bin_volumes(grid.sizes.edges, end)
        errors.append(np.abs(sizes.numpy()[0] * grid.sizes.volumes - volume).sum() / volume.sum())
    assert abs(sizes.total_number()[0] / exact.total_number(end) - 1.0) < 2e-3
    assert abs(sizes.total_volume()[0] / exact.total_volume(end) - 1.0) < 5e-3
    assert errors[2] < 0.08
    assert errors[2] < 0.6 * errors[1] < 0.6 * errors[0]


def test_growth_in_the_continuum_adds_to_the_squared_diameter() -> None:
    """D^2 = D0^2 + 8 D c t / rho, by the mean over all particles; the error halves with the spacing."""
    start, end, concentration, diffusivity = 100e-9, 250e-9, 1.0, 1e-5
    duration = (end**2 - start**2) / (8.0 * diffusivity * concentration / 1000.0)
    errors = []
    for per_decade in (8, 16, 32):
        sizes = SizeGrid.geometric(start, 1e-6, bins_per_decade=per_decade)
        grid = CompositionGrid(sizes, (Species("x"),), 1)
        vapour = Vapour("x", 0.1, diffusivity, uptake=ContinuumUptake())
        simulation = CompositionSimulation(grid, (), [0.0, duration], Condensation((vapour,), AIR, substeps=64))
        number = simulation.run(CompositionState.from_numpy(np.eye(grid.bins)[:, :1], grid), [concentration]).final
        squares = (number.numpy()[0, :, 0] @ sizes.diameters**2) / number.total_number()[0]
        errors.append(abs(squares / end**2 - 1.0))
    assert errors[2] < 0.035
    assert errors[2] < 0.55 * errors[1] < 0.55 * errors[0]


def test_gas_in_a_closed_box_decays_by_the_condensation_sink() -> None:
    """G = G0 exp(-CS t), exact while the particles hardly grow."""
    grid = CompositionGrid(SizeGrid.geometric(50e-9, 200e-9, bins_per_decade=8), (CORE, ACID), 2)
    number = np.zeros((grid.bins, grid.fractions))
    number[:, 0] = 1e9
    sink = 1e9 * uptake_rate(grid.sizes.diameters, 1e-5, 0.1, 1.0, 298.15).sum()
    simulation = CompositionSimulation(grid, (), [0.0, 1.0 / sink], Condensation((CONDENSING,), AIR))
    end = simulation.run(CompositionState.from_numpy(number, grid), [1e-18]).gas[-1]
    assert_allclose(end.numpy(), 1e-18 * np.exp(-1.0), rtol=1e-9)


def test_mass_of_particles_and_gas_is_kept_species_by_species() -> None:
    """Over growth past the grid's top, coagulation, and evaporation to nothing."""
    condensation = Condensation((CONDENSING, VOLATILE), AIR)
    coagulation = (CoagulationFixedPivot(ConstantKernel(1e-14)),)
    simulation = CompositionSimulation(GRID, coagulation, np.linspace(0.0, 4e3, 9), condensation, substeps=None)
    start, gas = state(), np.array([2e-7, 1e-11])
    run = simulation.run(start, gas)
    expected = start.species_mass()[0] + [0.0, *gas]
    for one, vapours in zip(run.states, run.gas, strict=True):
        mass = one.species_mass()[0] + one.outside_mass()[0] + [0.0, *vapours.numpy()[0]]
        assert_allclose(mass, expected, rtol=1e-13)
        assert one.number.numpy().min() >= 0.0
        assert vapours.numpy().min() >= 0.0
    assert run.final.outside_mass()[0, 1] > 0.1 * expected[1]


def test_boundaries_are_exact_and_reported() -> None:
    """Evaporation ends at nothing, uptake at the gas there is; each is seen, and mass is kept at both."""
    hot = Vapour("oil", 0.15, 8e-6, saturation=1e-3)
    pure = CompositionState.from_populations([(np.full(GRID.bins, 1e9), [0, 0, 1])], GRID)
    run = CompositionSimulation(GRID, (), [0.0, 10.0], Condensation((hot,), AIR)).run(pure, [0.0])
    assert run.emptied.all()
    assert run.touched.all()
    assert_allclose(run.gas[-1].numpy()[0], pure.species_mass()[0, 2], rtol=1e-13)
    assert run.final.total_number()[0] < 1e-3
    few = CompositionState.from_populations(
        [(np.full(GRID.bins, 1e9), [1, 0, 0]), (np.full(GRID.bins, 1.0), [0, 0, 1])], GRID
    )
    over = Vapour("oil", 0.15, 8e-6, saturation=1e6)
    run = CompositionSimulation(GRID, (), [0.0, 10.0], Condensation((over,), AIR)).run(few, [0.0])
    assert run.exhausted.all()
    mass = run.final.species_mass()[0, 2] + run.final.outside_mass()[0, 2] + run.gas[-1].numpy()[0, 0]
    assert_allclose(mass, few.species_mass()[0, 2], rtol=1e-13)
    calm = CompositionSimulation(GRID, (), [0.0, 10.0], Condensation((CONDENSING, VOLATILE), AIR)).run(
        state(), [1e-9, 1e-9]
    )
    assert not calm.touched.any()


def test_vapour_over_a_droplet_is_that_of_koehler() -> None:
    """Water at kappa activity with Kelvin's ratio, against the formula for wet and dry diameters."""
    salt, water = Species("salt", 2000.0, 0.8), Species("water", 1000.0)
    grid = CompositionGrid(SizeGrid.geometric(50e-9, 500e-9, bins_per_decade=5), (salt, water), 8)
    vapour = Vapour("water", 0.018015, 2.5e-5, 0.023, surface_tension=0.072, activity=Activity.KAPPA)
    dry = diameter_of(grid.sizes.volumes[:, None] * grid.volume_fractions[:, 0])
    length = 4.0 * 0.072 * 0.018015 / (8.31446261815324 * 298.15 * 1000.0)
    wet = np.broadcast_to(grid.sizes.diameters[:, None], dry.shape)
    expected = 0.023 * koehler_saturation_ratio(wet, dry, 0.8, length)
    found = surface_concentrations(vapour, grid, AIR)[0]
    assert_allclose(found[:, 1:], expected[:, 1:], rtol=1e-12)
    assert not found[:, 0].any()


TIMES = np.array([0.0, 20.0, 60.0])
PROCESSES = (
    CoagulationFixedPivot(1e-14 * (1.0 + np.add.outer(np.arange(GRID.bins), np.arange(GRID.bins)))),
    Dilution(1e-3),
    FirstOrderLoss(1e-3 * np.linspace(1.0, 0.2, GRID.bins)),
)
EVERYTHING = CompositionSimulation(
    GRID, PROCESSES, TIMES, Condensation((CONDENSING, VOLATILE), AIR, substeps=2), substeps=2
)
GAS = np.array([2e-8, 3e-9])


def seeds(seed: int = 4) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(3, GRID.rows, GRID.fractions)), 1e19 * rng.normal(size=(3, 2))


def terms_of(run: CompositionTrajectory) -> Floats:
    """Terms of a linear loss on all cells and vapours at all times, shape [boxes, terms]."""
    on_number, on_gas = seeds()
    boxes = run.states[0].boxes
    number = [(s.number.numpy() * c).reshape(boxes, -1) for s, c in zip(run.states, on_number, strict=True)]
    gas = [g.numpy() * c for g, c in zip(run.gas, on_gas, strict=True)]
    return np.concatenate([*number, *gas], axis=1)


def gradient(number: Floats, gas: Floats, *, through_tape: bool = False) -> tuple[Floats, Floats]:
    start = CompositionState.from_numpy(number, GRID, requires_grad=True)
    vapours = wp.array(gas[None], dtype=wp.float64, requires_grad=True)
    with wp.Tape() as tape:
        run = EVERYTHING.run(start, vapours, through_tape=through_tape)
    on_number, on_gas = seeds()
    pairs = [*zip(run.states, on_number, strict=True)]
    grads = {s.number: wp.array(c[None], dtype=wp.float64) for s, c in pairs}
    grads |= {g: wp.array(c[None], dtype=wp.float64) for g, c in zip(run.gas, on_gas, strict=True)}
    tape.backward(grads=grads)
    return start.number.grad.numpy()[0].copy(), vapours.grad.numpy()[0].copy()


@pytest.mark.parametrize("seed", [1, 2])
def test_every_element_of_the_gradient_through_all_processes(seed: int) -> None:
    """Coagulation, both ways of exchange, dilution, wall loss: cotangents of all cells and gases at all times."""
    number = state(seed).numpy()[0]
    x = np.concatenate([number.reshape(-1), GAS])

    def loss(values: Floats) -> tuple[Floats, Floats]:
        numbers = values[:, :-2].reshape(-1, GRID.bins, GRID.fractions)
        run = EVERYTHING.run(CompositionState.from_numpy(numbers, GRID), values[:, -2:])
        assert not run.touched.any()
        terms = terms_of(run)
        return terms.sum(axis=1), np.abs(terms).sum(axis=1)

    by_number, by_gas = gradient(number, GAS)
    whole = np.concatenate([by_number[:-1].reshape(-1), by_gas])
    assert_agrees(whole, differences(loss, x, scale=2e-2))
    other_number, other_gas = gradient(number, GAS, through_tape=True)
    assert_allclose(by_number, other_number, rtol=1e-11, atol=1e-13 * np.abs(other_number).max())
    assert_allclose(by_gas, other_gas, rtol=1e-11)


def test_losses_on_hygroscopicity_and_mixing_state_reach_every_cell_of_the_start() -> None:
    """From the final state through all processes, by differences; the two losses added."""
    goal = state(7)
    losses = (KappaLoss(goal), SizeKappaLoss(goal, slices=3), MixingStateLoss(GRID, 0.9, scale=0.1))
    number = state(1).numpy()

    def value(numbers: Floats) -> tuple[Floats, Floats]:
        boxes = numbers.reshape(-1, GRID.bins, GRID.fractions)
        final = EVERYTHING.run(CompositionState.from_numpy(boxes, GRID), GAS).final
        each = np.stack([loss(final).numpy() for loss in losses])
        return each.sum(axis=0), 4.0 * np.abs(each).sum(axis=0)

    start = CompositionState.from_numpy(number, GRID, requires_grad=True)
    with wp.Tape() as tape:
        final = EVERYTHING.run(start, GAS).final
        each = [loss(final) for loss in losses]
    tape.backward(grads={loss: wp.ones_like(loss) for loss in each})
    gradient = start.number.grad.numpy()[0, :-1].reshape(-1)
    assert_agrees(gradient, differences(value, number.reshape(-1), scale=2e-2))


@pytest.mark.parametrize("gas", [0.999, 1.001])
def test_the_derivative_either_side_of_no_growth_is_that_sides(gas: float) -> None:
    """Gas a little below and above equilibrium with pure droplets: evaporation and growth, each by differences."""
    grid = CompositionGrid(SizeGrid.geometric(50e-9, 200e-9, bins_per_decade=5), (OIL,), 1)
    vapour = Vapour("oil", 0.15, 8e-6, saturation=2e-9)
    simulation = CompositionSimulation(grid, (), [0.0, 5.0], Condensation((vapour,), AIR))
    number = np.linspace(1.0, 2.0, grid.bins)[:, None] * 1e9
    weights = np.random.default_rng(5).normal(size=(grid.rows, 1))

    def value(concentration: float) -> float:
        run = simulation.run(CompositionState.from_numpy(number, grid), [concentration])
        return float((run.final.number.numpy()[0] * weights).sum())

    start = CompositionState.from_numpy(number, grid)
    vapours = wp.array([[gas * 2e-9]], dtype=wp.float64, requires_grad=True)
    with wp.Tape() as tape:
        run = simulation.run(start, vapours)
    tape.backward(grads={run.final.number: wp.array(weights[None], dtype=wp.float64)})
    step = 1e-4 * 2e-9
    slope = (value(gas * 2e-9 + step) - value(gas * 2e-9 - step)) / (2 * step)
    assert vapours.grad.numpy()[0, 0] == pytest.approx(slope, rel=1e-6)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"gas .* missing"):
        EVERYTHING.run(state())
    with pytest.raises(ValueError, match="given, but the simulation has no exchange"):
        CompositionSimulation(GRID, PROCESSES, TIMES).run(state(), GAS)
    with pytest.raises(ValueError, match=r"gas \[kg m\^-3\]: expected shape \[1, 2\]"):
        EVERYTHING.run(state(), GAS[:1])
    with pytest.raises(ValueError, match="no species 'water'"):
        CompositionSimulation(GRID, (), TIMES, Condensation((Vapour("water", 0.018, 2e-5),), AIR)).run(state(), [0.0])
    with pytest.raises(ValueError, match="no species twice"):
        Condensation((CONDENSING, CONDENSING), AIR)
    bare = CompositionGrid(GRID.sizes, (Species("a"), Species("b")), 1)
    with pytest.raises(ValueError, match="needed of a for the ideal activity of b"):
        Condensation((Vapour("b", 0.1, 1e-5, saturation=1e-9),), AIR).prepare(bare, 1)
