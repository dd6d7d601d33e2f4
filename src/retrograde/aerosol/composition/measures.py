"""Mixing state of particles on a grid of compositions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.composition.grid import CompositionGrid

Floats = NDArray[np.float64]

SMALLEST_DIVERSITY = 1e-12
"""Entropy of the bulk below which one species is alone, and chi not defined [1]."""


def mass_entropies(grid: CompositionGrid) -> Floats:
    """Entropy of the mass fractions of every composition [1], shape [fractions]."""
    return entropies(grid.mass_fractions)


def entropies(shares: Floats) -> Floats:
    """Entropy -sum p ln p along the last axis [1], with 0 ln 0 = 0."""
    return -(shares * np.log(np.where(shares > 0.0, shares, 1.0))).sum(axis=-1)


def mixing_state_index(number: Floats, grid: CompositionGrid) -> Floats:
    """Mixing-state index chi [1], shape [boxes]; NaN where there are no particles or one species alone.

    chi = (D_alpha - 1) / (D_gamma - 1), with D_alpha the exponential of the particles' mass-weighted mean entropy and
    D_gamma that of the bulk's.

    Args:
        number: Number concentrations [m^-3], shape [boxes, bins, fractions].
        grid: Sizes and compositions.

    Source: Riemer and West (2013), doi:10.5194/acp-13-11423-2013.
    """
    each = grid.particle_masses[:-1]
    bulk = np.einsum("bic,ics->bs", number, each)
    return _index(np.einsum("bic,ic,c->b", number, each.sum(axis=2), mass_entropies(grid)), bulk)


def mixing_state_index_by_size(number: Floats, grid: CompositionGrid) -> Floats:
    """The index [1] that a model without a composition axis would find, shape [boxes].

    Such a model carries the species of every size bin, and takes all particles of a bin to be alike. What it finds is
    never too low.

    Args:
        number: Number concentrations [m^-3], shape [boxes, bins, fractions].
        grid: Sizes and compositions.
    """
    masses = np.einsum("bic,ics->bis", number, grid.particle_masses[:-1])
    total = masses.sum(axis=2)
    shares = masses / np.where(total > 0.0, total, 1.0)[..., None]
    return _index((total * entropies(shares)).sum(axis=1), masses.sum(axis=1))


def _index(mass_entropy: Floats, bulk: Floats) -> Floats:
    """Chi from the particles' masses times entropies, summed, and the masses of the species."""
    total = bulk.sum(axis=1)
    safe = np.where(total > 0.0, total, 1.0)
    gamma = entropies(bulk / safe[:, None])
    defined = gamma > SMALLEST_DIVERSITY
    return np.where(defined, np.expm1(mass_entropy / safe) / np.expm1(np.where(defined, gamma, 1.0)), np.nan)
