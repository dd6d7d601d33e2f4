from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from tests.gradients.functions import FAMILIES, Sample, accumulated, cancelling, kinked, smooth

from retrograde.gradients.differences import Derivative, differentiate, sparing, steps_for

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
