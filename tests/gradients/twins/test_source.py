"""Kernels are read with all that they call, and compiled again with any part changed."""

from __future__ import annotations

import ast
import copy
import inspect
from typing import Any

import numpy as np
import pytest
import warp as wp
from tests.gradients.twins import elsewhere, sources

from retrograde.gradients.twins.compile import Change, TwinError, compile_twin, quietly
from retrograde.gradients.twins.source import KernelSource, Role, read_kernel

X = np.array([0.3, -0.8, 1.1, 0.6], dtype=np.float32)


def _run(kernel: Any, inputs: list[Any] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Values and gradient of their weighted sum."""
    x = wp.array(X, dtype=float, requires_grad=True, device="cpu")
    y = wp.zeros(4, dtype=float, requires_grad=True, device="cpu")
    with quietly(), wp.Tape() as tape:
        wp.launch(kernel, dim=4, inputs=[x, y] if inputs is None else [*inputs, y], device="cpu")
    tape.backward(grads={y: wp.array([1.0, 2.0, -1.0, 0.5], dtype=float, device="cpu")})
    return y.numpy().copy(), x.grad.numpy().copy()


def _doubled(tree: ast.FunctionDef) -> ast.FunctionDef:
    """The definition with what it returns, or stores last, times two."""
    changed = copy.deepcopy(tree)
    last = changed.body[-1]
    assert isinstance(last, ast.Return | ast.Assign)
    assert last.value is not None
    last.value = ast.BinOp(ast.Constant(2.0), ast.Mult(), last.value)
    return changed


def _named(source: KernelSource, name: str) -> list[Any]:
    return [s for s in source.all() if s.name == name]


CALLEES = [
    ("nested", "curve", 4.0),
    ("nested", "curve_twice", 2.0),
    ("through_module", "shared", 2.0),
    ("through_class", "bowl", 2.0),
    ("overloaded", "tilt", 2.0),
    ("generic", "cube", 2.0),
    ("gradient_of", "curve", 2.0),
    ("static_choice", "curve", 2.0),
]


@pytest.mark.parametrize(("kernel", "function", "factor"), CALLEES)
def test_a_change_deep_inside_is_seen_and_nothing_else(kernel: str, function: str, factor: float) -> None:
    original = getattr(sources, kernel)
    before, gradient = _run(original)
    source = read_kernel(original)
    same = compile_twin(source, {s: Change(s.tree) for s in source.all()})
    for mine, theirs in zip(_run(same), (before, gradient), strict=True):
        assert np.array_equal(mine, theirs)
    changed = {s: Change(_doubled(s.tree)) for s in _named(source, function)}
    assert changed
    twice, steeper = _run(compile_twin(source, changed))
    np.testing.assert_allclose(twice, factor * before, rtol=1e-6)
    np.testing.assert_allclose(steeper, factor * gradient, rtol=1e-6)
    assert np.array_equal(_run(original)[0], before)


def test_the_kernel_itself_changes() -> None:
    source = read_kernel(sources.nested)
    twin = compile_twin(source, {source.kernel: Change(_doubled(source.kernel.tree))})
    np.testing.assert_allclose(_run(twin)[0], 2.0 * _run(sources.nested)[0], rtol=1e-6)


def test_closures_keep_their_variables_and_types() -> None:
    kernel = sources.make(3, 0.7)
    source = read_kernel(kernel)
    x = wp.array(np.arange(12.0, dtype=np.float32).reshape(4, 3), dtype=wp.types.vector(3, float), device="cpu")
    before, _ = _run(kernel, [x])
    (blend,) = _named(source, "blend")
    after, _ = _run(compile_twin(source, {blend: Change(_doubled(blend.tree))}), [x])
    np.testing.assert_allclose(after, 2.0 * before, rtol=1e-6)


def test_structs_are_the_same_type() -> None:
    pair = sources.Pair()
    pair.left = wp.array(X, dtype=float, device="cpu")
    pair.weight = 3.0
    source = read_kernel(sources.with_struct)
    twin = compile_twin(source, {s: Change(s.tree) for s in source.all()})
    assert np.array_equal(_run(twin, [pair])[0], _run(sources.with_struct, [pair])[0])


def test_a_custom_adjoint_changes_alone() -> None:
    source = read_kernel(sources.with_adjoint)
    (custom,) = _named(source, "custom")
    gradient = custom.gradient
    assert gradient is not None
    assert gradient.role is Role.GRADIENT
    changed = copy.deepcopy(gradient.tree)
    first = changed.body[0]
    assert isinstance(first, ast.AugAssign)
    first.value = ast.Constant(4.0)
    twin = compile_twin(source, {gradient: Change(changed)})
    before, _ = _run(sources.with_adjoint)
    after, constant = _run(twin)
    assert np.array_equal(before, after)
    np.testing.assert_allclose(constant, 4.0)


def test_arguments_may_be_added() -> None:
    source = read_kernel(sources.nested)
    tree = copy.deepcopy(source.kernel.tree)
    tree.args.args.append(ast.arg("shift"))
    last = tree.body[-1]
    assert isinstance(last, ast.Assign)
    last.value = ast.BinOp(last.value, ast.Add(), ast.Name("shift", ast.Load()))
    twin = compile_twin(source, {source.kernel: Change(tree, {**source.kernel.types, "shift": float})})
    x, y = wp.array(X, dtype=float, device="cpu"), wp.zeros(4, dtype=float, device="cpu")
    wp.launch(twin, dim=4, inputs=[x, y, 10.0], device="cpu")
    np.testing.assert_allclose(y.numpy(), _run(sources.nested)[0] + 10.0, rtol=1e-6)


def test_lines_are_those_of_the_file() -> None:
    source = read_kernel(sources.generic)
    (cube,) = _named(source, "cube")
    for piece in (source.kernel, cube):
        first = piece.tree.body[-1].lineno
        assert piece.line(first) == inspect.getsource(sources).splitlines()[first - 1].strip()
        assert piece.file == sources.__file__
    (shared,) = _named(read_kernel(sources.through_module), "shared")
    assert shared.file == elsewhere.__file__
    assert shared.line(shared.tree.body[0].lineno) == "return x * SCALE"


def test_callees_come_first_and_once() -> None:
    names = [s.name for s in read_kernel(sources.nested).functions]
    assert names == ["curve", "curve_twice"]


def test_builtins_are_named() -> None:
    source = read_kernel(sources.nested)
    calls = {s.builtin(n) for s in source.all() for n in ast.walk(s.tree) if isinstance(n, ast.Call)}
    assert calls == {"sin", "pow", "tid", None}


def test_native_functions_cannot_change() -> None:
    @wp.func_native("return x * 2.0f;")
    def twice(x: float) -> float: ...

    @wp.kernel
    def native(x: wp.array(dtype=float), y: wp.array(dtype=float)):
        i = wp.tid()
        y[i] = twice(x[i])

    source = read_kernel(native)
    (function,) = source.functions
    assert function.role is Role.NATIVE
    with pytest.raises(TwinError, match="native"):
        compile_twin(source, {function: Change(function.tree)})
    twin = compile_twin(source, {source.kernel: Change(source.kernel.tree)})
    assert np.array_equal(_run(twin)[0], 2.0 * X)
