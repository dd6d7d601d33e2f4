"""Claim: a coagulation event takes no more processor time than in PartMC's own run.

Additive kernel from an exponential start of 10,000 particles to b N0 v0 t = 1, one box, one core, double
precision. PartMC runs through PyPartMC as a separate program, in turns with this project, with ten time steps,
which is fewer than its accuracy asks for and in its favour; this project's process has no step. Needs the path of
a Python interpreter that has PyPartMC:

    python -m benchmarks.particles_vs_partmc /path/to/python
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import warp as wp
from benchmarks.timing import verdict

from retrograde.aerosol.particles import ParticleSimulation, ParticleState, Record
from retrograde.aerosol.physics import AdditiveKernel

PARTICLES, STEPS, ROUNDS, TURNS = 10_000, 10, 5, 5
N0, V0 = 1e12, np.pi / 6.0 * 1e-21


def ours(record: Record, seed: int) -> tuple[float, float]:
    """Processor time of an event [s], and number at the end over that at the start."""
    volumes = np.random.default_rng(seed).exponential(V0, (1, PARTICLES, 1))
    state = ParticleState.from_numpy(1000.0 * volumes, PARTICLES / N0, device="cpu")
    simulation = ParticleSimulation([0.0, 1.0], kernel=AdditiveKernel(1.0 / (N0 * V0)))
    started = time.process_time()
    final = simulation.run(state, seed=seed, record=record).final
    seconds = time.process_time() - started
    left = int(final.counts()[0])
    return seconds / (PARTICLES - left), left / PARTICLES


def partmc(interpreter: str) -> list[tuple[float, float]]:
    """The same of PartMC, some runs."""
    script = Path(__file__).with_name("peer_partmc.py")
    arguments = [interpreter, str(script), str(PARTICLES), str(STEPS), str(ROUNDS)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    rows = [line.split() for line in done.stdout.splitlines() if len(line.split()) == 3]
    return [(float(s) / (int(a) - int(b)), int(b) / int(a)) for a, b, s in rows]


def main() -> int:
    """Compare in turns."""
    wp.config.log_level = wp.LOG_WARNING
    if len(sys.argv) < 2:
        print("skipped: give the path of a Python interpreter that has PyPartMC")
        return 0
    results: dict[str, list[tuple[float, float]]] = {"PartMC": []}
    for record in Record:
        ours(record, 0)
        results[f"ours, recording {record.name.lower()}"] = []
    for turn in range(TURNS):
        results["PartMC"] += partmc(sys.argv[1])
        for record in Record:
            results[f"ours, recording {record.name.lower()}"] += [
                ours(record, ROUNDS * turn + k) for k in range(ROUNDS)
            ]
    for name, values in results.items():
        times, left = zip(*values, strict=True)
        error = np.std(left, ddof=1) / np.sqrt(len(left))
        print(f"{name}: median {1e6 * statistics.median(times):.2f} us an event, best {1e6 * min(times):.2f}; "
              f"N / N0 {np.mean(left):.4f} +- {error:.4f} (exact {np.exp(-1.0):.4f})")  # fmt: skip
    own = max(statistics.median(t for t, _ in v) for n, v in results.items() if n != "PartMC")
    ratio = statistics.median(t for t, _ in results["PartMC"]) / own
    print(f"claim of at least 1: {ratio:.1f} times as fast with everything recorded: {verdict(ratio >= 1.0)}")
    return 0 if ratio >= 1.0 else 1


if __name__ == "__main__":
    sys.exit(main())
