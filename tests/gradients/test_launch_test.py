from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warp as wp
from tests.gradients import kernels as k
from tests.gradients.programs import N, doubles
from tests.trace.recording import record

from retrograde.gradients.launch_test import LaunchState, judge, multiplies, numeric_vjp, rewritten_paths
from retrograde.gradients.memory import Memory
from retrograde.gradients.policy import Moment
from retrograde.gradients.treatment import treatment_of
from retrograde.gradients.window import Window
from retrograde.trace.operations import Operation

_RNG = np.random.default_rng


def _inputs(count: int, seed: int = 5) -> list[wp.array]:
    rng = _RNG(seed)
    return [doubles(rng.uniform(0.3, 1.5, N)) for _ in range(count)]


def _launched(kernel: Any, inputs: list[Any], dim: int = N) -> tuple[Operation, Memory]:
    """One recorded launch, and memory as it was before it."""
    recording = record(lambda: wp.launch(kernel, dim, inputs, device="cpu"))
    (operation,) = recording.operations
    window = Window(recording, 0, 0, operation.accesses[0].ref)
    return operation, window.contents_before(0)


def _state() -> list[Any]:
    state = k.State()
    state.position, state.velocity = _inputs(2)
    return [state, 0.3]


def _vectors() -> list[Any]:
    rng = _RNG(2)
    x, y = (wp.array(rng.normal(size=(N, 3)), dtype=wp.vec3d, device="cpu") for _ in range(2))
    q = wp.array(rng.normal(size=(N, 4)), dtype=wp.quatd, device="cpu")
    m = wp.array(rng.normal(size=(N, 3, 3)), dtype=wp.mat33d, device="cpu")
    return [x, q, m, y]


def _overlapping() -> list[Any]:
    buffer = doubles(_RNG(1).uniform(0.5, 1.0, 12), shape=12)
    return [buffer[0:3], buffer[1:4]]


RIGHT: tuple[tuple[Any, Callable[[], list[Any]]], ...] = (
    (k.advance, lambda: _inputs(2)),
    (k.add_cubed, lambda: _inputs(2)),
    (k.gather_force, lambda: _inputs(2)),
    (k.push, lambda: _inputs(3)),
    (k.rightly_squared, lambda: _inputs(2)),
    (k.read_back, lambda: _inputs(3)),
)


@pytest.mark.parametrize(("kernel", "inputs"), RIGHT, ids=lambda x: getattr(x, "key", ""))
@pytest.mark.parametrize("seed", range(3))
def test_a_right_adjoint_passes_as_it_is(kernel: Any, inputs: Callable[[], list[Any]], seed: int) -> None:
    operation, before = _launched(kernel, inputs())
    treatment = treatment_of(operation, before, _RNG(seed))
    assert treatment.passed is True
    assert treatment.vjp is None
    assert Moment.BEFORE not in treatment.by_array.values()
    assert treatment.discrepancy < 1e-8


def test_reading_back_what_the_launch_wrote_needs_the_contents_after_it() -> None:
    operation, before = _launched(k.read_back, _inputs(3))
    state = LaunchState(operation, before)
    assert judge(state, {}, _RNG(0)).passed is True
    assert judge(state, {("y",): Moment.BEFORE}, _RNG(0)).passed is False


@pytest.mark.parametrize(
    ("kernel", "inputs", "path"),
    [
        (k.wear, lambda: _inputs(3), ("pad",)),
        (k.clamp_in_place, lambda: _inputs(2), ("x",)),
        (k.scale_in_place, lambda: _inputs(2), ("y",)),
        (k.turn, _vectors, ("y",)),
    ],
    ids=lambda x: getattr(x, "key", ""),
)
def test_an_overwrite_of_what_was_read_needs_the_contents_before_it(
    kernel: Any, inputs: Callable[[], list[Any]], path: tuple[str, ...]
) -> None:
    operation, before = _launched(kernel, inputs())
    treatment = treatment_of(operation, before, _RNG(0))
    assert treatment.passed is True
    assert treatment.vjp is None
    assert treatment.by_array[path] is Moment.BEFORE
    assert treatment.discrepancy > 1e-3
    state = LaunchState(operation, before)
    assert judge(state, {path: Moment.BEFORE}, _RNG(1)).passed is True


def test_an_adjoint_that_is_not_the_derivative_is_found_and_replaced() -> None:
    operation, before = _launched(k.wrongly_squared, _inputs(2))
    treatment = treatment_of(operation, before, _RNG(0))
    assert treatment.discrepancy > 1e-2
    assert treatment.cure is not None
    shadow = Memory(before.blocks)
    weights = np.arange(1.0, N + 1.0)
    x, y = (a.ref for a in operation.accesses)
    shadow.set_values(y, weights)
    treatment.cure.adjoint(operation, (before, before), shadow, frozenset())
    numeric = Memory(before.blocks)
    numeric.set_values(y, weights)
    numeric_vjp(operation, before, numeric)
    np.testing.assert_allclose(numeric.values(x), shadow.values(x), rtol=1e-7)
    np.testing.assert_allclose(shadow.values(x), 2.0 * before.values(x) * weights, rtol=1e-7)
    assert not shadow.values(y).any(), "what was overwritten is consumed"


def test_a_planted_error_of_a_thousandth_is_seen() -> None:
    operation, before = _launched(k.advance, _inputs(2))
    state = LaunchState(operation, before)
    exact = state.adjoint

    def slightly_wrong(*arguments: Any) -> Any:
        return tuple(1.001 * v for v in exact(*arguments))

    state.adjoint = slightly_wrong  # type: ignore[method-assign]
    assert judge(state, {}, _RNG(0)).passed is False


def test_a_launch_at_a_singular_point_does_not_pass() -> None:
    operation, before = _launched(k.wear, [doubles(np.nan), *_inputs(2)])
    assert treatment_of(operation, before, _RNG(0)).passed is not True


def test_arrays_that_are_written_and_read_under_any_name_are_told() -> None:
    operation, _ = _launched(k.advance, _overlapping(), dim=3)
    assert rewritten_paths(operation) == [("y",)]
    operation, _ = _launched(k.advance, _inputs(2))
    assert rewritten_paths(operation) == []
    operation, _ = _launched(k.leapfrog, _state())
    assert set(rewritten_paths(operation)) == {("state", "position"), ("state", "velocity")}


def test_lines_that_multiply_in_place_are_told() -> None:
    operation, _ = _launched(k.scale_in_place, _inputs(2))
    (line,) = multiplies(operation)
    assert "*=" in Path(k.__file__).read_text(encoding="utf-8").splitlines()[line - 1]
    operation, _ = _launched(k.add_cubed, _inputs(2))
    assert multiplies(operation) == ()


@pytest.mark.parametrize("kernel", [k.wear, k.wrongly_squared], ids=lambda x: x.key)
def test_testing_a_launch_leaves_the_program_alone(kernel: Any) -> None:
    inputs = _inputs(len(kernel.adj.args))
    operation, before = _launched(kernel, inputs)
    kept = [a.numpy().copy() for a in inputs], [before.read(b).copy() for b in before.blocks]
    treatment_of(operation, before, _RNG(0))
    for array, contents in zip(inputs, kept[0], strict=True):
        np.testing.assert_array_equal(array.numpy(), contents)
    for block, contents in zip(before.blocks, kept[1], strict=True):
        np.testing.assert_array_equal(before.read(block), contents)
