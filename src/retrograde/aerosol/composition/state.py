"""Composition-resolved states: number on bins of size and composition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from retrograde.aerosol._device import WarpArray, device_of, shape_of, to_device, to_host, type_of, wp
from retrograde.aerosol.composition.grid import CompositionGrid
from retrograde.aerosol.composition.measures import mixing_state_index
from retrograde.aerosol.particles.state import ParticleState
from retrograde.aerosol.states import SectionalState, check_concentrations

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CompositionState:
    """Number concentration by size and composition.

    The constructor takes device memory as it is; `from_numpy` and `check_values` check the values.

    Attributes:
        number: Number concentration of each cell [m^-3], shape [boxes, rows, fractions], float64. The last row
            holds what has grown past the grid, counted in particles of the volume `grid.row_volumes[-1]`.
        grid: Sizes and compositions.

    Raises:
        ValueError: `number` has another shape or type.
    """

    number: WarpArray
    grid: CompositionGrid

    def __post_init__(self) -> None:
        shape = shape_of(self.number)
        if shape[1:] != [self.grid.rows, self.grid.fractions]:
            raise ValueError(
                f"number [m^-3]: expected shape [boxes, {self.grid.rows}, {self.grid.fractions}] "
                f"(boxes, size bins and one row above them, compositions), got {shape}"
            )
        if type_of(self.number) is not wp.float64:
            raise ValueError(f"number [m^-3]: expected float64, got {type_of(self.number)}")

    @classmethod
    def from_numpy(
        cls, number: ArrayLike, grid: CompositionGrid, *, device: Any = None, requires_grad: bool = False
    ) -> CompositionState:
        """State from host values, copied.

        Args:
            number: Number concentrations [m^-3], shape [boxes, bins, fractions], or [bins, fractions] for one box;
                with one row more they include what is above the grid.
            grid: Sizes and compositions.
            device: Warp device; the current default if None.
            requires_grad: Whether the device array carries a gradient.

        Raises:
            ValueError: The shape does not fit the grid, or a value is negative or not finite.
        """
        values = np.asarray(number, dtype=np.float64)
        values = values[np.newaxis] if values.ndim == 2 else values
        rows = values.shape[1] if values.ndim == 3 else 0
        if rows not in (grid.bins, grid.rows) or values.shape[2] != grid.fractions or values.shape[0] == 0:
            raise ValueError(
                f"number [m^-3]: expected shape [boxes, bins, fractions] or [bins, fractions] with {grid.bins} bins "
                f"and {grid.fractions} fractions on the grid, got {list(np.shape(number))}"
            )
        check_concentrations("number", values, "[m^-3]")
        full = np.zeros((values.shape[0], grid.rows, grid.fractions))
        full[:, :rows] = values
        return cls(to_device(full, device=device, requires_grad=requires_grad), grid)

    @classmethod
    def from_populations(
        cls,
        populations: Iterable[tuple[ArrayLike, ArrayLike]],
        grid: CompositionGrid,
        *,
        device: Any = None,
        requires_grad: bool = False,
    ) -> CompositionState:
        """State of particles of a few compositions, mixed externally.

        A composition between the grid's is split between those around it, every species' volume kept.

        Args:
            populations: Pairs of number concentrations [m^-3], shape [bins] or [boxes, bins], and volume fractions
                of the species [1], shape [species].
            grid: Sizes and compositions.
            device: Warp device; the current default if None.
            requires_grad: Whether the device array carries a gradient.

        Raises:
            ValueError: A shape does not fit the grid, or a value is negative or not finite.
        """
        total: Floats = np.zeros((1, grid.bins, grid.fractions))
        for number, amounts in populations:
            values = np.atleast_2d(np.asarray(number, dtype=np.float64))
            if values.ndim != 2 or values.shape[1] != grid.bins:
                raise ValueError(
                    f"populations: expected numbers [m^-3] of shape [bins] or [boxes, bins] with {grid.bins} bins, "
                    f"got {list(np.shape(number))}"
                )
            points, weights = grid.lattice.split(grid.composition(amounts))
            spread = np.zeros(grid.fractions)
            np.add.at(spread, points, weights)
            total = total + values[:, :, None] * spread
        return cls.from_numpy(total, grid, device=device, requires_grad=requires_grad)

    @classmethod
    def from_particles(
        cls, particles: ParticleState, grid: CompositionGrid, *, requires_grad: bool = False
    ) -> CompositionState:
        """State that stands for single particles: each is split between the sizes and compositions around its own.

        The mass of every species is kept, and number too, except that a particle below the smallest size is split
        between that and nothing, and one above the row past the grid is put there as the number of its volume.

        Args:
            particles: Particles, of the grid's species in its order.
            grid: Sizes and compositions.
            requires_grad: Whether the device array carries a gradient.

        Raises:
            ValueError: Species differ in number or density.
        """
        if not np.array_equal(particles.density, grid.densities):
            raise ValueError(
                f"particles: expected species of densities {grid.densities} kg m^-3 as on the grid, "
                f"got {particles.density}"
            )
        volumes = particles.numpy() / grid.densities
        box, slot = np.nonzero(volumes.sum(axis=2) > 0.0)
        each: Floats = volumes[box, slot]
        total: Floats = each.sum(axis=1)
        points, weights = grid.lattice.split(each / total[:, None])
        pivots = np.append(0.0, grid.row_volumes)
        low: NDArray[np.int64] = (total[:, None] >= pivots[1:-1]).sum(axis=1)
        share = (total - pivots[low]) / (pivots[low + 1] - pivots[low])
        is_past = total >= pivots[-1]
        number = np.zeros((particles.boxes, grid.rows, grid.fractions))
        lower, upper = np.where(is_past, 0.0, 1.0 - share), np.where(is_past, total / pivots[-1], share)
        for row, part in ((low - 1, lower), (low, upper)):
            held = row >= 0
            amount = (part / particles.volume[box])[:, None] * weights
            np.add.at(number, (box[held, None], row[held, None], points[held]), amount[held])
        return cls.from_numpy(number, grid, device=particles.device, requires_grad=requires_grad)

    @property
    def boxes(self) -> int:
        """Number of boxes."""
        return shape_of(self.number)[0]

    @property
    def device(self) -> Any:
        """Warp device of the storage."""
        return device_of(self.number)

    def numpy(self) -> Floats:
        """Number concentrations on the grid [m^-3], on the host, shape [boxes, bins, fractions], copied."""
        return to_host(self.number)[:, : self.grid.bins]

    def total_number(self) -> Floats:
        """Number concentration on the grid [m^-3], shape [boxes]."""
        return self.numpy().sum(axis=(1, 2))

    def species_mass(self) -> Floats:
        """Mass concentration of every species on the grid [kg m^-3], shape [boxes, species]."""
        return np.einsum("bic,ics->bs", self.numpy(), self.grid.particle_masses[:-1])

    def outside_mass(self) -> Floats:
        """Mass concentration of every species that has grown past the grid [kg m^-3], shape [boxes, species]."""
        return to_host(self.number)[:, -1] @ self.grid.particle_masses[-1]

    def sectional(self) -> SectionalState:
        """The size distribution, whatever the composition."""
        return SectionalState.from_numpy(self.numpy().sum(axis=2), self.grid.sizes, device=self.device)

    def mixing_state_index(self) -> Floats:
        """Mixing-state index chi [1], shape [boxes]; NaN where there are no particles or one species alone.

        Source: Riemer and West (2013), doi:10.5194/acp-13-11423-2013.
        """
        return mixing_state_index(self.numpy(), self.grid)

    def kappa_distribution(self) -> tuple[Floats, Floats]:
        """Kappas that occur [1], increasing, shape [kappas], and the number at each [m^-3], shape [boxes, kappas]."""
        kappas, place = np.unique(self.grid.kappas, return_inverse=True)
        return kappas, self.numpy().sum(axis=1) @ np.eye(kappas.size)[place]

    def check_values(self) -> None:
        """Read the values back and raise a ValueError where one is negative or not finite."""
        check_concentrations("number", to_host(self.number), "[m^-3]")

    def __repr__(self) -> str:
        return f"CompositionState({self.boxes} boxes, {self.grid!r}, {self.device})"
