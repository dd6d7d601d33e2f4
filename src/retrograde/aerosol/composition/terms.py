"""Processes on a grid of size and composition."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.composition._pairs import cell_kernel, composition_pairs
from retrograde.aerosol.composition.grid import CompositionGrid
from retrograde.aerosol.processes.terms import CoagulationTerms, Process, Scheme, Terms, total

Floats = NDArray[np.float64]


def composition_terms(processes: tuple[Process, ...], grid: CompositionGrid) -> Terms:
    """Tendency of the numbers in all cells, in the order [rows, fractions].

    Processes see a particle's size alone: kernels and rates are those of its size bin. The row above the grid takes
    part in none.

    Args:
        processes: Those of `retrograde.aerosol.processes`; coagulation by the fixed pivot technique.
        grid: Sizes and compositions.

    Raises:
        ValueError: Coagulation is of another technique, a process brings in particles, whose composition would not be
            known, or a process does not fit the grid.
    """
    by_size = total(processes, grid.sizes)
    if np.any(by_size.supply != 0.0):
        raise ValueError("background [m^-3]: no composition is known for it; on a composition grid dilute by clean air")
    coagulation = None
    if by_size.coagulation is not None:
        if by_size.coagulation.scheme is not Scheme.FIXED_PIVOT:
            raise ValueError(
                f"processes: coagulation on a composition grid is by the {Scheme.FIXED_PIVOT.value}, "
                f"not the {by_size.coagulation.scheme.value}"
            )
        coagulation = CoagulationTerms(
            scheme=Scheme.FIXED_PIVOT,
            pairs=composition_pairs(grid),
            kernel=cell_kernel(by_size.coagulation.kernel, grid),
        )
    removal = _by_cell(by_size.removal, grid)
    return Terms(coagulation=coagulation, removal=removal, supply=np.zeros_like(removal))


def _by_cell(rates: Floats, grid: CompositionGrid) -> Floats:
    """Rates by size bin as rates by cell; zero above the grid."""
    padded = np.pad(rates, [(0, 0)] * (rates.ndim - 1) + [(0, 1)])
    return np.repeat(padded, grid.fractions, axis=-1)
