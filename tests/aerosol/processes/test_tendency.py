"""Short steps against the literal equations, and what holds exactly for steps of any kind."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import warp as wp
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from tests.aerosol.processes.references import cell_average_tendency, fixed_pivot_tendency

from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.processes import (
    CoagulationCellAverage,
    CoagulationFixedPivot,
    Dilution,
    FirstOrderLoss,
    Integration,
    Method,
)
from retrograde.aerosol.processes.coagulation import Coagulation
from retrograde.aerosol.processes.integration import Plan
from retrograde.aerosol.processes.terms import Process, total

Floats = NDArray[np.float64]
Reference = Callable[[Floats, Floats, SizeGrid], Floats]
SCHEMES = [(CoagulationFixedPivot, fixed_pivot_tendency), (CoagulationCellAverage, cell_average_tendency)]
IRREGULAR = 1e-24 * np.cumprod(np.random.default_rng(1).uniform(1.02, 2.6, 17))
GRIDS = [
    SizeGrid.from_ratio(1e-24, 2.0**0.5, 21),
    SizeGrid.from_ratio(1e-24, 2.0**0.25, 23),
    SizeGrid.from_ratio(1e-24, 3.0, 9),
    SizeGrid.from_volumes(IRREGULAR),
]


def table(bins: int, seed: int = 0, boxes: int | None = None) -> Floats:
    shape = (bins, bins) if boxes is None else (boxes, bins, bins)
    values = 1e-15 * np.random.default_rng(seed).uniform(0.5, 2.0, shape)
    return values + np.swapaxes(values, -1, -2)


def step_once(
    processes: tuple[Process, ...],
    grid: SizeGrid,
    number: Floats,
    duration: float,
    method: Method = Method.HEUN,
    substeps: int = 1,
    lanes: int | None = None,
) -> tuple[Floats, Floats]:
    plan = Plan(np.array([duration]), substeps, 1, method)
    integration = Integration(total(processes, grid), plan, len(number), device="cpu", lanes=lanes)
    integration.forward(wp.array(number, dtype=wp.float64, device="cpu"))
    return integration.number.numpy()[1].copy(), integration.escaped_volume.numpy()[1].copy()


@pytest.mark.parametrize("grid", GRIDS, ids=["sqrt2", "fourth-root", "three", "irregular"])
@pytest.mark.parametrize(("scheme", "reference"), SCHEMES)
@pytest.mark.parametrize("lanes", [1, 8, 16, 32])
def test_tendency_is_the_literal_one(
    scheme: type[Coagulation], reference: Reference, grid: SizeGrid, lanes: int
) -> None:
    """The matrix products and pair lists add up to the published equations, box by box."""
    kernel = table(grid.bins)
    number = 1e11 * np.random.default_rng(2).random((3, grid.bins))
    h = 1.0
    after, escaped = step_once((scheme(kernel),), grid, number, h, lanes=lanes)
    for box in range(3):
        f = reference(number[box], kernel, grid)
        stage = number[box] + h * f[:-1]
        g = reference(stage, kernel, grid)
        assert_allclose(after[box], number[box] + 0.5 * h * (f + g)[:-1], rtol=1e-12)
        assert_allclose(escaped[box], 0.5 * h * (f + g)[-1], rtol=1e-12)


@pytest.mark.parametrize("scheme", [CoagulationFixedPivot, CoagulationCellAverage])
@pytest.mark.parametrize("lanes", [1, 16])
def test_tables_by_box_act_as_shared_ones_do(scheme: type[Coagulation], lanes: int) -> None:
    grid = GRIDS[0]
    kernels = table(grid.bins, boxes=3)
    number = 1e11 * np.random.default_rng(3).random((3, grid.bins))
    together, escaped = step_once((scheme(kernels),), grid, number, 20.0, substeps=5, lanes=lanes)
    for box in range(3):
        alone, out = step_once((scheme(kernels[box]),), grid, number[box : box + 1], 20.0, substeps=5, lanes=1)
        assert_allclose(together[box], alone[0], rtol=1e-13)
        assert_allclose(escaped[box], out[0], rtol=1e-13)


def test_semi_implicit_tables_by_box_act_as_shared_ones_do() -> None:
    grid = GRIDS[3]
    kernels = table(grid.bins, boxes=3)
    number = 1e11 * np.random.default_rng(3).random((3, grid.bins))
    options = {"method": Method.SEMI_IMPLICIT, "substeps": 5}
    together, _ = step_once((CoagulationFixedPivot(kernels),), grid, number, 20.0, **options)
    for box in range(3):
        alone, _ = step_once((CoagulationFixedPivot(kernels[box]),), grid, number[box : box + 1], 20.0, **options)
        assert_allclose(together[box], alone[0], rtol=1e-13)


@pytest.mark.parametrize(
    ("scheme", "method"),
    [
        (CoagulationFixedPivot, Method.HEUN),
        (CoagulationCellAverage, Method.HEUN),
        (CoagulationFixedPivot, Method.SEMI_IMPLICIT),
    ],
)
@pytest.mark.parametrize("grid", GRIDS, ids=["sqrt2", "fourth-root", "three", "irregular"])
def test_volume_is_kept_to_rounding(scheme: type[Coagulation], method: Method, grid: SizeGrid) -> None:
    """Over 5,000 steps, with half of the volume growing past the top of a short grid."""
    number = 1e11 * np.random.default_rng(4).random((2, grid.bins))
    after, escaped = step_once((scheme(table(grid.bins)),), grid, number, 1e4, method, substeps=5000)
    before = number @ grid.volumes
    assert np.all(escaped > 0.2 * before)
    assert_allclose(after @ grid.volumes + escaped, before, rtol=1e-13)


@pytest.mark.parametrize("scheme", [CoagulationFixedPivot, CoagulationCellAverage])
def test_a_single_filled_bin_never_makes_a_negative_number(scheme: type[Coagulation]) -> None:
    """From one filled bin, products land on pivots exactly: rounding must not push a bin below zero."""
    grid = SizeGrid.from_ratio(1e-24, 2.0**0.25, 40)
    number = np.zeros((1, 40))
    number[0, 3] = 1e12
    for substeps in (1, 2, 3, 10):
        after, _ = step_once((scheme(np.full((40, 40), 1e-15)),), grid, number, 900.0, substeps=substeps)
        assert np.all(after >= 0.0)


def test_semi_implicit_steps_of_any_length_stay_positive() -> None:
    grid = GRIDS[0]
    number = 1e13 * np.random.default_rng(5).random((2, grid.bins))
    before = number @ grid.volumes
    for duration in (1.0, 1e3, 1e6, 1e9):
        after, escaped = step_once((CoagulationFixedPivot(table(grid.bins)),), grid, number, duration,
                                   Method.SEMI_IMPLICIT)  # fmt: skip
        assert np.all(after >= 0.0)
        assert_allclose(after @ grid.volumes + escaped, before, rtol=1e-13)


def test_removal_alone_decays_as_heun_says() -> None:
    grid = GRIDS[0]
    rates = np.linspace(1e-4, 1e-2, grid.bins)
    number = np.full((2, grid.bins), 1e9)
    after, _ = step_once((FirstOrderLoss(rates), Dilution(np.array([0.0, 2e-3]))), grid, number, 50.0, substeps=10)
    z = -5.0 * (rates + np.array([[0.0], [2e-3]]))
    assert_allclose(after, number * (1.0 + z + 0.5 * z**2) ** 10, rtol=1e-13)


def test_dilution_tends_to_the_background() -> None:
    grid = GRIDS[0]
    background = 1e9 * np.random.default_rng(6).random((2, grid.bins))
    number = np.full((2, grid.bins), 1e10)
    after, _ = step_once((Dilution(1e-2, background),), grid, number, 1e4, substeps=500)
    assert_allclose(after, background, rtol=1e-10)


def test_boxes_do_not_see_each_other() -> None:
    """A box's result is the same alone as among 69 others, padding included."""
    grid = GRIDS[0]
    number = 1e11 * np.random.default_rng(7).random((70, grid.bins))
    processes = (CoagulationFixedPivot(table(grid.bins)),)
    together, _ = step_once(processes, grid, number, 30.0, substeps=6, lanes=16)
    for box in (0, 17, 69):
        alone, _ = step_once(processes, grid, number[box : box + 1], 30.0, substeps=6, lanes=16)
        assert_allclose(together[box], alone[0], rtol=0.0, atol=0.0)
