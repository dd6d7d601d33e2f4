"""Grids of size and composition: the pivots that a composition-resolved state holds its number on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from retrograde.aerosol._checks import check_not_negative, check_positive
from retrograde.aerosol.composition.lattice import CompositionLattice
from retrograde.aerosol.constants import DEFAULT_DENSITY
from retrograde.aerosol.grids import SizeGrid

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Species:
    """A substance that particles hold.

    Attributes:
        name: What it is called.
        density: Density [kg m^-3].
        kappa: Hygroscopicity parameter of Petters and Kreidenweis (2007) [1].
        molar_mass: Molar mass [kg mol^-1], where mole fractions are asked for.
    """

    name: str
    density: float = DEFAULT_DENSITY
    kappa: float = 0.0
    molar_mass: float | None = None

    def __post_init__(self) -> None:
        check_positive(f"density of {self.name}", self.density, "kg m^-3")
        check_not_negative(f"kappa of {self.name}", self.kappa, "1")
        if self.molar_mass is not None:
            check_positive(f"molar_mass of {self.name}", self.molar_mass, "kg mol^-1")


@dataclass(frozen=True, eq=False)
class CompositionGrid:
    """Particle volume times volume fractions of the species.

    Every size bin is divided by composition, on a lattice of volume fractions. Volume fractions, since
    the volumes of species add up, and kappa is linear in them. One row of cells lies above the grid: it
    takes what grows past the top, so that no species is lost.

    Attributes:
        sizes: Size bins.
        species: What the particles hold.
        levels: Steps from one pure species to another.

    Raises:
        ValueError: No species, two of one name, fewer than 2 size bins, or no level.
    """

    sizes: SizeGrid
    species: tuple[Species, ...]
    levels: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "species", tuple(self.species))
        names = [s.name for s in self.species]
        if len(set(names)) != len(names):
            raise ValueError(f"species: expected different names, got {names}")
        if self.sizes.bins < 2:
            raise ValueError("sizes: expected a grid of at least 2 bins, got 1")
        object.__setattr__(self, "_lattice", CompositionLattice(len(names), self.levels))

    @property
    def lattice(self) -> CompositionLattice:
        """The compositions."""
        lattice: CompositionLattice = self.__dict__["_lattice"]
        return lattice

    @property
    def bins(self) -> int:
        """Number of size bins."""
        return self.sizes.bins

    @property
    def rows(self) -> int:
        """Size bins and the row above them."""
        return self.bins + 1

    @property
    def fractions(self) -> int:
        """Number of compositions in every size bin."""
        return len(self.lattice.counts)

    @property
    def cells(self) -> int:
        """Cells in all rows."""
        return self.rows * self.fractions

    @property
    def row_volumes(self) -> Floats:
        """Particle volume in every row [m^3], shape [rows]; the last continues the grid geometrically."""
        volumes = self.sizes.volumes
        return np.append(volumes, volumes[-1] ** 2 / volumes[-2])

    @property
    def densities(self) -> Floats:
        """Density of the species [kg m^-3], shape [species]."""
        return np.array([s.density for s in self.species])

    @property
    def volume_fractions(self) -> Floats:
        """Volume fractions of every composition [1], shape [fractions, species]."""
        return self.lattice.fractions

    @property
    def mass_fractions(self) -> Floats:
        """Mass fractions of every composition [1], shape [fractions, species]."""
        masses = self.volume_fractions * self.densities
        return masses / masses.sum(axis=1, keepdims=True)

    @property
    def kappas(self) -> Floats:
        """Hygroscopicity parameter of every composition [1], shape [fractions].

        Source: the mixing rule of Petters and Kreidenweis (2007), doi:10.5194/acp-7-1961-2007, equation 7.
        """
        return self.volume_fractions @ np.array([s.kappa for s in self.species])

    @property
    def particle_masses(self) -> Floats:
        """Mass of every species in a particle of each cell [kg], shape [rows, fractions, species]."""
        return self.row_volumes[:, None, None] * self.volume_fractions * self.densities

    def composition(self, amounts: ArrayLike) -> Floats:
        """Volume fractions [1] from those, or from any volumes, of the species, shape [species].

        Raises:
            ValueError: Another shape, a negative or non-finite value, or nothing at all.
        """
        values = np.asarray(amounts, dtype=np.float64)
        if values.shape != (len(self.species),):
            raise ValueError(f"amounts [m^3]: expected shape [{len(self.species)}], got {list(values.shape)}")
        if not (np.isfinite(values).all() and (values >= 0).all() and values.sum() > 0):
            raise ValueError(f"amounts [m^3]: expected finite values, none negative, one positive, got {values}")
        return values / values.sum()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CompositionGrid):
            return NotImplemented
        return (self.sizes, self.species, self.levels) == (other.sizes, other.species, other.levels)

    def __hash__(self) -> int:
        return hash((self.sizes, self.species, self.levels))

    def __repr__(self) -> str:
        names = ", ".join(s.name for s in self.species)
        return f"CompositionGrid({self.sizes!r}, {self.fractions} compositions of {names})"
