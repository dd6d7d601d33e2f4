"""Kernels translated to double precision, held against the same kernels written in double precision by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import warp as wp

from retrograde.gradients.twins.compile import TwinError
from retrograde.gradients.twins.double import double_kernel, double_type

RATE = 0.1
AXIS = wp.constant(wp.vec3(0.6, 0.0, 0.8))
AXIS64 = wp.constant(wp.vec3d(*(float(a) for a in AXIS)))
Pair = wp.types.vector(length=2, dtype=wp.float32)
Pair64 = wp.types.vector(length=2, dtype=wp.float64)


@wp.func
def soften(x: float, power: int):
    return wp.pow(wp.abs(x) + 0.25, float(power)) / (1.0 + RATE)


@wp.func
def soften64(x: wp.float64, power: int):
    return wp.pow(wp.abs(x) + wp.float64(0.25), wp.float64(power)) / (wp.float64(1.0) + wp.float64(RATE))


@wp.func
def first(x: Any):
    return x[0]


@wp.kernel
def scalars(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    total = float(0.0)
    for k in range(3):
        total += soften(x[i] * float(k + 1), k) if x[i] > 0.1 else wp.exp(-x[i])
    y[i] = wp.where(total > 1.5, wp.sqrt(total), total * 0.5) + wp.clamp(x[i], -0.3, 0.3) + wp.static(2.0 * RATE)


@wp.kernel
def scalars64(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    total = wp.float64(0.0)
    for k in range(3):
        total += soften64(x[i] * wp.float64(k + 1), k) if x[i] > wp.float64(0.1) else wp.exp(-x[i])
    y[i] = (
        wp.where(total > wp.float64(1.5), wp.sqrt(total), total * wp.float64(0.5))
        + wp.clamp(x[i], wp.float64(-0.3), wp.float64(0.3))
        + wp.float64(2.0) * wp.float64(RATE)
    )


@wp.kernel
def vectors(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    v = wp.vec3(x[i], 1.0, -0.5)
    turned = wp.quat_rotate(wp.quat_from_axis_angle(AXIS, x[i]), v)
    m = wp.outer(turned, v) + 0.5 * wp.identity(n=3, dtype=float)
    pair = Pair(m[0, 1], wp.determinant(m))
    pose = wp.transform(v, wp.quat_identity())
    y[i] = wp.dot(m * v, turned) + first(pair) * pair[1] + wp.length(wp.transform_point(pose, v))


@wp.kernel
def vectors64(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    v = wp.vec3d(x[i], wp.float64(1.0), wp.float64(-0.5))
    turned = wp.quat_rotate(wp.quat_from_axis_angle(AXIS64, x[i]), v)
    m = wp.outer(turned, v) + wp.float64(0.5) * wp.identity(n=3, dtype=wp.float64)
    pair = Pair64(m[0, 1], wp.determinant(m))
    pose = wp.transformd(v, wp.quat_identity(dtype=wp.float64))
    y[i] = wp.dot(m * v, turned) + first(pair) * pair[1] + wp.length(wp.transform_point(pose, v))


@wp.kernel
def random(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    state = wp.rand_init(7, i)
    y[i] = x[i] * wp.randf(state) + wp.randf(state, -1.0, 1.0) + wp.randn(state) * wp.sample_unit_sphere(state)[1]


@wp.kernel
def random64(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    state = wp.rand_init(7, i)
    a = wp.float64(wp.randf(state))
    b = wp.float64(wp.randf(state, -1.0, 1.0))
    c = wp.float64(wp.randn(state))
    y[i] = x[i] * a + b + c * wp.float64(wp.sample_unit_sphere(state)[1])


@pytest.mark.parametrize(
    ("single", "double"), [(scalars, scalars64), (vectors, vectors64), (random, random64)], ids=lambda k: k.key
)
def test_the_translation_computes_what_one_by_hand_computes(single: wp.Kernel, double: wp.Kernel) -> None:
    numbers = np.linspace(-1.0, 1.3, 9)
    results: list[np.ndarray] = []
    for kernel in (double_kernel(single), double):
        x = wp.array(numbers, dtype=wp.float64, device="cpu")
        y = wp.zeros(9, dtype=wp.float64, device="cpu")
        wp.launch(kernel, 9, inputs=[x, y], device="cpu")
        results.append(y.numpy())
    np.testing.assert_allclose(results[0], results[1], rtol=1e-14)
    y = wp.zeros(9, dtype=float, device="cpu")
    wp.launch(single, 9, inputs=[wp.array(numbers, dtype=float, device="cpu"), y], device="cpu")
    assert 0.0 < np.abs(y.numpy() - results[0]).max() < 1e-5


@wp.struct
class Inner:
    k: float
    ticks: wp.int32


@wp.struct
class Outer:
    inner: Inner
    at: wp.vec3
    data: wp.array(dtype=wp.vec3)


def test_structs_hold_doubles() -> None:
    made = double_type(Outer)
    for kind in (made.vars["at"].type, made.vars["data"].type.dtype):
        assert (kind._wp_scalar_type_, kind._shape_) == (wp.float64, (3,))
    assert made.vars["inner"].type.vars["k"].type is wp.float64
    assert made.vars["inner"].type.vars["ticks"].type is wp.int32
    assert double_type(Outer) is made


@wp.func_native("return x;")
def bare(x: float) -> float: ...


@wp.kernel
def native(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    y[0] = bare(x[0])


@wp.kernel
def noisy(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    y[0] = wp.noise(wp.uint32(1), x[0])


@pytest.mark.parametrize(("kernel", "said"), [(native, "bare is native"), (noisy, "noise is there in single")])
def test_what_has_no_translation_is_named(kernel: wp.Kernel, said: str) -> None:
    with pytest.raises(TwinError, match=said):
        double_kernel(kernel)
