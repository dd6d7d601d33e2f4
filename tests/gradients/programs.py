"""Programs with the objective's twin in NumPy.

Each runs on a parameter and ends in `tape.backward`; its twin computes the same number in double precision.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import warp as wp
from tests.gradients import kernels as k

Float = npt.NDArray[np.float64]
N = k.N
_W = np.arange(1.0, N + 1.0)


def doubles(values: Any = 0.0, gradient: bool = True, shape: Any = N, dtype: Any = wp.float64) -> wp.array:
    """A Warp array in double precision."""
    full = np.broadcast_to(np.asarray(values, dtype=np.float64), (shape,) if isinstance(shape, int) else shape).copy()
    return wp.array(full, dtype=dtype, device="cpu", requires_grad=gradient)


@dataclass(frozen=True, eq=False)
class Program:
    """A program with its truth.

    Attributes:
        run: Runs it on a parameter.
        twin: The objective as a function of the parameter's values.
        start: The parameter's values.
        dtype: Element type of the parameter.
    """

    run: Callable[[wp.array], None]
    twin: Callable[[Float], float]
    start: Float
    dtype: Any = wp.float64

    @property
    def name(self) -> str:
        return self.run.__name__

    def gradient(self) -> Float:
        """The gradient of the twin, by central differences of sixth order."""
        found = np.zeros_like(self.start)
        for index in np.ndindex(self.start.shape):
            unit = np.zeros_like(self.start)
            unit[index] = 1e-3
            slopes = [
                (self.twin(self.start + n * unit) - self.twin(self.start - n * unit)) / (2e-3 * n) for n in (1, 2, 3)
            ]
            found[index] = 1.5 * slopes[0] - 0.6 * slopes[1] + 0.1 * slopes[2]
        return found


def _end(tape: wp.Tape, state: wp.array, count: int = N) -> None:
    loss = doubles(shape=1)
    with tape:
        wp.launch(k.squared, count, [state, loss])
    tape.backward(loss)


def _advance(x: Float) -> Float:
    return np.sin(x) + 0.3 * x * np.roll(x, -1)


def _squared(x: Float) -> float:
    return float(np.arange(1.0, x.size + 1.0) @ (x * x))


def ping_pong(x: wp.array) -> None:
    a, b = doubles(), doubles()
    tape = wp.Tape()
    with tape:
        wp.launch(k.cubed, N, [x, a])
        for _ in range(4):
            wp.launch(k.advance, N, [a, b])
            a, b = b, a
    _end(tape, a)


def _ping_pong(x: Float) -> float:
    a = x**3
    for _ in range(4):
        a = _advance(a)
    return _squared(a)


def struct_state(x: wp.array) -> None:
    state = k.State()
    state.position, state.velocity = doubles(gradient=False), doubles(0.2, gradient=False)
    tape = wp.Tape()
    with tape:
        wp.copy(state.position, x)
        for _ in range(5):
            wp.launch(k.leapfrog, N, [state, 0.3])
    _end(tape, state.position)


def _struct_state(x: Float) -> float:
    position, velocity = x.copy(), np.full(N, 0.2)
    for _ in range(5):
        velocity = velocity - 0.3 * np.sin(position)
        position = position + 0.3 * velocity
    return _squared(position)


def overlapping_slices(x: wp.array) -> None:
    buffer, out = doubles(shape=2 * N), doubles()
    tape = wp.Tape()
    with tape:
        wp.launch(k.cubed, N, [x, buffer[0:N]])
        wp.launch(k.cubed, N, [buffer[0:N], buffer[3 : N + 3]])
        wp.launch(k.advance, N, [buffer[2 : N + 2], out])
    _end(tape, out)


def _overlapping_slices(x: Float) -> float:
    buffer = np.zeros(2 * N)
    buffer[:N] = x**3
    for i in range(N):
        buffer[i + 3] = buffer[i] ** 3
    return _squared(_advance(buffer[2 : N + 2]))


def second_pointer(x: wp.array) -> None:
    a, b = doubles(), doubles()
    alias = wp.array(ptr=a.ptr, shape=(N,), dtype=wp.float64, device="cpu")
    tape = wp.Tape()
    with tape:
        wp.launch(k.cubed, N, [x, a])
        wp.launch(k.advance, N, [a, b])
        wp.launch(k.cubed, N, [b, alias])
    _end(tape, a)


def _second_pointer(x: Float) -> float:
    return _squared(_advance(x**3) ** 3)


def transposed(x: wp.array) -> None:
    first, second = doubles(shape=(3, 3)), doubles(shape=(3, 3))
    tape = wp.Tape()
    with tape:
        wp.launch(k.diffuse_rows, (3, 3), [x, first])
        wp.launch(k.diffuse_rows, (3, 3), [first.transpose(), second])
        wp.launch(k.diffuse_rows, (3, 3), [second, first])
    _end(tape, first.flatten(), 9)


def _transposed(x: Float) -> float:
    def step(a: Float) -> Float:
        return a * a + 0.5 * a.T

    return _squared(step(step(step(x).T)).ravel())


def vectors(x: wp.array) -> None:
    rng = np.random.default_rng(3)
    q = doubles(rng.normal(size=(2, 4)), shape=(2, 4), dtype=wp.quatd)
    m = doubles(rng.normal(size=(2, 3, 3)), shape=(2, 3, 3), dtype=wp.mat33d)
    y = wp.zeros(2, dtype=wp.vec3d, device="cpu", requires_grad=True)
    loss = doubles(shape=1)
    tape = wp.Tape()
    with tape:
        wp.launch(k.turn, 2, [x, q, m, y])
        wp.launch(k.turn, 2, [y, q, m, x])
        wp.launch(k.lengths, 2, [x, loss])
    tape.backward(loss)


def _vectors(x: Float) -> float:
    rng = np.random.default_rng(3)
    q, m = rng.normal(size=(2, 4)), rng.normal(size=(2, 3, 3))

    def rotated(i: int, v: Float) -> Float:
        u, w = q[i, :3], q[i, 3]
        return v * (2.0 * w * w - 1.0) + 2.0 * w * np.cross(u, v) + 2.0 * u * (u @ v)

    y = np.array([m[i] @ rotated(i, x[i]) for i in range(2)])
    z = np.array([m[i] @ rotated(i, y[i]) + np.cross(y[i], x[i]) for i in range(2)])
    return float(sum((z[i] @ z[i]) * z[i, 1] for i in range(2)))


def indexed(x: wp.array) -> None:
    order = wp.array([4, 1, 1, 0, 5, 2], dtype=wp.int32, device="cpu")
    y = doubles()
    wp.launch(k.read_indexed, N, [wp.indexedarray(x, [order]), y])  # Warp's tape takes no indexed arrays
    _end(wp.Tape(), y)


def _indexed(x: Float) -> float:
    return _squared(x[[4, 1, 1, 0, 5, 2]] ** 2)


def offset_copies(x: wp.array) -> None:
    buffer, out = doubles(0.5, shape=2 * N), doubles()
    tape = wp.Tape()
    with tape:
        wp.launch(k.cubed, N, [x, out])
        wp.copy(buffer, out, dest_offset=4, src_offset=1, count=4)
        wp.copy(buffer, buffer, dest_offset=0, src_offset=5, count=3)
        wp.launch(k.advance, N, [buffer[0:N], out])
        wp.copy(out, buffer, dest_offset=2, src_offset=4, count=2)
    _end(tape, out)


def _offset_copies(x: Float) -> float:
    out, buffer = x**3, np.full(2 * N, 0.5)
    buffer[4:8] = out[1:5]
    buffer[0:3] = buffer[5:8].copy()
    out = _advance(buffer[:N])
    out[2:4] = buffer[4:6]
    return _squared(out)


def cleared_scratch(x: wp.array) -> None:
    states, force = [x, *(doubles() for _ in range(3))], doubles()
    tape = wp.Tape()
    with tape:
        for now, following in pairwise(states):
            force.zero_()
            wp.launch(k.gather_force, N, [now, force])
            wp.launch(k.push, N, [now, force, following])
    _end(tape, states[-1])


def _cleared_scratch(x: Float) -> float:
    for _ in range(3):
        x = x + 0.1 * np.roll(x * x, 1) ** 2
    return _squared(x)


def tiles(x: wp.array) -> None:
    y = doubles()
    tape = wp.Tape()
    with tape:
        for source, target in ((x, y), (y, x)):
            wp.launch_tiled(k.sum_of_tile, dim=[1], inputs=[source, target], block_dim=32)
    _end(tape, x)


def _tiles(x: Float) -> float:
    return _squared(2.0 * np.sin(2.0 * np.sin(x)))


def overwritten_in_kernel(x: wp.array) -> None:
    heat, force = doubles(), doubles(1.5)
    pad = doubles()
    tape = wp.Tape()
    with tape:
        wp.launch(k.cubed, N, [x, pad])
        wp.launch(k.wear, N, [force, pad, heat])
        wp.launch(k.add_cubed, N, [pad, heat])
    _end(tape, heat)


def _overwritten_in_kernel(x: Float) -> float:
    pad = x**3
    return _squared(1.5 * pad * pad + (0.5 * pad * pad) ** 3)


def reading_back(x: wp.array) -> None:
    y, z = doubles(), doubles()
    tape = wp.Tape()
    with tape:
        for _ in range(2):
            wp.launch(k.read_back, N, [x, y, z])
    _end(tape, z)


def _reading_back(x: Float) -> float:
    return _squared(x**4)


def several_tapes(x: wp.array) -> None:
    a, b = doubles(), doubles()
    first, second = wp.Tape(), wp.Tape()
    with first:
        wp.launch(k.cubed, N, [x, a])
    wp.launch(k.advance, N, [a, b])
    with second:
        wp.launch(k.add_cubed, N, [x, b])
    _end(second, b)


def _several_tapes(x: Float) -> float:
    return _squared(_advance(x**3) + x**3)


def retained(x: wp.array) -> None:
    y = wp.zeros(N, dtype=wp.float64, device="cpu", requires_grad=True, retain_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(k.cubed, N, [x, y])
        wp.launch(k.advance, N, [x, y])
    _end(tape, y)


def _retained(x: Float) -> float:
    return _squared(_advance(x))


def multiplied_in_place(x: wp.array) -> None:
    y = doubles()
    tape = wp.Tape()
    with tape:
        wp.launch(k.advance, N, [x, y])
        wp.launch(k.scale_in_place, N, [x, y])
    _end(tape, y)


def _multiplied_in_place(x: Float) -> float:
    return _squared(_advance(x) * x * x)


def wrong_adjoint(x: wp.array) -> None:
    y = doubles()
    tape = wp.Tape()
    with tape:
        wp.launch(k.wrongly_squared, N, [x, y])
    _end(tape, y)


def _wrong_adjoint(x: Float) -> float:
    return _squared(x * x)


def clones_and_assignments(x: wp.array) -> None:
    y, z = doubles(), doubles()
    tape = wp.Tape()
    with tape:
        wp.launch(k.cubed, N, [x, y])
        twin = wp.clone(y)
        wp.launch(k.advance, N, [twin, z])
        y.assign(z)
        wp.launch(k.add_cubed, N, [twin, y])
    _end(tape, y)


def _clones_and_assignments(x: Float) -> float:
    return _squared(_advance(x**3) + x**9)


_START = np.array([0.7, -0.4, 1.1, 0.25, -0.9, 0.5])

PROGRAMS = (
    *(
        Program(run, twin, _START)
        for run, twin in (
            (ping_pong, _ping_pong),
            (struct_state, _struct_state),
            (overlapping_slices, _overlapping_slices),
            (second_pointer, _second_pointer),
            (indexed, _indexed),
            (offset_copies, _offset_copies),
            (cleared_scratch, _cleared_scratch),
            (tiles, _tiles),
            (overwritten_in_kernel, _overwritten_in_kernel),
            (reading_back, _reading_back),
            (several_tapes, _several_tapes),
            (retained, _retained),
            (multiplied_in_place, _multiplied_in_place),
            (wrong_adjoint, _wrong_adjoint),
            (clones_and_assignments, _clones_and_assignments),
        )
    ),
    Program(transposed, _transposed, 0.2 + 0.1 * np.arange(9.0).reshape(3, 3)),
    Program(vectors, _vectors, _START.reshape(2, 3), wp.vec3d),
)


def named(name: str) -> Program:
    """The program of a name."""
    return next(p for p in PROGRAMS if p.name == name)
