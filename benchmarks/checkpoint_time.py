"""Claim: a gradient through 10,000 steps takes at most 2 sqrt(10,000) states and twice the time of the whole tape.

python -m benchmarks.checkpoint_time
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import warp as wp
from benchmarks.timing import take_turns, verdict

from retrograde.checkpoint import advance

SIZE, STEPS = 1000, 10_000


@wp.kernel
def turn(x: wp.array(dtype=wp.float64), rate: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    """One step."""
    i = wp.tid()
    y[i] = x[i] + wp.float64(0.01) * wp.sin(x[(i + 1) % x.shape[0]]) * rate[0]


@wp.kernel
def square(x: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    """The loss."""
    i = wp.tid()
    wp.atomic_add(loss, 0, x[i] * x[i])


def _numbers(values: Any) -> Any:
    return wp.array(values, dtype=wp.float64, requires_grad=True, device="cpu")


def by_tape() -> np.ndarray:
    """The gradient by one tape of all steps."""
    x, rate, loss = _numbers(np.linspace(0.0, 1.0, SIZE)), _numbers([0.7]), _numbers([0.0])
    states = [x, *(_numbers(np.zeros(SIZE)) for _ in range(STEPS))]
    with wp.Tape() as tape:
        for n in range(STEPS):
            wp.launch(turn, SIZE, inputs=[states[n], rate, states[n + 1]], device="cpu")
        wp.launch(square, SIZE, inputs=[states[-1], loss], device="cpu")
    tape.backward(loss)
    return x.grad.numpy().copy()


def by_advance() -> tuple[np.ndarray, Any]:
    """The same with few states."""
    x, rate, loss = _numbers(np.linspace(0.0, 1.0, SIZE)), _numbers([0.7]), _numbers([0.0])

    def step(n: int, before: Any, after: Any) -> None:
        wp.launch(turn, SIZE, inputs=[before, rate, after], device="cpu")

    with wp.Tape() as tape:
        done = advance(step, x, STEPS, parameters=[rate])
        wp.launch(square, SIZE, inputs=[done.state, loss], device="cpu")
    tape.backward(loss)
    return x.grad.numpy().copy(), done.report


def main() -> int:
    """Compare, check that both agree, and say whether the claim holds."""
    wp.config.log_level = wp.LOG_WARNING
    found, report = by_advance()
    assert np.array_equal(found, by_tape())
    timings = take_turns({"tape": by_tape, "advance": by_advance}, seconds=20.0)
    ratio = timings.best("advance") / timings.best("tape")
    states = report.peak_states
    reached = ratio <= 2.0 and states <= 2.0 * np.sqrt(STEPS)
    print(f"{STEPS} steps: {states} states, {report.recomputation:.2f} times the steps, {ratio:.2f} times the time")
    print(f"claim of 200 states and 2 times: {verdict(reached)}")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
