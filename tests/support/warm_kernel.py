"""A kernel whose only purpose is to be the first one that a process compiles."""

from __future__ import annotations

import warp as wp


@wp.kernel
def _square(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[i] * x[i]


def touch() -> None:
    """Compile, launch and differentiate it."""
    x = wp.ones(2, dtype=float, device="cpu", requires_grad=True)
    y = wp.zeros(2, dtype=float, device="cpu", requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(_square, dim=2, inputs=[x], outputs=[y], device="cpu")
    tape.backward(grads={y: wp.ones(2, dtype=float, device="cpu")})
