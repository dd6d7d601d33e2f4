"""Kernels with a wrong adjoint are opened, and the constructs that make it wrong are found, and no others."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warp as wp
from tests.gradients.twins import faulty, sources
from tests.trace.recording import record

from retrograde.gradients.cure import Cure, situation_of
from retrograde.gradients.launch_test import LaunchState, LaunchVerdict, judge, numeric_vjp
from retrograde.gradients.memory import Memory
from retrograde.gradients.treatment import treatment_of
from retrograde.gradients.twins.alone import compare_alone
from retrograde.gradients.twins.patch import patch_of
from retrograde.gradients.window import Window
from retrograde.trace.operations import Operation

X = np.array([0.9, 0.4, 1.2, 0.7])


def _launched(kernel: Any, dtype: Any = wp.float64, start: float = 0.0) -> tuple[Operation, Memory]:
    x = wp.array(X, dtype=dtype, device="cpu")
    y = wp.full(4, start, dtype=dtype, device="cpu")
    recording = record(lambda: wp.launch(kernel, 4, [x, 3, y], device="cpu"))
    (operation,) = recording.operations
    return operation, Window(recording, 0, 0, operation.accesses[0].ref).contents_before(0)


def _marks(kernel: Any) -> set[tuple[int, str]]:
    """Marked lines of a kernel and of the functions before it, up to the kernel before."""
    lines = Path(faulty.__file__).read_text(encoding="utf-8").splitlines()
    starts = [n for n, line in enumerate(lines) if line == "@wp.kernel"]
    ends = [next((k for k in range(n, len(lines)) if not lines[k]), len(lines)) for n in starts]
    number = next(k for k, n in enumerate(starts) if lines[n + 1].startswith(f"def {kernel.key}("))
    inside = range(ends[number - 1] if number else 0, ends[number])
    return {(n + 1, m[1]) for n in inside if (m := re.search(r"# <- (RG\d{3})$", lines[n]))}


CURED = [
    faulty.grown,
    faulty.long_loop,
    faulty.twice_looped,
    faulty.left_early,
    faulty.until_small,
    faulty.nested_and_drawn,
    faulty.called_again,
    faulty.components_by_turn,
    faulty.two_faults,
    faulty.stored_then_multiplied,
    faulty.masked,
    faulty.through_root,
    faulty.with_native_code,
]


@pytest.mark.parametrize("kernel", CURED, ids=lambda k: k.key)
def test_the_line_is_found_and_its_twin_is_the_derivative(kernel: Any) -> None:
    operation, before = _launched(kernel)
    treatment = treatment_of(operation, before, np.random.default_rng(0))
    cure = treatment.cure
    assert isinstance(cure, Cure)
    found = {(r.line, r.code) for r in cure.rewrites}
    assert _marks(kernel) <= found
    assert {code for _, code in found} == {code for _, code in _marks(kernel)}
    x, y = (a.ref for a in operation.accesses)
    shadow, numeric = Memory(before.blocks), Memory(before.blocks)
    for memory in (shadow, numeric):
        memory.set_values(y, np.array([1.0, -0.5, 2.0, 0.3]))
    cure.adjoint(operation, (before, before), shadow, frozenset())
    numeric_vjp(operation, before, numeric)
    np.testing.assert_allclose(shadow.values(x), numeric.values(x), rtol=1e-6, atol=1e-8)


def test_numbers_written_out_have_the_type_of_the_others() -> None:
    operation, before = _launched(faulty.through_power, float)
    cure = treatment_of(operation, before, np.random.default_rng(0)).cure
    assert isinstance(cure, Cure)
    assert {(r.line, r.code) for r in cure.rewrites} == _marks(faulty.through_power)


def test_each_of_two_faults_can_be_left_in() -> None:
    operation, before = _launched(faulty.two_faults)
    cure = treatment_of(operation, before, np.random.default_rng(0)).cure
    assert isinstance(cure, Cure)
    state = LaunchState(operation, before)
    x, y = (a.ref for a in operation.accesses)
    results: list[np.ndarray] = []
    for left in (frozenset[str](), *(frozenset({label}) for label in cure.labels), cure.labels):
        shadow = Memory(before.blocks)
        shadow.set_values(y, np.ones(4))
        cure.adjoint(operation, (before, before), shadow, left)
        results.append(shadow.values(x))
    for k, one in enumerate(results):
        for other in results[k + 1 :]:
            assert np.abs(one - other).max() > 1e-3
    assert judge(state, {}, np.random.default_rng(0)).passed is False


@pytest.mark.parametrize(("kernel", "margin"), [(faulty.grown, 4), (faulty.branched, 8)], ids=["plain", "in a branch"])
def test_a_loop_comes_with_a_patch_that_keeps_the_rest_as_it_was(kernel: wp.Kernel, margin: int) -> None:
    operation, before = _launched(kernel)
    cure = treatment_of(operation, before, np.random.default_rng(0)).cure
    assert isinstance(cure, Cure)
    lines = patch_of(cure.rewrites).splitlines()
    assert [line for line in lines if line.startswith(("-", "+")) and not line.startswith(("---", "+++"))] == [
        f"-{' ' * margin}for _k in range(n):  # <- RG403",
        f"+{' ' * margin}for _k in range(3):",
    ]


def test_a_custom_adjoint_is_judged_argument_by_argument() -> None:
    operation, before = _launched(faulty.with_doubt)
    state = LaunchState(operation, before)
    situation = situation_of(state, LaunchVerdict(False, 1.0, 0.0), np.random.default_rng(0))
    assert situation is not None
    (piece,) = situation.source.functions
    of_a, of_v = compare_alone(situation, piece)
    assert (of_a.argument, of_a.wrong, of_a.values) == ("a", 1, 4)
    assert "at 1 of 4 values, as at a = 0.4" in of_a.verdict
    assert (of_v.argument, of_v.wrong, of_v.verdict) == ("v", 4, "is off by a factor of 0.5")


def test_an_adjoint_snippet_is_judged_argument_by_argument() -> None:
    operation, before = _launched(faulty.with_native_code)
    state = LaunchState(operation, before)
    situation = situation_of(state, LaunchVerdict(False, 1.0, 0.0), np.random.default_rng(0))
    assert situation is not None
    compared = {p.name: compare_alone(situation, p) for p in situation.source.functions}
    of_a, of_b = compared["halved"]
    assert (of_a.argument, of_a.wrong, of_a.values, of_a.verdict) == ("a", 4, 4, "is off by a factor of 0.5")
    assert (of_b.argument, of_b.verdict) == ("b", "")
    assert [c.verdict for c in compared["silent"]] == ["is missing", "is missing"]


def test_a_right_custom_adjoint_is_not_blamed() -> None:
    x, y = (wp.array(X, dtype=float, device="cpu") for _ in range(2))
    recording = record(lambda: wp.launch(sources.with_adjoint, 4, [x, y], device="cpu"))
    (operation,) = recording.operations
    before = Window(recording, 0, 0, operation.accesses[0].ref).contents_before(0)
    state = LaunchState(operation, before)
    situation = situation_of(state, LaunchVerdict(False, 1.0, 0.0), np.random.default_rng(0))
    assert situation is not None
    assert [c.verdict for c in compare_alone(situation, situation.source.functions[0])] == ["", ""]


@pytest.mark.parametrize(("kernel", "dtype", "start"), [(faulty.at_one, float, 0.0), (faulty.racing, wp.float64, 0.3)])
def test_what_no_twin_cures_has_a_reason(kernel: Any, dtype: Any, start: float) -> None:
    operation, before = _launched(kernel, dtype, start)
    treatment = treatment_of(operation, before, np.random.default_rng(0))
    assert treatment.cure is None
    assert {(r.line, r.code) for r in treatment.reasons} == _marks(kernel)
