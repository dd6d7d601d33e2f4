"""Small programs that do many things with Warp; each returns the contents of what it computed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import warp as wp
import warp.optim
from tests.trace.kernels import Body, augmented, drift, plain, rows, scatter, tiled

Result = list[np.ndarray]


@wp.kernel
def squares(x: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, x[i] * x[i])


@wp.kernel
def descend(x: wp.array(dtype=float), gradient: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = x[i] - 0.01 * gradient[i]


@wp.kernel
def step_body(body: Body, dt: float):
    i = wp.tid()
    drift(body, i, dt)


def _array(*values: float, gradient: bool = False) -> wp.array:
    return wp.array(np.array(values, dtype=np.float32), device="cpu", requires_grad=gradient)


def training() -> Result:
    """Three steps of gradient descent by NumPy, with a ping-pong of buffers."""
    x = _array(0.5, -1.0, 2.0, 0.25, gradient=True)
    a, b = (wp.zeros(4, dtype=float, device="cpu", requires_grad=True) for _ in range(2))
    seen: Result = []
    for _ in range(3):
        loss = wp.zeros(1, dtype=float, device="cpu", requires_grad=True)
        tape = wp.Tape()
        with tape:
            wp.launch(plain, dim=4, inputs=[x, a], device="cpu")
            wp.launch(plain, dim=4, inputs=[a], outputs=[b], device="cpu")
            wp.copy(a, b)
            wp.launch(squares, dim=4, inputs=[a, loss], device="cpu")
        tape.backward(loss)
        seen += [loss.numpy().copy(), x.grad.numpy().copy()]
        x.assign(x.numpy() - 1e-3 * x.grad.numpy())
        tape.zero()
    return [*seen, x.numpy().copy(), a.numpy().copy()]


def views_and_copies() -> Result:
    """Slices, transposes, offsets, fills, clones and writes through NumPy."""
    data = wp.array(np.arange(24, dtype=np.float32).reshape(4, 6), device="cpu")
    other = wp.zeros_like(data)
    data[1:3, 2:5].fill_(7.0)
    wp.launch(rows, dim=4, inputs=[data[:, 1:4], other[:, 3:6]], device="cpu")
    wp.copy(other.flatten(), data.flatten(), dest_offset=3, src_offset=5, count=8)
    duplicate = wp.clone(data.transpose())
    data.zero_()
    data.numpy()[2] += 3.0
    view = other.numpy()
    view[0, ::2] = -1.0
    index = wp.array([2, 0, 3, 1], dtype=wp.int32, device="cpu")
    out = [wp.zeros(4, dtype=float, device="cpu") for _ in range(2)]
    wp.launch(scatter, dim=4, inputs=[index, _array(1, 2, 3, 4), *out], device="cpu")
    return [a.numpy().copy() for a in (data, other, duplicate, *out)]


def structs_and_tiles() -> Result:
    """A struct and a tiled launch."""
    body = Body()
    body.mass = 1.0
    body.position, body.velocity = _array(0, 1, 2, 3), _array(1, 1, 2, 2)
    wp.launch(step_body, dim=4, inputs=[body, 0.5], device="cpu")
    wp.launch(step_body, dim=4, inputs=[body, 0.25], device="cpu")
    x, y, z = _array(1, 2, 3, 4), _array(0, 0, 0, 0), _array(1, 1, 1, 1)
    wp.launch(augmented, dim=4, inputs=[x, y, z], device="cpu")
    wp.launch_tiled(tiled, dim=[1], inputs=[y, z], block_dim=32, device="cpu")
    return [a.numpy().copy() for a in (body.position, x, y, z)]


def commands() -> Result:
    """Recorded launches, one of them launched again with another argument."""
    x, y, z, swapped = _array(1, 2, 3, 4), _array(0, 0, 0, 0), _array(1, 1, 1, 1), _array(5, 6, 7, 8)
    command = wp.launch(augmented, dim=4, inputs=[x, y, z], device="cpu", record_cmd=True)
    command.launch()
    command.set_param_at_index(0, swapped)
    command.launch()
    table, sums = (wp.array(np.arange(12, dtype=np.float32).reshape(4, 3), device="cpu") for _ in range(2))
    again = wp.launch(rows, dim=4, inputs=[table, sums], device="cpu", record_cmd=True)
    again.launch()
    again.launch()
    return [a.numpy().copy() for a in (x, y, z, swapped, sums)]


def optimiser() -> Result:
    """Adam on a seeded tape with a recorded function."""
    x = _array(1.0, 2.0, gradient=True)
    y = wp.zeros(2, dtype=float, device="cpu", requires_grad=True)
    adam = wp.optim.Adam([x], lr=0.1)
    called: list[int] = []
    for k in range(3):
        tape = wp.Tape()
        with tape:
            wp.launch(plain, dim=2, inputs=[x, y], device="cpu")
            tape.record_func(lambda k=k: called.append(k), arrays=[x, y])
        tape.backward(grads={y: _array(1.0, 0.5)})
        adam.step([x.grad])
        tape.reset()
    return [x.numpy().copy(), np.array(called)]


def graphs() -> Result:
    """A captured training step, launched again and again: arrays made in it, copies, fills, views."""
    x = _array(0.5, -1.0, 2.0, 0.25, gradient=True)
    kept = wp.zeros(4, dtype=float, device="cpu")
    with wp.ScopedCapture(device="cpu") as capture:
        y = wp.zeros(4, dtype=float, device="cpu", requires_grad=True)
        ones = wp.ones(4, dtype=float, device="cpu")
        loss = wp.zeros(1, dtype=float, device="cpu", requires_grad=True)
        tape = wp.Tape()
        with tape:
            wp.launch(plain, dim=4, inputs=[x, y], device="cpu")
            wp.launch(squares, dim=4, inputs=[y, loss], device="cpu")
        tape.backward(loss)
        kept.fill_(3.0)
        wp.copy(kept, x.grad, count=2)
        wp.launch(descend, dim=4, inputs=[x, x.grad], device="cpu")
        tape.zero()
        ones[1:3].zero_()
    seen: Result = []
    for _ in range(3):
        kept.numpy()[3] += 1.0
        wp.capture_launch(capture.graph)
        seen += [a.numpy().copy() for a in (x, y, loss, kept, ones)]
    return seen


PROGRAMS: tuple[Callable[[], Result], ...] = (
    training,
    views_and_copies,
    structs_and_tiles,
    commands,
    optimiser,
    graphs,
)
