"""Training loops that use the gradient in every style, each with what it really consumed.

The objective is sum_i (i+1) x_i^2, so that the gradient at x is known: 2 (i+1) x_i.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import warp as wp
import warp.optim
from tests.gradients.kernels import squared

Float = npt.NDArray[np.float64]
START = np.array([0.5, -1.0, 2.0, 0.25])
RATE = 0.01
ROUNDS = 3


@wp.kernel
def descend(x: wp.array(dtype=wp.float64), gradient: wp.array(dtype=wp.float64), rate: wp.float64):
    i = wp.tid()
    x[i] = x[i] - rate * gradient[i]


@wp.kernel
def squared_single(x: wp.array(dtype=wp.float32), loss: wp.array(dtype=wp.float32)):
    i = wp.tid()
    wp.atomic_add(loss, 0, float(i + 1) * x[i] * x[i])


@dataclass
class Diary:
    """What a training did: points where it began an iteration, and gradients it consumed there."""

    points: list[Float] = field(default_factory=list)
    consumed: list[Float] = field(default_factory=list)

    def note(self, point: Float, consumed: Float) -> None:
        self.points.append(point.copy())
        self.consumed.append(consumed.copy())


def slope(x: Float) -> Float:
    """The exact gradient."""
    return 2.0 * np.arange(1.0, x.size + 1.0) * x


def _parameter(values: Float) -> wp.array:
    return wp.array(values, dtype=wp.float64, requires_grad=True)


def _forward(x: wp.array, tape: wp.Tape) -> wp.array:
    loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
    with tape:
        wp.launch(squared, 4, [x, loss])
    return loss


def numpy_descent(diary: Diary) -> None:
    x, point = _parameter(START), START
    for _ in range(ROUNDS):
        tape = wp.Tape()
        loss = _forward(x, tape)
        tape.backward(loss)
        x.assign(x.numpy() - RATE * x.grad.numpy())
        tape.zero()
        diary.note(point, slope(point))
        point = point - RATE * slope(point)


def descent_through_a_view(diary: Diary) -> None:
    x, point = _parameter(START), START
    values = x.numpy()
    for _ in range(ROUNDS):
        tape = wp.Tape()
        tape.backward(_forward(x, tape))
        values -= RATE * x.grad.numpy()
        x.grad.zero_()
        diary.note(point, slope(point))
        point = point - RATE * slope(point)


def kernel_descent(diary: Diary) -> None:
    x, point = _parameter(START), START
    for _ in range(ROUNDS):
        tape = wp.Tape()
        tape.backward(_forward(x, tape))
        wp.launch(descend, 4, [x, x.grad, RATE])
        tape.zero()
        diary.note(point, slope(point))
        point = point - RATE * slope(point)


def adam(diary: Diary) -> None:
    """Warp's own optimizer, in single precision as it wants it."""
    x = wp.array(START, dtype=wp.float32, requires_grad=True)
    stepper = wp.optim.Adam([x], lr=RATE)
    for _ in range(ROUNDS):
        point = x.numpy().astype(np.float64)
        tape = wp.Tape()
        loss = wp.zeros(1, dtype=wp.float32, requires_grad=True)
        with tape:
            wp.launch(squared_single, 4, [x, loss])
        tape.backward(loss)
        stepper.step([x.grad])
        tape.zero()
        diary.note(point, slope(point))


def accumulation(diary: Diary) -> None:
    """Two micro-batches add to one gradient before it is used."""
    x, point = _parameter(START), START
    for _ in range(ROUNDS):
        tapes = [wp.Tape(), wp.Tape()]
        for tape in tapes:
            tape.backward(_forward(x, tape))
        x.assign(x.numpy() - RATE * x.grad.numpy())
        for tape in tapes:
            tape.zero()
        diary.note(point, 2.0 * slope(point))
        point = point - RATE * 2.0 * slope(point)


def accumulation_on_the_host(diary: Diary) -> None:
    """Two micro-batches are read one by one, cleared between, and added by NumPy."""
    x, point = _parameter(START), START
    for _ in range(ROUNDS):
        total = np.zeros(4)
        for _ in range(2):
            tape = wp.Tape()
            tape.backward(_forward(x, tape))
            total += x.grad.numpy()
            tape.zero()
        x.assign(x.numpy() - RATE * total)
        diary.note(point, 2.0 * slope(point))
        point = point - RATE * 2.0 * slope(point)


def rebuilt(diary: Diary) -> None:
    """The parameter is a new array in every iteration."""
    point = START
    for _ in range(ROUNDS):
        x = _parameter(point)
        tape = wp.Tape()
        tape.backward(_forward(x, tape))
        diary.note(point, slope(point))
        point = point - RATE * x.grad.numpy()


def by_a_solver(diary: Diary) -> None:
    """A function of a vector that returns value and gradient, called at points that a solver chooses."""
    x = _parameter(START)

    def value_and_gradient(at: Float) -> tuple[float, Float]:
        x.assign(at)
        tape = wp.Tape()
        loss = _forward(x, tape)
        tape.backward(loss)
        found = float(loss.numpy()[0]), x.grad.numpy().copy()
        tape.zero()
        return found

    at = START
    for _ in range(ROUNDS):
        value, gradient = value_and_gradient(at)
        assert value > 0.0
        diary.note(at, slope(at))
        at = at - RATE * gradient


def only_read(diary: Diary) -> None:
    """No update: the gradient is read once, to be looked at."""
    x = _parameter(START)
    tape = wp.Tape()
    tape.backward(_forward(x, tape))
    x.grad.numpy().sum()
    diary.note(START, slope(START))


def never_cleared(diary: Diary) -> None:
    """The gradients of all iterations so far are consumed."""
    x, point, total = _parameter(START), START, np.zeros(4)
    for _ in range(ROUNDS):
        tape = wp.Tape()
        tape.backward(_forward(x, tape))
        x.assign(x.numpy() - RATE * x.grad.numpy())
        total = total + slope(point)
        diary.note(point, total)
        point = point - RATE * total


def read_too_early(diary: Diary) -> None:
    """The gradient is read before the backward pass that should have filled it."""
    x, point, previous = _parameter(START), START, np.zeros(4)
    for _ in range(ROUNDS):
        tape = wp.Tape()
        loss = _forward(x, tape)
        gradient = x.grad.numpy().copy()
        x.grad.zero_()
        tape.backward(loss)
        x.assign(x.numpy() - RATE * gradient)
        diary.note(point, previous)
        previous = slope(point)
        point = point - RATE * diary.consumed[-1]


def cleared_under_the_reader(diary: Diary) -> None:
    """The gradient's NumPy view is cleared before it is used."""
    x = _parameter(START)
    for _ in range(ROUNDS):
        tape = wp.Tape()
        tape.backward(_forward(x, tape))
        gradient = x.grad.numpy()
        tape.zero()
        x.assign(x.numpy() - RATE * gradient)
        diary.note(START, np.zeros(4))


def read_after_the_clear(diary: Diary) -> None:
    x = _parameter(START)
    for _ in range(ROUNDS):
        tape = wp.Tape()
        tape.backward(_forward(x, tape))
        tape.zero()
        x.assign(x.numpy() - RATE * x.grad.numpy())
        diary.note(START, np.zeros(4))


TRAININGS: tuple[Callable[[Diary], None], ...] = (
    numpy_descent, descent_through_a_view, kernel_descent, adam, accumulation, accumulation_on_the_host, rebuilt,
    by_a_solver, only_read, never_cleared, read_too_early, cleared_under_the_reader, read_after_the_clear,
)  # fmt: skip
