"""The contract of sectional processes: what each one adds to the tendency of the numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.processes._pairs import PairGeometry

Floats = NDArray[np.float64]


class Scheme(Enum):
    """How a coagulation product is given to the pivots of a grid."""

    FIXED_PIVOT = "fixed pivot"
    CELL_AVERAGE = "cell average"


class Method(Enum):
    """How a step is taken."""

    HEUN = "heun"
    SEMI_IMPLICIT = "semi-implicit"


@dataclass(frozen=True)
class CoagulationTerms:
    """A kernel on a grid and the rule that distributes its products.

    Attributes:
        scheme: How products are given to pivots.
        pairs: Destinations of the products.
        kernel: Coagulation kernel [m^3 s^-1], shape [bins, bins] or [boxes, bins, bins].
    """

    scheme: Scheme
    pairs: PairGeometry
    kernel: Floats


@dataclass(frozen=True)
class Terms:
    """Tendency of the numbers: coagulation - removal * number + supply.

    Attributes:
        coagulation: The quadratic term, if there is one.
        removal: First-order loss [s^-1], shape [bins] or [boxes, bins].
        supply: Constant source [m^-3 s^-1], shape [bins] or [boxes, bins].
    """

    coagulation: CoagulationTerms | None
    removal: Floats
    supply: Floats

    @property
    def bins(self) -> int:
        """Number of size bins."""
        return self.removal.shape[-1]

    @property
    def boxes(self) -> int | None:
        """Number of boxes that the terms are given for, None where they hold for any."""
        counts = {a.shape[0] for a in (self.removal, self.supply) if a.ndim == 2}
        if self.coagulation is not None and self.coagulation.kernel.ndim == 3:
            counts.add(self.coagulation.kernel.shape[0])
        if len(counts) > 1:
            raise ValueError(f"the processes are given for different numbers of boxes: {sorted(counts)}")
        return counts.pop() if counts else None


class Process(Protocol):
    """Anything that changes the numbers of a sectional state at a rate."""

    def terms(self, grid: SizeGrid) -> Terms:
        """What the process adds to the tendency on `grid`.

        Raises:
            ValueError: The process does not fit the grid; the message names field and shape.
        """
        ...


def no_terms(bins: int) -> Terms:
    """Terms of a process that does nothing."""
    return Terms(coagulation=None, removal=np.zeros(bins), supply=np.zeros(bins))


def total(processes: tuple[Process, ...], grid: SizeGrid) -> Terms:
    """Sum of the processes' terms.

    Raises:
        ValueError: Two coagulation processes were given, or their boxes differ in number.
    """
    result = no_terms(grid.bins)
    for process in processes:
        terms = process.terms(grid)
        if terms.coagulation is not None and result.coagulation is not None:
            raise ValueError("processes: a simulation takes one coagulation process, got two")
        result = replace(
            result,
            coagulation=terms.coagulation or result.coagulation,
            removal=_add(result.removal, terms.removal),
            supply=_add(result.supply, terms.supply),
        )
    _ = result.boxes
    return result


def _add(left: Floats, right: Floats) -> Floats:
    """Sum of terms by bin or by box and bin."""
    if left.ndim == right.ndim == 2 and left.shape != right.shape:
        raise ValueError(f"the processes are given for different numbers of boxes: {left.shape[0]}, {right.shape[0]}")
    return left + right
