"""A gradient through 400 steps of a fluid with the memory of about 35 states.

Smoke is carried by a two-dimensional incompressible flow (Stam 1999: advection along characteristics, then a pressure
projection by Jacobi iterations), the physics of Warp's own `example_fluid_checkpoint`. Which initial flow brings the
smoke to the middle? The gradient of the misfit with respect to the initial velocities runs through every step.

    python examples/long_horizon.py
"""

from __future__ import annotations

import numpy as np
import warp as wp

from retrograde.checkpoint import Report, advance

SIZE, STEPS, SWEEPS, DT = 24, 400, 8, 0.02


@wp.struct
class Fluid:
    """Velocities, pressure and smoke on a periodic grid."""

    vx: wp.array2d(dtype=float)
    vy: wp.array2d(dtype=float)
    pressure: wp.array2d(dtype=float)
    smoke: wp.array2d(dtype=float)


@wp.func
def at(field: wp.array2d(dtype=float), i: int, j: int):
    n = field.shape[0]
    return field[(i + n) % n, (j + n) % n]


@wp.kernel
def carry(
    vx: wp.array2d(dtype=float), vy: wp.array2d(dtype=float), of: wp.array2d(dtype=float), to: wp.array2d(dtype=float)
):
    i, j = wp.tid()
    x = float(i) - DT * float(SIZE) * vx[i, j]
    y = float(j) - DT * float(SIZE) * vy[i, j]
    k, m = int(wp.floor(x)), int(wp.floor(y))
    a, b = x - float(k), y - float(m)
    low = (1.0 - a) * at(of, k, m) + a * at(of, k + 1, m)
    high = (1.0 - a) * at(of, k, m + 1) + a * at(of, k + 1, m + 1)
    to[i, j] = (1.0 - b) * low + b * high


@wp.kernel
def divergence(vx: wp.array2d(dtype=float), vy: wp.array2d(dtype=float), to: wp.array2d(dtype=float)):
    i, j = wp.tid()
    to[i, j] = 0.5 * (at(vx, i + 1, j) - at(vx, i - 1, j) + at(vy, i, j + 1) - at(vy, i, j - 1))


@wp.kernel
def relax(source: wp.array2d(dtype=float), p: wp.array2d(dtype=float), to: wp.array2d(dtype=float)):
    i, j = wp.tid()
    around = at(p, i + 1, j) + at(p, i - 1, j) + at(p, i, j + 1) + at(p, i, j - 1)
    to[i, j] = p[i, j] / 3.0 + (around - source[i, j]) / 6.0


@wp.kernel
def project(p: wp.array2d(dtype=float), of: wp.array2d(dtype=float), along: int, to: wp.array2d(dtype=float)):
    i, j = wp.tid()
    slope = at(p, i + along, j + 1 - along) - at(p, i - along, j - 1 + along)
    to[i, j] = of[i, j] - 0.5 * slope


@wp.kernel
def misfit(smoke: wp.array2d(dtype=float), wanted: wp.array2d(dtype=float), loss: wp.array(dtype=float)):
    i, j = wp.tid()
    d = smoke[i, j] - wanted[i, j]
    wp.atomic_add(loss, 0, d * d)


def field(values: np.ndarray | None = None) -> wp.array:
    """An array with a gradient."""
    return wp.array(np.zeros((SIZE, SIZE)) if values is None else values, dtype=float, requires_grad=True)


def step(n: int, before: Fluid, after: Fluid) -> None:
    """One step of the flow: what lies between two states is made anew each time."""
    grid = (SIZE, SIZE)
    vx, vy, source = field(), field(), field()
    wp.launch(carry, grid, inputs=[before.vx, before.vy, before.vx], outputs=[vx])
    wp.launch(carry, grid, inputs=[before.vx, before.vy, before.vy], outputs=[vy])
    wp.launch(divergence, grid, inputs=[vx, vy], outputs=[source])
    pressures = [before.pressure, *(field() for _ in range(SWEEPS - 1)), after.pressure]
    for k in range(SWEEPS):
        wp.launch(relax, grid, inputs=[source, pressures[k]], outputs=[pressures[k + 1]])
    wp.launch(project, grid, inputs=[after.pressure, vx, 1], outputs=[after.vx])
    wp.launch(project, grid, inputs=[after.pressure, vy, 0], outputs=[after.vy])
    wp.launch(carry, grid, inputs=[after.vx, after.vy, before.smoke], outputs=[after.smoke])


def gradient(vx: wp.array, vy: wp.array, steps: int = STEPS) -> tuple[float, Report]:
    """Loss after all steps; its gradient is left in the velocities."""
    x = np.linspace(0.0, 1.0, SIZE, endpoint=False)
    blob = np.exp(-80.0 * ((x[:, None] - 0.3) ** 2 + (x[None, :] - 0.4) ** 2))
    wanted = wp.array(np.exp(-80.0 * ((x[:, None] - 0.5) ** 2 + (x[None, :] - 0.5) ** 2)), dtype=float)
    start = Fluid()
    start.vx, start.vy, start.pressure, start.smoke = vx, vy, field(), field(blob)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    with wp.Tape() as tape:
        end = advance(step, start, steps)
        wp.launch(misfit, (SIZE, SIZE), inputs=[end.state.smoke, wanted, loss])
    tape.backward(loss)
    return float(loss.numpy()[0]), end.report


def main() -> None:
    """Print what the gradient took, and follow it for a few rounds."""
    wp.config.log_level = wp.LOG_WARNING
    vx, vy = field(), field()
    for turn in range(4):
        loss, report = gradient(vx, vy)
        if turn == 0:
            print(f"{report.steps} steps, {report.peak_states} states in memory at most, "
                  f"{report.recomputation:.2f} times the steps computed")  # fmt: skip
        slope = np.hypot(np.linalg.norm(vx.grad.numpy()), np.linalg.norm(vy.grad.numpy()))
        print(f"misfit {loss:.3f}, norm of the gradient {slope:.3g}")
        for array in (vx, vy):
            array.assign(array.numpy() - 0.002 * array.grad.numpy())
            array.grad.zero_()


if __name__ == "__main__":
    main()
