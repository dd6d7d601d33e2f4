from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pytest
from tests.gradients.functions import FAMILIES, Sample, accumulated, cancelling, kinked, smooth

from retrograde.gradients.differences import Derivative, differentiate, sparing, steps_for
from retrograde.gradients.rungs import Direction
from retrograde.gradients.slopes import admits

_SEEDS = 50
_KINDS = (np.float32, np.float64)
Family = Callable[[np.random.Generator, type[np.floating]], Sample]


def _sample(family: Family, kind: type[np.floating], seed: int) -> Sample:
    return family(np.random.default_rng([seed, FAMILIES.index(family)]), kind)


def _admits_truth(found: Derivative, sample: Sample) -> bool:
    """Whether some subgradient lies in the error bar, and both sides of a kink where one was found."""
    if found.kink and sample.low != sample.high:
        return found.admits(sample.low) and found.admits(sample.high)
    return any(found.admits(v) for v in np.linspace(sample.low, sample.high, 41))


@pytest.mark.parametrize("kind", _KINDS, ids=lambda k: k.__name__)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.__name__)
def test_error_bar_holds_the_truth(family: Family, kind: type[np.floating]) -> None:
    for seed in range(_SEEDS):
        sample = _sample(family, kind, seed)
        found = differentiate(sample.values, steps_for(kind), floor=sample.floor)
        assert _admits_truth(found, sample), (seed, found, sample.low, sample.high)


@pytest.mark.parametrize(("kind", "sharp"), [(np.float32, 3e-3), (np.float64, 1e-8)], ids=["float32", "float64"])
@pytest.mark.parametrize("family", [smooth, accumulated], ids=lambda f: f.__name__)
def test_error_bar_is_narrow_where_the_function_allows_it(
    family: Family, kind: type[np.floating], sharp: float
) -> None:
    widths: list[float] = []
    for seed in range(_SEEDS):
        sample = _sample(family, kind, seed)
        found = differentiate(sample.values, steps_for(kind), floor=sample.floor)
        size = max(abs(sample.low), abs(sample.values([0.0])[0]))
        widths.append(found.error / size)
        planted = sample.low + 2.5 * found.error
        assert not found.admits(planted)
    assert np.median(widths) < sharp


@pytest.mark.parametrize("kind", _KINDS, ids=lambda k: k.__name__)
@pytest.mark.parametrize("family", [smooth, accumulated, cancelling], ids=lambda f: f.__name__)
def test_few_steps_hold_the_truth_of_smooth_functions_too(family: Family, kind: type[np.floating]) -> None:
    steps = sparing(steps_for(kind))
    for seed in range(_SEEDS):
        sample = _sample(family, kind, seed)
        found = differentiate(sample.values, steps, wanted=0.1, floor=sample.floor)
        assert found.evaluations <= 16
        assert _admits_truth(found, sample), (seed, found, sample.low)


def test_a_clear_kink_is_found_with_both_its_sides() -> None:
    found = differentiate(lambda steps: [1.0 + abs(h) + 0.5 * h for h in steps], steps_for(np.float64))
    assert found.kink
    assert (found.left, found.right) == pytest.approx((-0.5, 1.5))
    assert found.admits(0.0)
    assert found.admits(1.5)
    assert not found.admits(1.6)
    assert not found.admits(-0.6)


@pytest.mark.parametrize("bend", [0.2, -0.01])
def test_a_kink_is_found_where_the_function_bends_much_more_at_larger_steps(bend: float) -> None:
    def function(steps: Sequence[float]) -> list[float]:
        return [float(np.float32(0.5 * bend * abs(h) - 0.1 * h + np.sin(1.5 * h) ** 2 - 0.14)) for h in steps]

    found = differentiate(function, steps_for(np.float32))
    assert found.kink
    assert (found.left, found.right) == pytest.approx((-0.1 - 0.5 * bend, -0.1 + 0.5 * bend), abs=found.error)
    assert found.error < 0.1 * abs(bend)


def test_along_several_kinks_at_once_nothing_is_refuted() -> None:
    kinks = np.array([1.0, -1.0, 1.0, -1.0, 0.5])
    gradient = 1.0 - kinks  # of the side where all arguments fall

    def function(steps: Sequence[float], vector: npt.NDArray[np.float64]) -> list[float]:
        return [float(np.sum(h * vector + kinks * np.abs(h * vector))) for h in steps]

    def direction(vector: npt.NDArray[np.float64], predicted: float) -> Direction:
        found = differentiate(lambda steps: function(steps, vector), steps_for(np.float64))
        assert found.kink
        sides = {"left": found.left, "right": found.right}
        return Direction("", predicted, None, None, found.value, found.error, **sides, vector=vector)

    vector = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    told = direction(vector, float(gradient @ vector))
    assert told.left is not None
    assert told.right is not None
    assert not min(told.left, told.right) <= float(gradient @ vector) <= max(told.left, told.right)
    assert admits(told, told.consumed) is None
    for element in range(kinks.size):
        alone = np.eye(kinks.size)[element]
        assert admits(direction(alone, gradient[element]), gradient[element]) is True
        assert admits(direction(alone, gradient[element] - 4.0), gradient[element] - 4.0) is False


@pytest.mark.parametrize("kind", _KINDS, ids=lambda k: k.__name__)
def test_a_kink_that_is_not_seen_is_within_the_doubt(kind: type[np.floating]) -> None:
    for seed in range(_SEEDS):
        sample = _sample(kinked, kind, seed)
        found = differentiate(sample.values, sparing(steps_for(kind)), floor=sample.floor)
        if not found.kink and np.isfinite(found.error):
            assert max(abs(sample.low - found.value), abs(sample.high - found.value)) <= found.doubt


@pytest.mark.parametrize("kind", _KINDS, ids=lambda k: k.__name__)
def test_smooth_functions_have_no_kink(kind: type[np.floating]) -> None:
    for seed in range(_SEEDS):
        sample = _sample(smooth, kind, seed)
        assert not differentiate(sample.values, steps_for(kind)).kink


def test_most_kinks_are_seen_in_double_precision() -> None:
    samples = [_sample(kinked, np.float64, seed) for seed in range(_SEEDS)]
    found = [differentiate(s.values, steps_for(np.float64)).kink for s in samples]
    assert sum(found) >= 0.9 * len(found)


def test_remainder_of_central_differences_has_order_two() -> None:
    found = differentiate(lambda steps: [float(np.exp(2.0 * h)) for h in steps], steps_for(np.float64))
    assert found.value == pytest.approx(2.0, abs=1e-9)
    assert found.order == pytest.approx(2.0, abs=0.05)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_function_without_values_has_no_derivative(bad: float) -> None:
    found = differentiate(lambda steps: [bad for _ in steps], steps_for(np.float64))
    assert found.error == np.inf
    assert not found.admits(float("nan"))


def test_a_function_that_fails_on_one_side_claims_nothing_false() -> None:
    def function(steps: Sequence[float]) -> list[float]:
        return [float(np.sqrt(h)) if h >= 0.0 else float("nan") for h in steps]

    assert differentiate(function, steps_for(np.float64)).error == np.inf


def test_noise_that_is_known_beforehand_widens_the_bar() -> None:
    def function(steps: Sequence[float]) -> list[float]:
        return [float(np.sin(h)) for h in steps]

    bare = differentiate(function, steps_for(np.float64))
    floored = differentiate(function, steps_for(np.float64), floor=1e-6)
    assert floored.error > 100.0 * bare.error
    assert floored.admits(1.0)


def test_steps_are_asked_for_side_by_side_and_only_once() -> None:
    asked: list[list[float]] = []

    def function(steps: Sequence[float]) -> list[float]:
        asked.append(list(steps))
        return [float(np.float32(np.sin(h))) for h in steps]

    found = differentiate(function, steps_for(np.float32))
    flat = [h for steps in asked for h in steps]
    assert len(flat) == len(set(flat)) == found.evaluations
    assert len(asked) <= 3
