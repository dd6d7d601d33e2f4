"""Losses on hygroscopicity and mixing state: values, every element of the gradient, and the ends of their domains."""

from __future__ import annotations

import numpy as np
import pytest
import warp as wp
from numpy.testing import assert_allclose
from tests.aerosol.losses import reference as ref
from tests.aerosol.processes.references import assert_agrees, differences

from retrograde.aerosol import SizeGrid
from retrograde.aerosol.composition import CompositionGrid, CompositionState, Species
from retrograde.aerosol.losses import CellLoss, CompositionLoss, KappaLoss, LineDistance, MixingStateLoss, SizeKappaLoss
from retrograde.aerosol.losses.composition import Line

SALT, SOOT, ORGANIC = Species("salt", 2000.0, 1.1), Species("soot", 1800.0), Species("organic", 1300.0, 0.1)
GRID = CompositionGrid(SizeGrid.geometric(5e-8, 3e-7, bins_per_decade=6), (SOOT, SALT, ORGANIC), 3)
RNG = np.random.default_rng(11)
SHAPE = (2, GRID.bins, GRID.fractions)
NUMBER, TARGET = RNG.lognormal(20.0, 0.7, SHAPE), RNG.lognormal(20.0, 0.7, SHAPE)
GOAL = CompositionState.from_numpy(TARGET, GRID)
LOSSES = {
    **{f"kappa, {d.value}": KappaLoss(GOAL, d) for d in LineDistance},
    **{f"size and kappa, {d.value}": SizeKappaLoss(GOAL, d, slices=5) for d in LineDistance},
    "cells": CellLoss(GOAL, 1e8 * RNG.uniform(1.0, 2.0, SHAPE[1:])),
    "chi": MixingStateLoss(GRID, [0.3, 0.9], scale=0.1),
}
REFERENCES = {LineDistance.CRAMER: ref.cramer, LineDistance.WASSERSTEIN1: ref.wasserstein1}
every_loss = pytest.mark.parametrize("name", LOSSES)


def values(loss: CompositionLoss, number: np.ndarray, grid: CompositionGrid = GRID) -> np.ndarray:
    return loss(CompositionState.from_numpy(number, grid)).numpy()


def gradients(loss: CompositionLoss, number: np.ndarray, grid: CompositionGrid = GRID) -> np.ndarray:
    return loss.gradient(CompositionState.from_numpy(number, grid)).numpy()


@every_loss
def test_every_element_of_the_gradient(name: str) -> None:
    """By differences box by box; what is above the grid has none."""
    loss = LOSSES[name]
    gradient = gradients(loss, NUMBER)
    assert not gradient[:, -1].any()
    for box in range(2):

        def one(numbers: np.ndarray, box: int = box) -> tuple[np.ndarray, np.ndarray]:
            several = numbers.reshape(-1, *SHAPE[1:])
            repeated = np.stack([several, several], axis=1).reshape(-1, *SHAPE[1:])
            value = np.array([values(loss, pair)[box] for pair in repeated.reshape(-1, *SHAPE)])
            return value, 4.0 * np.abs(value) + 1e-3

        scale = 1e-3 if "wasserstein" in name else 1e-2
        assert_agrees(gradient[box, :-1].reshape(-1), differences(one, NUMBER[box].reshape(-1), scale))


@every_loss
def test_the_gradient_is_the_same_on_a_tape(name: str) -> None:
    loss = LOSSES[name]
    state = CompositionState.from_numpy(NUMBER, GRID, requires_grad=True)
    with wp.Tape() as tape:
        value = loss(state)
    tape.backward(grads={value: wp.ones_like(value)})
    assert_allclose(state.number.grad.numpy(), gradients(loss, NUMBER), rtol=1e-14)


@pytest.mark.parametrize("distance", list(REFERENCES))
def test_distances_of_kappa_are_the_integrals_they_say(distance: LineDistance) -> None:
    """By the independent integrals of the losses on ln D, on the axis of kappa."""
    kappas, number = CompositionState.from_numpy(NUMBER, GRID).kappa_distribution()
    edges = np.concatenate(
        [[1.5 * kappas[0] - 0.5 * kappas[1]], 0.5 * (kappas[1:] + kappas[:-1]), [1.5 * kappas[-1] - 0.5 * kappas[-2]]]
    )
    goal = GOAL.kappa_distribution()[1]
    found = values(KappaLoss(GOAL, distance), NUMBER)
    for box in range(2):
        assert float(found[box]) == pytest.approx(
            float(REFERENCES[distance](number[box], goal[box], edges.astype(np.longdouble))), rel=1e-12
        )


def test_moving_all_kappas_costs_the_way() -> None:
    """Pure salt against pure soot: the mean way is the difference of their kappas, at every size."""
    salt = CompositionState.from_populations([(TARGET[0, :, 0], [0, 1, 0])], GRID)
    soot = CompositionState.from_populations([(TARGET[0, :, 0], [1, 0, 0])], GRID)
    assert KappaLoss(soot, LineDistance.WASSERSTEIN1)(salt).numpy()[0] == pytest.approx(1.1, rel=0.05)
    both = SizeKappaLoss(soot, LineDistance.WASSERSTEIN1, slices=64)(salt).numpy()[0]
    assert both == pytest.approx(1.1 / 0.3 * 2.0 / np.pi, rel=0.05)


def test_joint_distances_see_what_neither_axis_shows() -> None:
    """Small soot with large salt, or the other way round: sizes and kappas agree, the pairs do not."""
    small, large = np.eye(GRID.bins)[0], np.eye(GRID.bins)[-1]
    one = CompositionState.from_populations([(small, [1, 0, 0]), (large, [0, 1, 0])], GRID)
    other = CompositionState.from_populations([(large, [1, 0, 0]), (small, [0, 1, 0])], GRID)
    assert_allclose(one.sectional().numpy(), other.sectional().numpy())
    assert KappaLoss(one)(other).numpy()[0] < 1e-30
    assert SizeKappaLoss(one)(other).numpy()[0] > 0.1


@every_loss
def test_equal_states_are_at_no_distance(name: str) -> None:
    loss = LOSSES[name]
    if name == "chi":
        loss = MixingStateLoss(GRID, GOAL.mixing_state_index())
    assert np.all(values(loss, TARGET) < 1e-25)
    assert np.abs(gradients(loss, TARGET) * GOAL.number.numpy()).max() < 1e-11


@every_loss
def test_pure_particles_empty_cells_and_empty_boxes_are_finite(name: str) -> None:
    loss = LOSSES[name]
    pure = np.zeros(SHAPE)
    corners = [int(np.flatnonzero(GRID.volume_fractions[:, s] == 1.0)[0]) for s in range(3)]
    pure[0, :, corners[0]] = pure[0, :, corners[1]] = 1e9
    for number in (pure, np.zeros(SHAPE), np.roll(pure, 1, axis=0)):
        assert np.isfinite(values(loss, number)).all()
        assert np.isfinite(gradients(loss, number)).all()
    if name == "chi":
        assert values(loss, pure)[1] == 0.0
        assert values(loss, pure)[0] == pytest.approx((0.3 / 0.1) ** 2, rel=1e-12)


def test_one_species_alone_is_finite() -> None:
    """On a grid with one composition only, and on one with more."""
    alone = CompositionGrid(GRID.sizes, (SALT,), 1)
    number = np.ones((1, GRID.bins, 1))
    goal = CompositionState.from_numpy(number, alone)
    for loss in (MixingStateLoss(alone, 0.5), KappaLoss(goal), SizeKappaLoss(goal)):
        assert np.abs(values(loss, number, alone)).max() < 1e-25
        assert np.isfinite(gradients(loss, number, alone)).all()
    salt = CompositionState.from_populations([(np.ones(GRID.bins), [0, 1, 0])], GRID)
    assert MixingStateLoss(GRID, 0.5)(salt).numpy()[0] == 0.0
    assert not MixingStateLoss(GRID, 0.5).gradient(salt).numpy().any()


def test_the_slope_of_chi_to_a_trace_of_a_species_is_that_of_the_function_used() -> None:
    """Below a share of 1e-12 its logarithm is held: steps there agree with the derivative at nothing."""
    number = np.zeros(SHAPE[1:])
    corners = [int(np.flatnonzero(GRID.volume_fractions[:, s] == 1.0)[0]) for s in range(3)]
    number[:, corners[0]] = number[:, corners[1]] = 1.0
    loss = MixingStateLoss(GRID, 0.5)
    gradient = gradients(loss, number[None])[0, 0, corners[2]]
    step = 1e-13 * number.sum()
    more = number.copy()
    more[0, corners[2]] += step
    slope = (values(loss, more[None])[0] - values(loss, number[None])[0]) / step
    assert gradient == pytest.approx(slope, rel=2e-2)


def test_positions_are_grouped_and_kept_apart() -> None:
    line = Line.through(np.array([1.0, 0.0, 1.0 + 1e-15, 3.0]))
    assert_allclose(line.edges, [-0.5, 0.5, 2.0, 4.0])
    assert line.cells.tolist() == [1, 0, 2, 3]
    assert line.starts.tolist() == [0, 1, 3, 4]


def test_what_does_not_fit_is_refused() -> None:
    state = CompositionState.from_numpy(NUMBER, GRID)
    other = CompositionState.from_numpy(np.ones((2, GRID.bins, 3)), CompositionGrid(GRID.sizes, (SALT, SOOT), 2))
    with pytest.raises(ValueError, match="its grid"):
        KappaLoss(GOAL)(other)
    with pytest.raises(ValueError, match="expected 3 boxes"):
        MixingStateLoss(GRID, [0.1, 0.2, 0.3])(state)
    with pytest.raises(ValueError, match=r"target \[1\]"):
        MixingStateLoss(GRID, 1.2)
    with pytest.raises(ValueError, match="is empty"):
        KappaLoss(CompositionState.from_numpy(np.zeros(SHAPE), GRID))
    with pytest.raises(ValueError, match="scale"):
        CellLoss(GOAL, np.ones(3))
    with pytest.raises(ValueError, match="slices"):
        SizeKappaLoss(GOAL, slices=0)
