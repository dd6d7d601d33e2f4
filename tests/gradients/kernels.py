"""Kernels in double precision, for programs whose gradients are known exactly."""

from __future__ import annotations

import warp as wp

DOUBLES = wp.array(dtype=wp.float64)
HALVES = wp.array(dtype=wp.float16)
N = 6


@wp.struct
class State:
    position: wp.array(dtype=wp.float64)
    velocity: wp.array(dtype=wp.float64)


@wp.kernel
def advance(x: DOUBLES, y: DOUBLES):
    i = wp.tid()
    n = x.shape[0]
    y[i] = wp.sin(x[i]) + wp.float64(0.3) * x[i] * x[(i + 1) % n]


@wp.kernel
def squared(x: DOUBLES, loss: DOUBLES):
    i = wp.tid()
    wp.atomic_add(loss, 0, wp.float64(i + 1) * x[i] * x[i])


@wp.kernel
def cubed(x: DOUBLES, y: DOUBLES):
    i = wp.tid()
    y[i] = x[i] * x[i] * x[i]


@wp.kernel
def add_cubed(x: DOUBLES, y: DOUBLES):
    i = wp.tid()
    y[i] += x[i] * x[i] * x[i]


@wp.kernel
def gather_force(x: DOUBLES, force: DOUBLES):
    i = wp.tid()
    n = x.shape[0]
    wp.atomic_add(force, (i + 1) % n, x[i] * x[i])


@wp.kernel
def push(x: DOUBLES, force: DOUBLES, y: DOUBLES):
    i = wp.tid()
    y[i] = x[i] + wp.float64(0.1) * force[i] * force[i]


@wp.kernel
def wear(force: DOUBLES, pad: DOUBLES, heat: DOUBLES):
    i = wp.tid()
    heat[i] = force[i] * pad[i] * pad[i]
    pad[i] = wp.float64(0.5) * pad[i] * pad[i]


@wp.kernel
def read_back(x: DOUBLES, y: DOUBLES, z: DOUBLES):
    i = wp.tid()
    y[i] = x[i] * x[i]
    z[i] = y[i] * y[i]


@wp.kernel
def scale_in_place(x: DOUBLES, y: DOUBLES):
    i = wp.tid()
    y[i] *= x[i] * x[i]


@wp.func
def wrong_square(x: wp.float64):
    return x * x


@wp.func_grad(wrong_square)
def _adjoint_of_wrong_square(x: wp.float64, adjoint: wp.float64):
    wp.adjoint[x] += wp.float64(3.0) * x * adjoint


@wp.func
def right_square(x: wp.float64):
    return x * x


@wp.func_grad(right_square)
def _adjoint_of_right_square(x: wp.float64, adjoint: wp.float64):
    wp.adjoint[x] += wp.float64(2.0) * x * adjoint


@wp.kernel
def wrongly_squared(x: DOUBLES, y: DOUBLES):
    i = wp.tid()
    y[i] = wrong_square(x[i])


@wp.kernel
def rightly_squared(x: DOUBLES, y: DOUBLES):
    i = wp.tid()
    y[i] = right_square(x[i])


@wp.kernel
def leapfrog(state: State, dt: wp.float64):
    i = wp.tid()
    state.velocity[i] -= dt * wp.sin(state.position[i])
    state.position[i] += dt * state.velocity[i]


@wp.kernel
def turn(x: wp.array(dtype=wp.vec3d), q: wp.array(dtype=wp.quatd), m: wp.array(dtype=wp.mat33d), y: wp.array(dtype=wp.vec3d)):  # fmt: skip  # noqa: E501
    i = wp.tid()
    y[i] = m[i] * wp.quat_rotate(q[i], x[i]) + wp.cross(x[i], y[i])


@wp.kernel
def lengths(x: wp.array(dtype=wp.vec3d), loss: DOUBLES):
    i = wp.tid()
    wp.atomic_add(loss, 0, wp.dot(x[i], x[i]) * x[i][1])


@wp.kernel
def read_indexed(x: wp.indexedarray(dtype=wp.float64), y: DOUBLES):
    i = wp.tid()
    y[i] = x[i] * x[i]


@wp.kernel
def sum_of_tile(x: DOUBLES, y: DOUBLES):
    t = wp.tile_load(x, shape=6)
    wp.tile_store(y, wp.tile_map(wp.sin, t) * wp.float64(2.0))


@wp.kernel
def half_squared(x: HALVES, loss: HALVES):
    i = wp.tid()
    wp.atomic_add(loss, 0, x[i] * x[i])


@wp.kernel
def clamp_in_place(x: DOUBLES, y: DOUBLES):
    i = wp.tid()
    y[i] = x[i] * x[i]
    if x[i] > wp.float64(0.5):
        x[i] = wp.float64(0.5)


@wp.kernel
def diffuse_rows(a: wp.array2d(dtype=wp.float64), b: wp.array2d(dtype=wp.float64)):
    i, j = wp.tid()
    b[i, j] = a[i, j] * a[i, j] + wp.float64(0.5) * a[j, i]
