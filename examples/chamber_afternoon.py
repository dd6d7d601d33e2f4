"""An aerosol in a chamber over an hour, and what its last hour says about its first minute.

Particles coagulate, are lost to the walls and are flushed out. A loss compares the size distribution
at three later times with measured ones; one backward pass gives its derivative with respect to the
number in every size bin at the start.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import warp as wp

from retrograde.aerosol import Environment, SectionalState, SizeGrid
from retrograde.aerosol.losses import L2Loss
from retrograde.aerosol.physics import BrownianKernel, PowerLawLoss
from retrograde.aerosol.plots import plot_sensitivity, plot_spectra, plot_totals
from retrograde.aerosol.processes import CoagulationFixedPivot, Dilution, FirstOrderLoss
from retrograde.aerosol.simulation import Simulation, Trajectory

mpl.use("Agg")
from matplotlib import pyplot as plt

HOUR = 3600.0

# --8<-- [start:state]
grid = SizeGrid.geometric(10e-9, 2e-6, bins_per_decade=32)
air = Environment.uniform(1, temperature=296.0, pressure=101325.0)


def lognormal(total: float, median: float, width: float) -> np.ndarray:
    """Number in every bin [m^-3] of a log-normal aerosol: total [m^-3], median [m], geometric width."""
    shape = np.exp(-0.5 * (np.log(grid.diameters / median) / np.log(width)) ** 2) * grid.ln_widths
    return total * shape / shape.sum()


guess = SectionalState.from_numpy(lognormal(4e11, 60e-9, 1.6), grid, requires_grad=True)
# --8<-- [end:state]

# --8<-- [start:simulation]
processes = (
    CoagulationFixedPivot(BrownianKernel(), air),
    FirstOrderLoss(PowerLawLoss(rate=0.1 / HOUR, slope=0.3 / HOUR, exponent=-1.0)),
    Dilution(0.2 / HOUR),
)
simulation = Simulation(grid, processes, times=np.linspace(0.0, HOUR, 7), substeps=10)
# --8<-- [end:simulation]


def measured() -> Trajectory:
    """What an instrument would have seen: the same chamber, from a start that is not the guess."""
    return simulation.run(SectionalState.from_numpy(lognormal(5e11, 75e-9, 1.5), grid))


# --8<-- [start:gradient]
SEEN = (2, 4, 6)


def loss_and_gradient(state: SectionalState, observations: Trajectory) -> tuple[float, np.ndarray, Trajectory]:
    """Sum over three times of the squared distance between spectra; its derivative; the run."""
    with wp.Tape() as tape:
        trajectory = simulation.run(state)
        losses = [L2Loss(observations.state(i), scale=1e11)(trajectory.state(i)) for i in SEEN]
    tape.backward(grads={loss: wp.ones_like(loss) for loss in losses})
    total = sum(float(loss.numpy()[0]) for loss in losses)
    return total, state.number.grad.numpy()[0].copy(), trajectory


# --8<-- [end:gradient]


# --8<-- [start:check]
def slope_by_differences(direction: np.ndarray, observations: Trajectory) -> float:
    """Derivative of the loss along a direction, by a central difference of two runs."""

    def loss_at(step: float) -> float:
        state = SectionalState.from_numpy(guess.numpy() + step * direction, grid)
        trajectory = simulation.run(state)
        return sum(float(L2Loss(observations.state(i), scale=1e11)(trajectory.state(i)).numpy()[0]) for i in SEEN)

    return (loss_at(1e-4) - loss_at(-1e-4)) / 2e-4


# --8<-- [end:check]


def draw(trajectory: Trajectory, gradient: np.ndarray, path: Path) -> None:
    """Three panels: spectra, totals, derivative."""
    # --8<-- [start:plot]
    figure, (spectra, totals, sensitivity) = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    plot_spectra(spectra, trajectory, indices=[0, 2, 4, 6])
    plot_totals(totals, trajectory)
    plot_sensitivity(sensitivity, grid, gradient * guess.numpy()[0])
    sensitivity.set_ylabel("change of the loss per relative change")
    figure.savefig(path, dpi=110)
    # --8<-- [end:plot]
    plt.close(figure)


def main(path: Path) -> None:
    """Simulate, differentiate, check one direction, draw."""
    observations = measured()
    loss, gradient, trajectory = loss_and_gradient(guess, observations)
    number, last = trajectory.state(0).total_number()[0], trajectory.final.total_number()[0]
    print(f"number: {number * 1e-6:.0f} cm^-3 at the start, {last * 1e-6:.0f} cm^-3 after an hour")
    print(f"loss {loss:.6f}; longest step {HOUR / 60:.0f} s, largest safe one {1 / trajectory.peak_rate[0]:.0f} s")
    direction = guess.numpy()[0]
    by_gradient, by_differences = float(gradient @ direction), slope_by_differences(direction, observations)
    print(f"slope along the state itself: {by_gradient:.9f} by the gradient, {by_differences:.9f} by differences")
    draw(trajectory, gradient, path)
    print(f"drawn: {path.name}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "chamber_afternoon.png"))
