"""Geometry of pairs: each event keeps number and volume, whatever the grid."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.processes._pairs import (
    PairGeometry,
    cell_average_pairs,
    fixed_pivot_pairs,
    semi_implicit_pairs,
    with_bulk_listed,
)

ratios = st.lists(st.floats(1.01, 4.0), min_size=2, max_size=30)


def volumes_of(steps: list[float]) -> np.ndarray:
    return 1e-24 * np.cumprod([1.0, *steps])


def all_pairs(pairs: PairGeometry) -> set[tuple[int, int]]:
    return set(zip(pairs.larger.tolist(), pairs.smaller.tolist(), strict=True))


@settings(deadline=None, derandomize=True)
@given(ratios)
def test_every_fixed_pivot_event_keeps_number_and_volume(steps: list[float]) -> None:
    volumes = volumes_of(steps)
    pairs = with_bulk_listed(fixed_pivot_pairs(volumes), True)
    pivots = np.append(volumes, pairs.top)
    interval = np.repeat(np.arange(pairs.bins + 1), np.diff(pairs.starts))
    events = np.where(pairs.larger == pairs.smaller, 0.5, 1.0)
    product = volumes[pairs.larger] + volumes[pairs.smaller]
    inside = interval < pairs.bins
    i = interval[inside]
    assert len(all_pairs(pairs)) == len(pairs.larger) == pairs.bins * (pairs.bins + 1) // 2
    assert_allclose((pairs.first + pairs.second)[inside], events[inside], rtol=1e-14)
    placed = pairs.first[inside] * pivots[i] + pairs.second[inside] * pivots[i + 1]
    assert_allclose(placed, (events * product)[inside], rtol=1e-11)
    assert_allclose(pairs.first[~inside], (events * product)[~inside], rtol=1e-14)
    assert np.all(pairs.first >= 0.0)
    assert np.all(pairs.second >= 0.0)


@settings(deadline=None, derandomize=True)
@given(ratios)
def test_cell_average_excess_stays_inside_its_cell(steps: list[float]) -> None:
    grid = SizeGrid.from_volumes(volumes_of(steps))
    pairs = with_bulk_listed(cell_average_pairs(grid.volumes, grid.edges), False)
    interval = np.repeat(np.arange(pairs.bins + 1), np.diff(pairs.starts))
    inside = interval < pairs.bins
    i = interval[inside]
    mean = grid.volumes[i] + pairs.second[inside] / pairs.first[inside] * pairs.spacing[i]
    assert np.all(mean >= grid.edges[i] * (1 - 1e-11))
    assert np.all(mean <= grid.edges[i + 1] * (1 + 1e-11))
    assert_allclose(mean, (grid.volumes[pairs.larger] + grid.volumes[pairs.smaller])[inside], rtol=1e-11)


@settings(deadline=None, derandomize=True)
@given(ratios)
def test_semi_implicit_donors_hand_on_all_that_leaves_them(steps: list[float]) -> None:
    """What a donor loses in an event with a partner equals what its targets receive."""
    volumes = volumes_of(steps)
    pairs = semi_implicit_pairs(fixed_pivot_pairs(volumes))
    target = np.repeat(np.arange(pairs.bins + 1), np.diff(pairs.starts))
    pivots = np.append(volumes, 1.0)
    received = np.zeros((pairs.bins, pairs.bins))
    np.add.at(received, (pairs.larger, pairs.smaller), pairs.first * pivots[target])
    assert_allclose(received, pairs.loss * volumes[:, None], rtol=1e-10, atol=1e-14 * volumes.max())
    assert np.all(target > pairs.larger)


def test_doubling_lands_on_a_pivot_exactly() -> None:
    """On a grid with ratio 2^(1/4) rounding must not put the doubled volume beside its pivot."""
    pairs = fixed_pivot_pairs(SizeGrid.from_ratio(1e-24, 2.0**0.25, 40).volumes)
    doubled = (pairs.larger == pairs.smaller) & (pairs.larger < 36)
    assert doubled.sum() == 36
    assert_allclose(pairs.first[doubled], 0.5, rtol=1e-10)
    assert np.all(pairs.second[doubled] <= 1e-10)


@pytest.mark.parametrize("ratio", [2.0**0.25, 2.0**0.5, 2.0, 3.0])
def test_bulk_partners_are_those_whose_product_stays_below_the_next_pivot(ratio: float) -> None:
    volumes = SizeGrid.from_ratio(1e-24, ratio, 20).volumes
    pairs = fixed_pivot_pairs(volumes)
    for j in range(19):
        stays = [k for k in range(j) if volumes[j] + volumes[k] < volumes[j + 1] * (1 - 1e-12)]
        assert pairs.bulk[j] == len(stays)
