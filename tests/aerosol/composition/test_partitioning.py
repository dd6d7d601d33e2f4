"""Equilibrium between particles and gas: conservation, known solutions, limits of condensation, every gradient."""

from __future__ import annotations

import numpy as np
import pytest
import warp as wp
from numpy.testing import assert_allclose
from scipy.optimize import brentq
from tests.aerosol.processes.references import assert_agrees, differences

from retrograde.aerosol import Environment, SizeGrid
from retrograde.aerosol.composition import (
    CompositionGrid,
    CompositionSimulation,
    CompositionState,
    Condensation,
    Partitioning,
    Species,
    Vapour,
)
from retrograde.aerosol.physics import ConstantKernel
from retrograde.aerosol.processes import CoagulationFixedPivot

CORE, LIGHT, HEAVY = Species("core", 1500.0, 0.1, 0.25), Species("light", 1200.0, 0.1), Species("heavy", 1300.0, 0.1)
GRID = CompositionGrid(SizeGrid.geometric(5e-8, 5e-7, bins_per_decade=6), (CORE, LIGHT, HEAVY), 4)
VAPOURS = (Vapour("light", 0.15, 7e-6, saturation=1e-8), Vapour("heavy", 0.2, 6e-6, saturation=1e-9))
GAS = np.array([1.5e-8, 8e-9])
NUMBER = 1e9 * np.random.default_rng(2).uniform(0.2, 1.0, (GRID.bins, GRID.fractions))


def run(number: np.ndarray, gas: np.ndarray) -> tuple[CompositionState, np.ndarray]:
    state = CompositionState.from_numpy(number, GRID)
    end, left = (
        Partitioning(VAPOURS)
        .prepare(GRID, state.boxes)
        .advance(state.number, Partitioning(VAPOURS).gas(gas, state.boxes))
    )
    return CompositionState(end, GRID), left.numpy()


def test_mass_is_kept_and_the_gas_is_at_equilibrium() -> None:
    """Against the root of the equation for the absorbing amount, found by another method."""
    before = CompositionState.from_numpy(NUMBER, GRID)
    after, gas = run(NUMBER, GAS)
    total = before.species_mass()[0] + [0.0, *GAS]
    assert_allclose(after.species_mass()[0] + after.outside_mass()[0] + [0.0, *gas[0]], total, rtol=1e-13)
    molar = np.array([0.15, 0.2])
    fixed, amounts, saturation = total[0] / 0.25, total[1:] / molar, np.array([1e-8, 1e-9]) / molar

    def excess(amount: float) -> float:
        return fixed / amount + float((amounts / (amount + saturation)).sum()) - 1.0

    root = brentq(excess, fixed, fixed + amounts.sum(), xtol=1e-30, rtol=1e-15)
    assert_allclose(gas[0], amounts / (root + saturation) * saturation * molar, rtol=1e-12)


def test_equilibrium_stays_as_it_is() -> None:
    after, gas = run(NUMBER, GAS)
    _, same = run(after.numpy(), gas[0])
    assert_allclose(same, gas, rtol=1e-12)


def test_it_is_where_condensation_leads() -> None:
    """Particles of one size and composition, on a grid fine enough, exchanged for long without Kelvin's effect."""
    grid = CompositionGrid(SizeGrid.geometric(9e-8, 1.5e-7, bins_per_decade=40), (CORE, HEAVY), 20)
    one = np.zeros(grid.bins)
    one[2] = 1e9
    state = CompositionState.from_populations([(one, [1, 0])], grid)
    vapour = (Vapour("heavy", 0.2, 6e-6, saturation=1e-9),)
    slow = CompositionSimulation(grid, (), [0.0, 2e4], Condensation(vapour, Environment.uniform(1), substeps=200))
    gas = slow.run(state, [1e-9]).gas[-1].numpy()[0, 0]
    at_once = CompositionSimulation(grid, (), [0.0, 1.0], Partitioning(vapour)).run(state, [1e-9]).gas[-1].numpy()[0, 0]
    assert gas == pytest.approx(at_once, rel=0.02)
    assert at_once < 0.8e-9


def test_a_box_without_anything_involatile_stays() -> None:
    pure = CompositionState.from_populations([(NUMBER[:, 0], [0, 1, 1])], GRID)
    after, gas = run(pure.numpy()[0], GAS)
    assert_allclose(after.numpy(), pure.numpy(), rtol=1e-12)
    assert_allclose(gas[0], GAS)


def test_every_element_of_the_gradient_with_coagulation() -> None:
    """Of all numbers and gases at the start, for cotangents of all cells and gases at the end."""
    simulation = CompositionSimulation(
        GRID, (CoagulationFixedPivot(ConstantKernel(1e-14)),), [0.0, 100.0], Partitioning(VAPOURS), substeps=2
    )
    rng = np.random.default_rng(3)
    on_number, on_gas = rng.normal(size=(GRID.rows, GRID.fractions)), 1e18 * rng.normal(size=2)

    def loss(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        numbers = values[:, :-2].reshape(-1, GRID.bins, GRID.fractions)
        end = simulation.run(CompositionState.from_numpy(numbers, GRID), values[:, -2:])
        terms = np.concatenate(
            [(end.final.number.numpy() * on_number).reshape(len(values), -1), end.gas[-1].numpy() * on_gas], axis=1
        )
        return terms.sum(axis=1), np.abs(terms).sum(axis=1)

    start = CompositionState.from_numpy(NUMBER, GRID, requires_grad=True)
    gas = wp.array(GAS[None], dtype=wp.float64, requires_grad=True)
    with wp.Tape() as tape:
        end = simulation.run(start, gas)
    seeds = {end.final.number: on_number[None], end.gas[-1]: on_gas[None]}
    tape.backward(grads={k: wp.array(v, dtype=wp.float64) for k, v in seeds.items()})
    gradient = np.concatenate([start.number.grad.numpy()[0, :-1].reshape(-1), gas.grad.numpy()[0]])
    assert_agrees(gradient, differences(loss, np.concatenate([NUMBER.reshape(-1), GAS]), scale=5e-3))


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="all species are"):
        Partitioning(VAPOURS).prepare(CompositionGrid(GRID.sizes, (LIGHT, HEAVY), 2), 1)
    with pytest.raises(ValueError, match="needed of bare"):
        Partitioning(VAPOURS).prepare(CompositionGrid(GRID.sizes, (Species("bare"), LIGHT, HEAVY), 2), 1)
