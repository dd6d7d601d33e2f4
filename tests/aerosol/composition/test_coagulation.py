"""Coagulation by size and composition: conservation, exact mixing states, literal formulae, every gradient."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import warp as wp
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from tests.aerosol.processes.references import assert_agrees, differences

from retrograde.aerosol import SizeGrid
from retrograde.aerosol.composition import (
    CompositionGrid,
    CompositionSimulation,
    CompositionState,
    Species,
    mixing_state_index_by_size,
)
from retrograde.aerosol.exact import additive_kmers, constant_kmers, product_kmers
from retrograde.aerosol.exact.mixing import mixing_state_index
from retrograde.aerosol.losses import MixingStateLoss
from retrograde.aerosol.physics import AdditiveKernel, CoagulationKernel, ConstantKernel, ProductKernel
from retrograde.aerosol.processes import CoagulationCellAverage, CoagulationFixedPivot, Dilution, FirstOrderLoss
from retrograde.aerosol.simulation import PositivityError, Simulation

Floats = NDArray[np.float64]
PAIR = (Species("a", 1000.0), Species("b", 1800.0, 0.6))
V0, N0 = 1e-21, 1e12


def grid(bins: int = 5, levels: int = 3, species: tuple[Species, ...] = PAIR, ratio: float = 1.7) -> CompositionGrid:
    return CompositionGrid(SizeGrid.from_ratio(V0, ratio, bins), species, levels)


def literal_tendency(number: Floats, kernel: Floats, g: CompositionGrid) -> Floats:
    """Pair by pair of cells, two species, by linear interpolation in either coordinate; rows as in states."""
    result = np.zeros((g.rows, g.fractions))
    v, f = g.row_volumes, np.arange(g.levels + 1) / g.levels
    cells = [(i, c) for i in range(g.bins) for c in range(g.fractions)]
    for i, c in cells:
        for j, d in cells:
            rate = 0.5 * kernel[i, j] * number[i, c] * number[j, d]
            result[i, c] -= rate
            result[j, d] -= rate
            product = v[i] + v[j]
            share = (v[i] * f[c] + v[j] * f[d]) / product
            rate *= max(1.0, product / v[-1])
            sizes = np.interp(product, v, np.arange(g.rows))
            low = min(int(sizes), g.rows - 2)
            up = min((product - v[low]) / (v[low + 1] - v[low]), 1.0)
            left = min(int(share * g.levels + 1e-12), g.levels - 1)
            right = share * g.levels - left
            result[low : low + 2, left : left + 2] += rate * np.outer([1 - up, up], [1 - right, right])
    return result


def test_the_tendency_is_that_of_all_pairs() -> None:
    g = grid()
    rng = np.random.default_rng(5)
    number = N0 * rng.uniform(0.1, 1.0, (5, 4))
    kernel = 1e-15 * (1.0 + np.add.outer(np.arange(5), np.arange(5)))
    step = 1e-9
    simulation = CompositionSimulation(g, (CoagulationFixedPivot(kernel),), np.array([0.0, step]))
    end = simulation.run(CompositionState.from_numpy(number, g)).final
    start = np.concatenate([number, np.zeros((1, 4))])
    tendency = (end.number.numpy()[0] - start) / step
    expected = literal_tendency(number, kernel, g)
    assert_allclose(tendency, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize(
    "species", [PAIR, (*PAIR, Species("c", 1300.0)), (*PAIR, Species("c", 1300.0), Species("d", 900.0)), PAIR[:1]]
)
def test_every_species_is_kept_over_a_long_horizon(species: tuple[Species, ...]) -> None:
    """Most of the mass has left the grid at the end, and none of it is lost."""
    g = grid(bins=6, levels=3, species=species)
    number = N0 * np.random.default_rng(6).uniform(size=(2, 6, g.fractions))
    start = CompositionState.from_numpy(number, g)
    trajectory = CompositionSimulation(
        g, (CoagulationFixedPivot(ConstantKernel(1e-15)),), np.linspace(0.0, 2e4, 3), substeps=None
    ).run(start)
    assert (trajectory.final.outside_mass() > 0.5 * start.species_mass()).all()
    for state in trajectory.states[1:]:
        assert_allclose(state.species_mass() + state.outside_mass(), start.species_mass(), rtol=1e-13)
        assert state.number.numpy().min() >= 0.0


def test_sizes_are_those_of_the_sectional_model() -> None:
    """For kernels blind to composition the sum over compositions obeys the sectional equations."""
    g = grid(bins=8, levels=4)
    number = N0 * np.random.default_rng(7).uniform(size=(1, 8, 5))
    processes = (CoagulationFixedPivot(AdditiveKernel(1e-15 / V0)), Dilution(1e-4), FirstOrderLoss(np.full(8, 2e-4)))
    times = np.array([0.0, 20.0, 50.0])
    start = CompositionState.from_numpy(number, g)
    by_both = CompositionSimulation(g, processes, times, substeps=40).run(start)
    by_size = Simulation(g.sizes, processes, times, substeps=40).run(start.sectional())
    assert_allclose(by_both.numpy().sum(axis=3), by_size.numpy(), rtol=1e-12)


CASES: list[tuple[CoagulationKernel, Callable[[Floats], Floats], float]] = [
    (ConstantKernel(1e-15), lambda k: constant_kmers(k, 1.0), 1.0),
    (AdditiveKernel(1e-15 / V0), lambda k: additive_kmers(k, 0.5), 0.5),
    (ProductKernel(1e-15 / V0**2), lambda k: product_kmers(k, 0.5), 0.5),
]


@pytest.mark.parametrize("phi", [0.5, 0.2])
@pytest.mark.parametrize(("kernel", "kmers", "time"), CASES, ids=["constant", "additive", "product"])
def test_chi_is_exact_in_the_limit_of_fine_compositions(kernel, kmers, time, phi: float) -> None:
    """Within 1e-2 on 10 compositions, nearer on 20; a model without them is far off."""
    exact = mixing_state_index(kmers, [phi, 1.0 - phi])
    errors = []
    for levels in (5, 10, 20):
        g = CompositionGrid(SizeGrid.from_ratio(V0, 2.0, 9), (Species("a"), Species("b")), levels)
        one = np.eye(9)[0]
        start = CompositionState.from_populations([(N0 * phi * one, [1, 0]), (N0 * (1 - phi) * one, [0, 1])], g)
        end = CompositionSimulation(
            g, (CoagulationFixedPivot(kernel),), np.array([0.0, time / (1e-15 * N0)]), substeps=200
        ).run(start)
        errors.append(end.final.mixing_state_index()[0] - exact)
    assert abs(errors[1]) < 1e-2
    assert abs(errors[2]) < 0.5 * abs(errors[1]) < 0.25 * abs(errors[0])
    assert mixing_state_index_by_size(end.final.numpy(), g)[0] - exact > 0.3


def test_the_derivative_of_chi_to_the_initial_mixture_is_the_exact_one_in_the_limit() -> None:
    """To the share of one species at the start; the exact one by differences of the exact chi. Of second order."""
    phi, end, bins = 0.3, 1.0 / (1e-15 * N0), 9

    def exact(share: float) -> float:
        return mixing_state_index(lambda k: constant_kmers(k, 1.0), [share, 1.0 - share])

    slope = (8 * (exact(phi + 1e-3) - exact(phi - 1e-3)) - (exact(phi + 2e-3) - exact(phi - 2e-3))) / 12e-3
    errors = []
    for levels in (5, 10, 20):
        g = CompositionGrid(SizeGrid.from_ratio(V0, 2.0, bins), (Species("a"), Species("b")), levels)
        number = np.zeros((bins, levels + 1))
        number[0, 0], number[0, -1] = N0 * phi, N0 * (1 - phi)
        start = CompositionState.from_numpy(number, g, requires_grad=True)
        simulation = CompositionSimulation(g, (CoagulationFixedPivot(CASES[0][0]),), [0.0, end], substeps=200)
        with wp.Tape() as tape:
            final = simulation.run(start).final
            loss = MixingStateLoss(g, 0.0)(final)
        tape.backward(grads={loss: wp.ones_like(loss)})
        gradient = start.number.grad.numpy()[0] / (2.0 * final.mixing_state_index()[0])
        errors.append(abs(N0 * (gradient[0, 0] - gradient[0, -1]) / slope - 1.0))
    assert errors[1] < 2e-2
    assert errors[2] < 0.5 * errors[1] < 0.25 * errors[0]


INTERVALS = np.array([0.0, 30.0, 90.0])
LOSSES = (Dilution(1e-3), FirstOrderLoss(1e-3 * np.linspace(1.0, 0.0, 5)))
THREE = (*PAIR, Species("c", 1300.0))


def simulation(g: CompositionGrid, store_every: int = 1) -> CompositionSimulation:
    kernel = 1e-15 * (1.0 + 0.1 * np.add.outer(np.arange(5), np.arange(5)))
    return CompositionSimulation(
        g, (CoagulationFixedPivot(kernel), *LOSSES), INTERVALS, substeps=3, store_every=store_every
    )


def cotangents(g: CompositionGrid) -> Floats:
    return np.random.default_rng(9).normal(size=(3, g.rows, g.fractions))


def taped_gradient(g: CompositionGrid, number: Floats, *, through_tape: bool = False, store_every: int = 1) -> Floats:
    state = CompositionState.from_numpy(number, g, requires_grad=True)
    with wp.Tape() as tape:
        trajectory = simulation(g, store_every).run(state, through_tape=through_tape)
    seeds = {
        s.number: wp.array(c[None], dtype=wp.float64) for s, c in zip(trajectory.states, cotangents(g), strict=True)
    }
    tape.backward(grads=seeds)
    return state.number.grad.numpy()[0].copy()


@pytest.mark.parametrize(
    ("species", "store_every"), [(PAIR, 1), (PAIR, 4), (THREE, 1)], ids=["two", "restored", "three"]
)
def test_every_element_of_the_gradient(species: tuple[Species, ...], store_every: int) -> None:
    """Cotangents of all cells at all times, what is above the grid included; every cell of the start."""
    g = grid(levels=3 if len(species) == 2 else 2, species=species)
    number = N0 * np.random.default_rng(8).uniform(0.2, 1.0, (5, g.fractions))

    def loss(numbers: Floats) -> tuple[Floats, Floats]:
        states = simulation(g).run(CompositionState.from_numpy(numbers.reshape(-1, 5, g.fractions), g)).states
        terms = np.stack([s.number.numpy() * c for s, c in zip(states, cotangents(g), strict=True)], axis=1)
        return terms.sum(axis=(1, 2, 3)), np.abs(terms).sum(axis=(1, 2, 3))

    gradient = taped_gradient(g, number, store_every=store_every)
    assert_agrees(gradient[:-1].reshape(-1), differences(loss, number.reshape(-1)))
    by_warp = taped_gradient(g, number, through_tape=True)
    assert_allclose(gradient, by_warp, rtol=1e-12, atol=1e-14 * np.abs(by_warp).max())


def test_what_does_not_fit_is_refused() -> None:
    g = grid()
    with pytest.raises(ValueError, match="fixed pivot, not the cell average"):
        CompositionSimulation(g, (CoagulationCellAverage(ConstantKernel(1.0)),), INTERVALS)
    with pytest.raises(ValueError, match="no composition is known"):
        CompositionSimulation(g, (Dilution(1e-3, np.ones(5)),), INTERVALS)
    crowded = CompositionState.from_numpy(np.full((5, 4), 1e13), g)
    with pytest.raises(PositivityError):
        simulation(g).run(crowded)
    with pytest.raises(ValueError, match="its grid differs"):
        simulation(g).run(CompositionState.from_numpy(np.ones((6, 4)), grid(bins=6)))
