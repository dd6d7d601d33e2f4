"""Which built-ins pass no gradient on: measured on the installed Warp, and cured by their differences."""

from __future__ import annotations

import numpy as np
import pytest
import warp as wp

from retrograde.gradients.twins.builtins import differenced, lacks_adjoint

FRAC = differenced("frac", (wp.float32,), "frac_by_differences")
MOD = differenced("mod", (wp.float64, wp.float64), "mod_by_differences")


@wp.kernel
def fraction(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = FRAC(x[i])


@wp.kernel
def remainder(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    y[0] = MOD(x[0], x[1])


@pytest.mark.parametrize(("name", "arity"), [("frac", 1), ("mod", 2)])
def test_built_ins_without_adjoint_are_found(name: str, arity: int) -> None:
    assert lacks_adjoint(name, arity)


@pytest.mark.parametrize(
    ("name", "arity"),
    [*((n, 1) for n in ("sin", "sqrt", "exp", "abs", "floor", "round", "sign", "trunc")), ("atan2", 2), ("clamp", 3)],
)
def test_right_and_flat_built_ins_are_passed(name: str, arity: int) -> None:
    assert not lacks_adjoint(name, arity)


def test_what_cannot_be_tried_is_not_suspected() -> None:
    assert not lacks_adjoint("mesh_query_point", 3)
    assert not lacks_adjoint("no such built-in", 1)


def _gradient(kernel: wp.Kernel, at: list[float], dtype: type, size: int) -> np.ndarray:
    x = wp.array(at, dtype=dtype, device="cpu", requires_grad=True)
    y = wp.zeros(size, dtype=dtype, device="cpu", requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(kernel, size, [x, y], device="cpu")
    tape.backward(grads={y: wp.ones_like(y)})
    return x.grad.numpy()


def test_differences_stand_for_the_adjoint() -> None:
    np.testing.assert_allclose(_gradient(fraction, [0.3, 1.7], wp.float32, 2), [1.0, 1.0], rtol=1e-6)
    # 7.3 = 2 * 3.1 + 1.1
    np.testing.assert_allclose(_gradient(remainder, [7.3, 3.1], wp.float64, 1), [1.0, -2.0], rtol=1e-9)
