"""Vapours that particles exchange with the air, and how fast they would at every pivot of a grid."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol._checks import check_not_negative, check_positive
from retrograde.aerosol.composition.grid import CompositionGrid
from retrograde.aerosol.physics import ideal_activity, kappa_activity, kelvin_ratio, uptake_rate
from retrograde.aerosol.states import Environment

Floats = NDArray[np.float64]


class Activity(Enum):
    """How the vapour pressure over a mixture depends on its composition."""

    IDEAL = "ideal"
    """By mole fraction."""
    KAPPA = "kappa"
    """That of water, by the hygroscopicity of all else in the particle."""


class UptakeLaw(Protocol):
    """How fast particles clear the air around them of a vapour."""

    def rates(self, diameters: Floats, vapour: Vapour, temperature: float) -> Floats:
        """Volume of air cleared by a particle in a time [m^3 s^-1], of the shape of the diameters [m]."""
        ...


@dataclass(frozen=True)
class FuchsSutugin:
    """From free molecules to the continuum, after Fuchs and Sutugin (1971)."""

    def rates(self, diameters: Floats, vapour: Vapour, temperature: float) -> Floats:
        """Volume of air cleared by a particle in a time [m^3 s^-1]."""
        return uptake_rate(diameters, vapour.diffusivity, vapour.molar_mass, vapour.accommodation, temperature)


@dataclass(frozen=True)
class ContinuumUptake:
    """Diffusion to spheres much larger than the mean free path, 2 pi Dp D, after Maxwell (1877)."""

    def rates(self, diameters: Floats, vapour: Vapour, temperature: float) -> Floats:
        """Volume of air cleared by a particle in a time [m^3 s^-1]."""
        return 2.0 * np.pi * diameters * vapour.diffusivity


@dataclass(frozen=True)
class VolumeProportionalUptake:
    """In proportion to the particle's volume, which has exact solutions together with coagulation.

    Attributes:
        rate: Volume of air cleared in a time, over the particle's volume [s^-1].
    """

    rate: float

    def __post_init__(self) -> None:
        check_positive("rate", self.rate, "s^-1")

    def rates(self, diameters: Floats, vapour: Vapour, temperature: float) -> Floats:
        """Volume of air cleared by a particle in a time [m^3 s^-1]."""
        return self.rate * np.pi / 6.0 * diameters**3


@dataclass(frozen=True)
class Vapour:
    """A species that particles exchange with the gas.

    Attributes:
        species: Name of the species on the grid.
        molar_mass: Molar mass [kg mol^-1].
        diffusivity: Diffusivity in air [m^2 s^-1].
        saturation: Concentration over a flat surface of the pure species [kg m^-3]; 0 for what only condenses.
        accommodation: Mass accommodation coefficient [1].
        surface_tension: Surface tension [N m^-1]; 0 for no Kelvin effect.
        activity: How the vapour pressure depends on what else is in the particle.
        uptake: How fast particles take it up.
    """

    species: str
    molar_mass: float
    diffusivity: float
    saturation: float = 0.0
    accommodation: float = 1.0
    surface_tension: float = 0.0
    activity: Activity = Activity.IDEAL
    uptake: UptakeLaw = FuchsSutugin()

    def __post_init__(self) -> None:
        for name, unit in (("molar_mass", "kg mol^-1"), ("diffusivity", "m^2 s^-1"), ("accommodation", "1")):
            check_positive(f"{name} of {self.species}", getattr(self, name), unit)
        check_not_negative(f"saturation of {self.species}", self.saturation, "kg m^-3")
        check_not_negative(f"surface_tension of {self.species}", self.surface_tension, "N m^-1")


def uptake_rates(vapour: Vapour, grid: CompositionGrid, environment: Environment) -> Floats:
    """Air that a particle of each size clears of a vapour in a time [m^3 s^-1], shape [boxes, bins]."""
    air, index = environment.distinct()
    diameters = grid.sizes.diameters
    return np.stack([vapour.uptake.rates(diameters, vapour, float(t)) for t in air.temperature])[index]


def surface_concentrations(vapour: Vapour, grid: CompositionGrid, environment: Environment) -> Floats:
    """Concentration of a vapour at particles' surfaces [kg m^-3], shape [boxes, bins, fractions].

    That over the pure flat surface, times activity, times Kelvin's ratio.
    """
    place = species_index(vapour, grid)
    activity = _activity(vapour, place, grid)
    kelvin = kelvin_ratio(
        grid.sizes.diameters,
        vapour.surface_tension,
        vapour.molar_mass,
        grid.densities[place],
        environment.temperature[:, None],
    )
    return vapour.saturation * kelvin[:, :, None] * activity


def species_index(vapour: Vapour, grid: CompositionGrid) -> int:
    """Place of the vapour among the species of the grid; a ValueError if it is not there."""
    names = [s.name for s in grid.species]
    if vapour.species not in names:
        raise ValueError(f"vapours: the grid has no species {vapour.species!r}, only {', '.join(names)}")
    return names.index(vapour.species)


def _activity(vapour: Vapour, place: int, grid: CompositionGrid) -> Floats:
    """Activity at every composition [1], shape [fractions]."""
    shares = grid.volume_fractions
    if vapour.activity is Activity.KAPPA:
        others = 1.0 - shares[:, place]
        solute = np.where(others > 0.0, others, 1.0)
        kappas = np.array([0.0 if i == place else s.kappa for i, s in enumerate(grid.species)])
        return kappa_activity(shares[:, place], others, shares @ kappas / solute)
    amounts = shares * grid.densities / _molar_masses(vapour, place, grid)
    return ideal_activity(amounts[:, place], amounts.sum(axis=1))


def _molar_masses(vapour: Vapour, place: int, grid: CompositionGrid) -> Floats:
    if vapour.saturation == 0.0:
        return np.full(len(grid.species), vapour.molar_mass)
    masses = [vapour.molar_mass if i == place else s.molar_mass for i, s in enumerate(grid.species)]
    missing = [s.name for s, mass in zip(grid.species, masses, strict=True) if mass is None]
    if missing:
        raise ValueError(
            f"molar_mass [kg mol^-1]: needed of {', '.join(missing)} for the ideal activity of {vapour.species}"
        )
    return np.array(masses, dtype=np.float64)
