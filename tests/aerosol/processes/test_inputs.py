"""Bad input to processes: refused with field, shape and unit."""

from __future__ import annotations

import numpy as np
import pytest

from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.physics import BrownianKernel, ConstantKernel, ConstantLoss
from retrograde.aerosol.processes import CoagulationCellAverage, CoagulationFixedPivot, Dilution, FirstOrderLoss
from retrograde.aerosol.processes.terms import total
from retrograde.aerosol.states import Environment

GRID = SizeGrid.from_ratio(1e-24, 2.0, 5)
ONES = np.full((5, 5), 1e-15)


def changed(index: tuple[int, int], value: float) -> np.ndarray:
    table = ONES.copy()
    table[index] = value
    return table


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (ONES[0], r"kernel \[m\^3 s\^-1\]: expected shape \[bins, bins\] or \[boxes, bins, bins\], got \[5\]"),
        (ONES[:4], r"got \[4, 5\]"),
        (changed((1, 1), np.nan), "finite"),
        (changed((1, 1), -1e-15), "not negative"),
        (changed((1, 2), 2e-15), "symmetric"),
    ],
)
def test_tables_are_checked(kernel: np.ndarray, message: str) -> None:
    for process in (CoagulationFixedPivot, CoagulationCellAverage):
        with pytest.raises(ValueError, match=message):
            process(kernel)


@pytest.mark.parametrize(
    ("process", "message"),
    [
        (CoagulationFixedPivot(np.ones((4, 4))), r"kernel .*\[4, 4\], but the grid has 5 bins"),
        (FirstOrderLoss(np.ones(4)), r"rate \[s\^-1\]: expected shape .* 5 bins on the grid, got \[4\]"),
        (Dilution(0.1, np.ones((2, 6))), r"background \[m\^-3\]: .*got \[2, 6\]"),
    ],
)
def test_processes_are_checked_against_the_grid(process: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        total((process,), GRID)


def test_rates_are_checked() -> None:
    with pytest.raises(ValueError, match=r"rate \[s\^-1\]: expected finite"):
        FirstOrderLoss(np.array([0.1, -0.1]))
    with pytest.raises(ValueError, match=r"rate \[s\^-1\]: expected a number or shape \[boxes\], got \[1, 2\]"):
        Dilution(np.array([[0.1, 0.1]]))
    with pytest.raises(ValueError, match=r"background \[m\^-3\]"):
        Dilution(0.1, np.array([np.inf] * 5))


def test_boxes_must_agree() -> None:
    with pytest.raises(ValueError, match="different numbers of boxes"):
        total((Dilution(np.ones(2)), FirstOrderLoss(np.ones((3, 5)))), GRID)
    with pytest.raises(ValueError, match=r"different numbers of boxes: \[2, 3\]"):
        total((Dilution(np.ones(2)), CoagulationFixedPivot(np.ones((3, 5, 5)))), GRID)


def test_two_coagulations_are_one_too_many() -> None:
    with pytest.raises(ValueError, match="one coagulation process, got two"):
        total((CoagulationFixedPivot(ONES), CoagulationCellAverage(ONES)), GRID)


def test_one_bin_cannot_coagulate() -> None:
    with pytest.raises(ValueError, match="at least 2 bins"):
        total((CoagulationFixedPivot(np.ones((1, 1))),), SizeGrid.from_volumes([1e-24], [0.5e-24, 2e-24]))


def test_boxes_share_a_table_where_their_air_is_equal() -> None:
    shared = total((CoagulationFixedPivot(BrownianKernel(), Environment.uniform(4)),), GRID)
    assert shared.coagulation is not None
    assert shared.coagulation.kernel.shape == (5, 5)
    assert shared.boxes is None
    warm = Environment(np.array([280.0, 300.0, 280.0]), np.full(3, 1e5))
    own = total((CoagulationFixedPivot(BrownianKernel(), warm),), GRID)
    assert own.coagulation is not None
    assert own.coagulation.kernel.shape == (3, 5, 5)
    assert np.array_equal(own.coagulation.kernel[0], own.coagulation.kernel[2])
    assert not np.array_equal(own.coagulation.kernel[0], own.coagulation.kernel[1])


def test_laws_of_the_physics_are_taken_as_they_are() -> None:
    terms = total((CoagulationFixedPivot(ConstantKernel(1e-15)), FirstOrderLoss(ConstantLoss(0.25))), GRID)
    assert terms.coagulation is not None
    assert np.all(terms.coagulation.kernel == 1e-15)
    assert np.all(terms.removal == 0.25)
