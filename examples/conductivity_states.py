"""Fit how the conductivity of a rod depends on its temperature, from one late temperature profile.

The rod's temperature T obeys dT/dt = d/dx (k(T) dT/dx) with k(T) = k0 (1 + k1 T), all dimensionless. This is
`conductivity_pingpong.py` cured: every step writes an array of its own, so the backward pass still finds what the
forward pass had read.
"""

import numpy as np
import warp as wp
import warp.optim

POINTS = 48
STEPS = 60
ITERATIONS = 100
SPACING = 1.0 / (POINTS - 1)
TIME_STEP = 0.2 * SPACING**2

TRUE_COEFFICIENTS = np.array([1.0, 0.8], dtype=np.float32)
FIRST_GUESS = np.array([0.6, 0.2], dtype=np.float32)


@wp.func
def flux(coefficients: wp.array(dtype=float), left: float, right: float):
    conductivity = coefficients[0] * (1.0 + coefficients[1] * 0.5 * (left + right))
    return conductivity * (right - left)


@wp.kernel
def conduct(
    coefficients: wp.array(dtype=float), before: wp.array(dtype=float), after: wp.array(dtype=float), factor: float
):
    i = wp.tid()
    last = before.shape[0] - 1
    here = before[i]
    inflow = float(0.0)
    if i > 0:
        inflow = inflow - flux(coefficients, before[i - 1], here)
    if i < last:
        inflow = inflow + flux(coefficients, here, before[i + 1])
    after[i] = here + factor * inflow


@wp.kernel
def mean_square(state: wp.array(dtype=float), observed: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    difference = state[i] - observed[i]
    wp.atomic_add(loss, 0, difference * difference / float(observed.shape[0]))


def initial_profile() -> np.ndarray:
    x = np.linspace(0.0, 1.0, POINTS)
    return (np.exp(-(((x - 0.35) / 0.1) ** 2)) + 0.5 * (x > 0.7)).astype(np.float32)


def simulate(coefficients: wp.array) -> wp.array:
    state = wp.array(initial_profile(), requires_grad=True)
    for _ in range(STEPS):
        following = wp.zeros_like(state)
        wp.launch(conduct, POINTS, inputs=[coefficients, state, following, TIME_STEP / SPACING**2])
        state = following
    return state


def main() -> None:
    observed = wp.clone(simulate(wp.array(TRUE_COEFFICIENTS)), requires_grad=False)
    coefficients = wp.array(FIRST_GUESS, requires_grad=True)
    optimizer = wp.optim.Adam([coefficients], lr=0.02)
    for iteration in range(ITERATIONS):
        loss = wp.zeros(1, requires_grad=True)
        with wp.Tape() as tape:
            profile = simulate(coefficients)
            wp.launch(mean_square, POINTS, inputs=[profile, observed, loss])
        tape.backward(loss)
        if iteration % 25 == 0:
            print(f"iteration {iteration:3d}  loss {loss.numpy()[0]:.3e}  coefficients {coefficients.numpy()}")
        optimizer.step([coefficients.grad])
        tape.zero()
    print(f"fitted {coefficients.numpy()}, true {TRUE_COEFFICIENTS}")


if __name__ == "__main__":
    main()
