"""Claim: on 25 compositions the mixing state is within 1e-2 of the exact one, and the error is of second order.

Equal particles of two species, mixed externally, under kernels blind to composition: chi is known exactly. What finer
compositions leave is the error of the sizes, so that second order is read as half the error or less from 9 to 17.

    python -m benchmarks.mixing_state
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import warp as wp
from numpy.typing import NDArray

from retrograde.aerosol import SizeGrid
from retrograde.aerosol.composition import (
    CompositionGrid,
    CompositionSimulation,
    CompositionState,
    Species,
    mixing_state_index_by_size,
)
from retrograde.aerosol.exact import (
    additive_kmers,
    constant_kmers,
    mixing_state_index,
    product_kmers,
)
from retrograde.aerosol.physics import AdditiveKernel, CoagulationKernel, ConstantKernel, ProductKernel
from retrograde.aerosol.processes import CoagulationFixedPivot

Floats = NDArray[np.float64]
N0, V0, RATE = 1e12, 1e-21, 1e-15
LEVELS = (4, 8, 16, 24)


@dataclass(frozen=True)
class Case:
    """A kernel and a time at which clusters are known.

    Attributes:
        name: Of the kernel.
        kernel: The kernel.
        kmers: k-mers per initial particle at a dimensionless time.
        time: Dimensionless time.
        bins: Sizes.
        ratio: Volume of a size over that of the one before.
        steps: Steps of Heun's method.
    """

    name: str
    kernel: CoagulationKernel
    kmers: Callable[[Floats, float], Floats]
    time: float
    bins: int
    ratio: float = 2.0
    steps: int = 2000


CONSTANT, ADDITIVE = ConstantKernel(RATE), AdditiveKernel(RATE / V0)
PRODUCT = ProductKernel(RATE / V0**2)
CASES = [
    *(Case("constant", CONSTANT, constant_kmers, time, bins) for time, bins in ((1.0, 8), (2.0, 9))),
    Case("constant", CONSTANT, constant_kmers, 10.0, 20, ratio=2.0**0.5),
    *(Case("additive", ADDITIVE, additive_kmers, time, bins) for time, bins in ((0.5, 9), (1.0, 11))),
    Case("additive", ADDITIVE, additive_kmers, 2.0, 24, ratio=2.0**0.5, steps=8000),
    *(Case("product", PRODUCT, product_kmers, time, bins) for time, bins in ((0.25, 8), (0.5, 10), (0.75, 12))),
]


def error(case: Case, levels: int, fraction: float, exact: float) -> tuple[float, float]:
    """Chi less the exact one, on the grid and without a composition axis."""
    sizes = SizeGrid.from_ratio(V0, case.ratio, case.bins)
    grid = CompositionGrid(sizes, (Species("a"), Species("b")), levels)
    one = N0 * np.eye(case.bins)[0]
    start = CompositionState.from_populations([(fraction * one, [1, 0]), ((1 - fraction) * one, [0, 1])], grid)
    end = case.time / (RATE * N0)
    box = CompositionSimulation(grid, (CoagulationFixedPivot(case.kernel),), np.array([0.0, end]), substeps=case.steps)
    number = box.run(start).final
    return (
        float(number.mixing_state_index()[0]) - exact,
        float(mixing_state_index_by_size(number.numpy(), grid)[0]) - exact,
    )


def main() -> int:
    """Print all errors and whether the claim holds."""
    wp.config.log_level = wp.LOG_WARNING
    holds = True
    print(f"{'kernel':9}{'time':>5}{'share':>6}{'exact':>8}" + "".join(f"{n + 1:>9}" for n in LEVELS) + "   sizes only")
    for case in CASES:
        for fraction in (0.5, 0.2):
            exact = mixing_state_index(lambda k, c=case: c.kmers(k, c.time), [fraction, 1 - fraction])
            errors, by_size = zip(*(error(case, levels, fraction, exact) for levels in LEVELS), strict=True)
            shown = "".join(f"{e:+9.4f}" for e in errors)
            print(f"{case.name:9}{case.time:5.2f}{fraction:6.1f}{exact:8.4f}{shown}{by_size[-1]:+13.3f}", flush=True)
            falls = abs(errors[2]) < 0.5 * abs(errors[1])
            holds = holds and abs(errors[3]) < 1e-2 and falls
    print("the claim holds" if holds else "the claim does not hold")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
