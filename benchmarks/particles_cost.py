"""Claim: the particle model's cost is linear in boxes, particles and events, and its memory small.

Processor time per event of constant and additive coagulation, over boxes and over particles a box: the largest over
the smallest stays below 2 as the work grows a hundredfold (larger boxes miss the processor's caches). A process of
its own with 1e5 boxes of 100 particles, all events recorded, replayed and swept in reverse, stays below 2 GiB.

    python -m benchmarks.particles_cost
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

import numpy as np
import warp as wp
from benchmarks.timing import verdict

from retrograde.aerosol.particles import ParticleSimulation, ParticleState, pullback, replay
from retrograde.aerosol.physics import AdditiveKernel, CoagulationKernel, ConstantKernel

N0, V0, LIMIT, MEMORY = 1e12, 1e-21, 2.0, 2.0
KERNELS: dict[str, CoagulationKernel] = {
    "constant": ConstantKernel(1.0 / N0),
    "additive": AdditiveKernel(1.0 / (N0 * V0)),
}


def time_of_event(kernel: CoagulationKernel, boxes: int, particles: int) -> float:
    """Least processor time of an event over some runs [s]."""
    volumes = np.random.default_rng(0).exponential(V0, (boxes, particles, 1))
    state = ParticleState.from_numpy(1000.0 * volumes, particles / N0, device="cpu")
    simulation = ParticleSimulation([0.0, 1.0], kernel=kernel)
    simulation.run(state, seed=0)
    times = []
    for seed in range(5):
        started = time.process_time()
        run = simulation.run(state, seed=seed)
        times.append((time.process_time() - started) / int(run.events.counts.sum()))
    return min(times)


def is_linear(name: str, cases: list[tuple[int, int]]) -> bool:
    """Print the time of an event over the cases, pairs of boxes and particles."""
    each = {case: time_of_event(KERNELS[name], *case) for case in cases}
    ratio = max(each.values()) / min(each.values())
    listed = ", ".join(f"{boxes} x {particles}: {1e9 * t:.0f}" for (boxes, particles), t in each.items())
    print(f"{name} kernel, ns an event by boxes x particles: {listed}; largest over smallest {ratio:.2f}")
    return ratio <= LIMIT


def large() -> None:
    """Run 1e5 boxes of 100 particles, replay them and sweep back; print the process's peak memory [GiB]."""
    boxes, particles = 100_000, 100
    volumes = np.random.default_rng(0).exponential(V0, (boxes, particles, 1))
    state = ParticleState.from_numpy(1000.0 * volumes, particles / N0, device="cpu")
    del volumes
    run = ParticleSimulation([0.0, 1.0], kernel=KERNELS["additive"]).run(state, seed=0)
    replay(state, run.events)
    pullback(run.events, run.final.masses, device="cpu")
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2)


def main() -> int:
    """Time, then memory."""
    wp.config.log_level = wp.LOG_WARNING
    if sys.argv[1:] == ["large"]:
        large()
        return 0
    reached = True
    for name in KERNELS:
        reached &= is_linear(name, [(100, 1000), (1000, 1000), (10_000, 100), (100_000, 100)])
        reached &= is_linear(name, [(100, 100), (100, 1000), (100, 10_000)])
    command = [sys.executable, "-m", "benchmarks.particles_cost", "large"]
    gibibytes = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1])
    print(f"1e5 boxes of 100 particles, recorded, replayed and swept back: {gibibytes:.2f} GiB at most")
    reached &= gibibytes < MEMORY
    print(f"claims of {LIMIT:g} and {MEMORY:g} GiB: {verdict(reached)}")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
