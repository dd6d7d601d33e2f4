"""Particles of particula's data-oriented form, taken in and given back by their attributes alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from retrograde.aerosol.formats.particula import Container, ParticleFields, check_fields

if TYPE_CHECKING:
    from retrograde.aerosol.particles.state import ParticleState

_EQUAL = 1e-9
"""Relative spread of the particles' concentrations that is taken for rounding."""


def particles_from_particula(data: ParticleFields, *, device: Any = None) -> ParticleState:
    """Particle state of an object with particula's fields; every slot keeps its place.

    A particle stands for as many as its concentration says; where that is not one, the box is taken for the
    volume of air that holds one of each.

    Args:
        data: Object with the attributes of `ParticleFields`.
        device: Warp device; the current default if None.

    Raises:
        ValueError: Shapes disagree, a value is negative or not finite, or the particles of a box have
            different weights, which is another process.
    """
    check_fields(data)
    masses = np.asarray(data.masses, dtype=np.float64)
    concentration = np.asarray(data.concentration, dtype=np.float64)
    held = (masses.sum(axis=2) > 0.0) & (concentration > 0.0)
    most = np.where(held, concentration, 0.0).max(axis=1)
    least = np.where(held, concentration, np.inf).min(axis=1)
    unequal = np.flatnonzero(held.any(axis=1) & (least < most * (1.0 - _EQUAL)))
    if unequal.size:
        box = int(unequal[0])
        raise ValueError(
            f"concentration [1]: the particles of box {box} have different weights, {least[box]:g} to {most[box]:g}; "
            "a particle state holds particles of equal weight"
        )
    each = np.where(most > 0.0, most, 1.0)
    volume = np.asarray(data.volume, dtype=np.float64) / each
    present = np.where(held[..., np.newaxis], masses, 0.0)
    from retrograde.aerosol.particles.state import ParticleState

    return ParticleState.from_numpy(present, volume, density=np.asarray(data.density), device=device)


def particles_to_particula(state: ParticleState, container: Callable[..., Container]) -> Container:
    """The particles as particula has them: a concentration of one in every slot that holds one.

    Args:
        state: Particle state.
        container: Called with `masses`, `concentration`, `charge`, `density` and `volume`; particula's
            `ParticleData`, or `dict`.
    """
    masses = state.numpy()
    present = (masses.sum(axis=2) > 0.0).astype(np.float64)
    return container(
        masses=masses,
        concentration=present,
        charge=np.zeros_like(present),
        density=state.density.copy(),
        volume=state.volume.copy(),
    )
