"""Particle states: the masses of single particles, in boxes of air of known volume."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol._device import WarpArray, device_of, shape_of, to_device, to_host, type_of, wp
from retrograde.aerosol.constants import DEFAULT_DENSITY
from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.states import SectionalState, check_concentrations

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ParticleState:
    """Particles of equal weight: each stands for one particle in its box's volume of air.

    A slot without mass is empty. The constructor takes device memory as it is; `from_numpy` checks values.

    Attributes:
        masses: Mass of every species in every particle [kg], shape [boxes, particles, species], float64.
        density: Density of the species [kg m^-3], shape [species], on the host.
        volume: Volume of air of each box [m^3], shape [boxes], on the host.

    Raises:
        ValueError: A shape or type is not as described, or a density or volume is not positive.
    """

    masses: WarpArray
    density: Floats
    volume: Floats

    def __post_init__(self) -> None:
        shape = shape_of(self.masses)
        if len(shape) != 3 or 0 in shape:
            raise ValueError(f"masses [kg]: expected shape [boxes, particles, species], got {shape}")
        if type_of(self.masses) is not wp.float64:
            raise ValueError(f"masses [kg]: expected float64, got {type_of(self.masses)}")
        for name, unit, length in (("density", "kg m^-3", shape[2]), ("volume", "m^3", shape[0])):
            values = np.array(getattr(self, name), dtype=np.float64)
            if values.shape != (length,) or not (np.isfinite(values).all() and (values > 0).all()):
                raise ValueError(f"{name} [{unit}]: expected {length} finite positive values, got {values}")
            values.flags.writeable = False
            object.__setattr__(self, name, values)

    @classmethod
    def from_numpy(cls, masses: Any, volume: Any, *, density: Any = None, device: Any = None) -> ParticleState:
        """State from host values, copied.

        Args:
            masses: Masses [kg], shape [boxes, particles, species]; empty slots are zero.
            volume: Volume of air of each box [m^3], a number or shape [boxes].
            density: Density of the species [kg m^-3], a number or shape [species]; that of water by default.
            device: Warp device; the current default if None.

        Raises:
            ValueError: A shape is not as described, or a value is negative or not finite.
        """
        values = np.asarray(masses, dtype=np.float64)
        if values.ndim != 3:
            raise ValueError(f"masses [kg]: expected shape [boxes, particles, species], got {list(values.shape)}")
        check_concentrations("masses", values, "[kg]")
        dense = np.broadcast_to(np.asarray(DEFAULT_DENSITY if density is None else density, float), values.shape[2:])
        air = np.asarray(volume, dtype=np.float64)
        if air.shape not in ((), values.shape[:1]):
            raise ValueError(f"volume [m^3]: expected a number or shape [{values.shape[0]}], got {list(air.shape)}")
        return cls(to_device(values, device=device), dense, np.broadcast_to(air, values.shape[:1]))

    @property
    def boxes(self) -> int:
        """Number of boxes."""
        return shape_of(self.masses)[0]

    @property
    def slots(self) -> int:
        """Places for particles in every box."""
        return shape_of(self.masses)[1]

    @property
    def species(self) -> int:
        """Number of species."""
        return shape_of(self.masses)[2]

    @property
    def device(self) -> Any:
        """Warp device of the masses."""
        return device_of(self.masses)

    def numpy(self) -> Floats:
        """Masses on the host [kg], shape [boxes, particles, species], copied."""
        return to_host(self.masses)

    def particle_volumes(self) -> Floats:
        """Volume of every particle [m^3], shape [boxes, particles]; zero in empty slots."""
        return self.numpy() @ (1.0 / self.density)

    def counts(self) -> NDArray[np.int64]:
        """Particles in every box, shape [boxes]."""
        return (self.numpy().sum(axis=2) > 0.0).sum(axis=1)

    def concentration(self) -> Floats:
        """Number concentration that each slot stands for [m^-3], shape [boxes, particles]; zero in empty slots."""
        return (self.numpy().sum(axis=2) > 0.0) / self.volume[:, np.newaxis]

    def total_number(self) -> Floats:
        """Number concentration [m^-3], shape [boxes]."""
        return self.counts() / self.volume

    def moment(self, order: float) -> Floats:
        """Sum of particle volume to the power `order` per volume of air [m^(3 order - 3)], shape [boxes]."""
        sizes = self.particle_volumes()
        powers = np.where(sizes > 0.0, np.where(sizes > 0.0, sizes, 1.0) ** order, 0.0)
        return powers.sum(axis=1) / self.volume

    def species_mass(self) -> Floats:
        """Mass of every species per volume of air [kg m^-3], shape [boxes, species]."""
        return self.numpy().sum(axis=1) / self.volume[:, np.newaxis]

    def bin_numbers(self, grid: SizeGrid) -> Floats:
        """Number concentration between the grid's edges [m^-3], shape [boxes, bins]; others are left out."""
        return self._histogram(grid, None)

    def bin_volumes(self, grid: SizeGrid) -> Floats:
        """Particle volume between the grid's edges per volume of air [m^3 m^-3], shape [boxes, bins]."""
        return self._histogram(grid, self.particle_volumes())

    def sectional(self, grid: SizeGrid) -> SectionalState:
        """The numbers between the grid's edges as a sectional state."""
        return SectionalState.from_numpy(self.bin_numbers(grid), grid, device=self.device)

    def mixing_state_index(self) -> Floats:
        """Mixing-state index chi [1], shape [boxes]; NaN where there are no particles or one species alone.

        Source: Riemer and West (2013), doi:10.5194/acp-13-11423-2013.
        """
        masses = self.numpy()
        each, bulk = masses.sum(axis=2), masses.sum(axis=1)
        total = bulk.sum(axis=1)
        safe, safe_total = np.where(each > 0.0, each, 1.0), np.where(total > 0.0, total, 1.0)
        shares, bulk_shares = masses / safe[..., np.newaxis], bulk / safe_total[:, np.newaxis]
        entropy = -(each * _x_ln_x(shares).sum(axis=2)).sum(axis=1) / safe_total
        bulk_entropy = -_x_ln_x(bulk_shares).sum(axis=1)
        defined = bulk_entropy > 1e-14
        return np.where(defined, np.expm1(entropy) / np.expm1(np.where(defined, bulk_entropy, 1.0)), np.nan)

    def doubled(self) -> ParticleState:
        """Every particle twice, in twice the volume of air: refills a box that has run thin.

        Twins are not independent, so the process that goes on from here agrees in the mean with the one
        without doubling only as the number of particles grows.
        """
        masses = self.numpy()
        return replace(
            self, masses=to_device(np.concatenate([masses, masses], 1), device=self.device), volume=2.0 * self.volume
        )

    def _histogram(self, grid: SizeGrid, weights: Floats | None) -> Floats:
        sizes = self.particle_volumes()
        index = np.searchsorted(grid.edges, sizes, side="right") - 1
        inside = (index >= 0) & (index < grid.bins) & (sizes > 0.0)
        place = (index + grid.bins * np.arange(self.boxes)[:, np.newaxis])[inside]
        chosen = None if weights is None else weights[inside]
        sums = np.bincount(place, chosen, minlength=grid.bins * self.boxes)
        return sums.reshape(self.boxes, grid.bins) / self.volume[:, np.newaxis]

    def __repr__(self) -> str:
        return f"ParticleState({self.boxes} boxes, {self.slots} slots, {self.species} species, {self.device})"


def _x_ln_x(x: Floats) -> Floats:
    """X ln x, zero at zero."""
    return x * np.log(np.where(x > 0.0, x, 1.0))
