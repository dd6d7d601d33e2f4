"""What soot and sulfate were mixed with hours ago, from how they are mixed now.

Soot and sulfate particles are emitted apart. They coagulate, sulfuric acid condenses on all of them, and air is
exchanged: the mixing state wanders from external to internal, and particles without any hygroscopicity vanish. An
instrument counts particles at the end, by size and composition. The start is recovered by gradients through all
processes, and the recovery is compared with what was put in, for longer and longer times.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
import warp as wp
from scipy.optimize import minimize
from scipy.stats import wasserstein_distance

from retrograde.aerosol import Environment, SizeGrid
from retrograde.aerosol.composition import (
    CompositionGrid,
    CompositionSimulation,
    CompositionState,
    Condensation,
    Species,
    Vapour,
)
from retrograde.aerosol.losses import CellLoss
from retrograde.aerosol.physics import BrownianKernel
from retrograde.aerosol.processes import CoagulationFixedPivot, Dilution

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.cm import ScalarMappable

HOUR = 3600.0

# --8<-- [start:state]
air = Environment.uniform(1, temperature=293.0)
soot = Species("soot", density=1800.0, kappa=0.0)
sulfate = Species("sulfate", density=1770.0, kappa=0.53)
grid = CompositionGrid(SizeGrid.geometric(60e-9, 600e-9, bins_per_decade=8), (soot, sulfate), levels=5)


def mode(total: float, median: float, width: float) -> np.ndarray:
    """Number in every size bin [m^-3] of a log-normal mode: total [m^-3], median [m], geometric width."""
    shape = np.exp(-0.5 * (np.log(grid.sizes.diameters / median) / np.log(width)) ** 2)
    return total * shape / shape.sum()


TOTAL = 1e11
fresh = CompositionState.from_populations(
    [(mode(0.5 * TOTAL, 90e-9, 1.4), [1, 0]), (mode(0.5 * TOTAL, 150e-9, 1.4), [0.1, 0.9])], grid
)
# --8<-- [end:state]

# --8<-- [start:simulation]
acid = Vapour("sulfate", molar_mass=0.098, diffusivity=9e-6, accommodation=0.7)
ACID = 2e-9  # at the start [kg m^-3]
processes = (CoagulationFixedPivot(BrownianKernel(1800.0), air), Dilution(0.02 / HOUR))


def simulation(tau: float) -> CompositionSimulation:
    """The box over a time in which each particle meets about tau others."""
    rate = BrownianKernel(1800.0).for_boxes(grid.sizes, air)[2, 4]
    times = np.linspace(0.0, tau / (rate * TOTAL), 3)
    return CompositionSimulation(grid, processes, times, Condensation((acid,), air), substeps=None)


# --8<-- [end:simulation]


@dataclass(frozen=True)
class Recovery:
    """A start recovered from an end."""

    tau: float
    hours: float
    end: CompositionState
    start: CompositionState


# --8<-- [start:recovery]
SAMPLE = 2e-7  # air that the instrument draws in [m^3]: 20,000 particles of the fresh aerosol
SPREAD = 3.0  # of the prior, about what is seen, in ln(number)


def recover(tau: float) -> Recovery:
    """Simulate, count particles at the end, and find the start that leads there."""
    box = simulation(tau)
    end = box.run(fresh, [ACID]).final
    counts = np.random.default_rng(1).poisson(end.numpy()[0] * SAMPLE)
    seen = CompositionState.from_numpy(counts / SAMPLE, grid)
    distance = CellLoss(seen, np.sqrt(counts + 1.0) / SAMPLE)
    guess = np.log((counts + 0.1) / SAMPLE)

    def objective(unknown: np.ndarray) -> tuple[float, np.ndarray]:
        """Chi-squared of the end, and of the logarithms about a wide prior; its derivative."""
        number = np.exp(unknown.reshape(guess.shape))
        state = CompositionState.from_numpy(number, grid, requires_grad=True)
        with wp.Tape() as tape:
            loss = distance(box.run(state, [ACID]).final)
        tape.backward(grads={loss: wp.ones_like(loss)})
        departure = (unknown - guess.reshape(-1)) / SPREAD
        slope = state.number.grad.numpy()[0, :-1] * number
        return float(loss.numpy()[0]) + departure @ departure, slope.reshape(-1) + 2.0 * departure / SPREAD

    found = minimize(objective, guess.reshape(-1), jac=True, method="L-BFGS-B", options={"maxiter": 60})
    start = CompositionState.from_numpy(np.exp(found.x.reshape(guess.shape)), grid)
    return Recovery(tau, float(box.times[-1]) / HOUR, end, start)


# --8<-- [end:recovery]


def kappa_error(state: CompositionState) -> float:
    """How far kappa has to be moved, on average, to make the fresh aerosol's distribution of it [1]."""
    kappas, number = fresh.kappa_distribution()
    return float(wasserstein_distance(kappas, kappas, number[0], state.kappa_distribution()[1][0]))


def chi(state: CompositionState) -> float:
    """Mixing-state index [1]."""
    return float(state.mixing_state_index()[0])


def _map(axes: plt.Axes, state: CompositionState, title: str) -> ScalarMappable:
    shown = np.log10(np.maximum(state.numpy()[0].T * 1e-6, 1.0))
    extent = (-0.5, grid.bins - 0.5, -0.1, 1.1)
    image = axes.imshow(shown, origin="lower", aspect="auto", extent=extent, vmin=0, vmax=4.5)
    ticks = range(0, grid.bins, 3)
    axes.set_xticks(ticks, [f"{grid.sizes.diameters[i] * 1e9:.0f}" for i in ticks])
    axes.set_title(title, fontsize=10)
    axes.set_xlabel("diameter [nm]")
    return image


def draw(recoveries: list[Recovery], path: Path) -> None:
    """Maps of the longest run, its kappas, and errors against tau."""
    last = recoveries[-1]
    figure, axes = plt.subplots(1, 5, figsize=(17, 3.4), layout="constrained", width_ratios=[1, 1, 1.2, 1.2, 1.3])
    _map(axes[0], fresh, f"at the start: chi {chi(fresh):.2f}")
    _map(axes[1], last.end, f"after {last.hours:.1f} h: chi {chi(last.end):.2f}")
    image = _map(axes[2], last.start, f"recovered start: chi {chi(last.start):.2f}")
    figure.colorbar(image, ax=axes[2], label="log10 of number [cm^-3]")
    axes[0].set_ylabel("volume fraction of sulfate")
    kappas = fresh.kappa_distribution()[0]
    for state, name, style in ((fresh, "start", "k-"), (last.end, "end", "C0--"), (last.start, "recovered", "C1o")):
        number = state.kappa_distribution()[1][0]
        axes[3].plot(kappas, number / number.sum(), style, label=name)
    axes[3].set(xlabel="kappa", ylabel="share of the number", title="hygroscopicity")
    taus = [r.tau for r in recoveries]
    for get, style, name in ((lambda r: r.end, "o--", "end taken for start"), (lambda r: r.start, "o-", "recovered")):
        axes[4].semilogy(taus, [abs(chi(get(r)) - chi(fresh)) for r in recoveries], f"C0{style}", label=f"chi, {name}")
        axes[4].semilogy(taus, [kappa_error(get(r)) for r in recoveries], f"C1{style}", label=f"kappa, {name}")
    axes[4].set(xlabel="tau", title="error", ylim=(3e-4, 1.0))
    for axis in axes[3:]:
        axis.legend(fontsize=7, handlelength=3.5)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main(path: Path, taus: list[float]) -> None:
    """Recover the start from later and later ends, print the errors, draw."""
    recoveries = [recover(tau) for tau in taus]
    print("tau  hours  chi: start   end  recovered   kappa error: end  recovered")
    for r in recoveries:
        print(
            f"{r.tau:3.1f} {r.hours:6.2f} {chi(fresh):11.3f} {chi(r.end):6.3f} {chi(r.start):8.3f} "
            f"{kappa_error(r.end):17.4f} {kappa_error(r.start):9.4f}"
        )
    draw(recoveries, path)
    print(f"drawn: {path.name}")


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "soot_before_mixing.png")
    main(target, [float(t) for t in sys.argv[2:]] or [0.5, 1.0, 2.0, 4.0, 8.0])
