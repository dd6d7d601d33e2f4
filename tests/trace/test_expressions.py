from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest

from retrograde.trace.expressions import Reduction, reported_reduction


class _Array:
    """Stands for a Warp array; says what its reader is computing from it."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values
        self.found: list[Reduction | None] = []

    def numpy(self) -> np.ndarray:
        self.found.append(reported_reduction(sys._getframe(1), self.values))
        return self.values


def _float_of_mean(r: _Array) -> object:
    return float(r.numpy().mean())


def _numpy_sum_over_count(r: _Array) -> object:
    n = 6
    return np.sum(r.numpy()) / n


def _sum_as_method(r: _Array) -> object:
    return r.numpy().sum().item()


def _half_of_sum(r: _Array) -> object:
    return 0.5 * float(np.sum(r.numpy().ravel()))


def _mean_as_double(r: _Array) -> object:
    return np.mean(r.numpy().astype(np.float64))


def _offset_mean(r: _Array) -> object:
    return 3.0 - 2.0 * r.numpy().mean()


def _through_a_name(r: _Array) -> object:
    values = r.numpy()
    return values.mean()


def _in_a_format(r: _Array) -> object:
    return f"loss {r.numpy().sum() / 3:.4f}"


def _dot_with_ones(r: _Array) -> object:
    return np.dot(r.numpy(), np.ones(6))


UNIFORM: tuple[tuple[Callable[[_Array], object], float], ...] = (
    (_float_of_mean, 1 / 6),
    (_numpy_sum_over_count, 1 / 6),
    (_sum_as_method, 1.0),
    (_half_of_sum, 0.5),
    (_mean_as_double, 1 / 6),
    (_offset_mean, -2 / 6),
    (_through_a_name, 1 / 6),
    (_in_a_format, 1 / 3),
)


def _element(r: _Array) -> object:
    return float(r.numpy()[0])


def _part(r: _Array) -> object:
    return r.numpy()[:3].sum()


def _weighted(r: _Array) -> object:
    return np.dot(r.numpy(), np.arange(6.0))


def _squares(r: _Array) -> object:
    return np.sum(np.square(r.numpy()))


def _norm(r: _Array) -> object:
    return np.linalg.norm(r.numpy())


def _absolute(r: _Array) -> object:
    return np.abs(r.numpy()).mean()


def _nothing(r: _Array) -> object:
    return r.numpy()


def _listed(r: _Array) -> object:
    return r.numpy().tolist()


def _largest(r: _Array) -> object:
    return r.numpy().max()


def _times_zero(r: _Array) -> object:
    return 0.0 * r.numpy().sum()


def _unknown_function(r: _Array) -> object:
    return sorted(r.numpy().tolist())[0]


OTHERS = (_element, _part, _weighted, _squares, _norm, _nothing, _listed, _largest, _times_zero, _unknown_function)

_VALUES = np.array([0.5, -1.0, 2.0, 0.25, 3.0, -0.125])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("report", "weight"), UNIFORM, ids=lambda x: getattr(x, "__name__", ""))
def test_weight_is_the_derivative_of_the_reported_number(
    report: Callable[[_Array], object], weight: float, dtype: type[np.floating]
) -> None:
    array = _Array(_VALUES.astype(dtype))
    report(array)
    (found,) = array.found
    assert found is not None
    assert found.weight == pytest.approx(weight, rel=1e-9)


@pytest.mark.parametrize("report", OTHERS, ids=lambda f: f.__name__)
def test_what_is_no_uniform_reduction_is_refused(report: Callable[[_Array], object]) -> None:
    array = _Array(_VALUES)
    report(array)
    assert array.found == [None]


def test_two_reads_on_one_line_are_told_apart() -> None:
    first, second = _Array(_VALUES), _Array(_VALUES)
    _ = (first.numpy().mean(), second.numpy().sum())
    weights = [r.weight for r in (*first.found, *second.found) if r is not None]
    assert weights == pytest.approx([1 / 6, 1.0])


def test_source_is_as_the_user_wrote_it() -> None:
    array = _Array(_VALUES)
    _float_of_mean(array)
    assert array.found[0] is not None
    assert array.found[0].source == "float(r.numpy().mean())"


@pytest.mark.parametrize("values", [np.array([1.0, np.nan, 2.0]), np.array([1.0, np.inf]), np.arange(4)])
def test_contents_that_cannot_be_weighed_are_refused(values: np.ndarray) -> None:
    array = _Array(values)
    _float_of_mean(array)
    assert array.found == [None]


def test_evaluating_the_expression_again_has_no_side_effect() -> None:
    calls: list[int] = []

    def mean(values: np.ndarray) -> float:
        calls.append(1)
        return float(values.mean())

    array = _Array(_VALUES)
    _ = mean(array.numpy())
    assert len(calls) == 1
