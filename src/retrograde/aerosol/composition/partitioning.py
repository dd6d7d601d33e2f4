"""Partitioning of vapours between particles and gas at equilibrium."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from retrograde.aerosol._device import WarpArray, new_zeros, shape_of, to_device, wp
from retrograde.aerosol.composition._equilibrium import EquilibriumTables, add_up, load, share_vapours, solve
from retrograde.aerosol.composition._redistribution import cumulative_volumes, pivots_of, redistribute
from retrograde.aerosol.composition.exchange import GasExchange, PreparedExchange
from retrograde.aerosol.composition.grid import CompositionGrid
from retrograde.aerosol.composition.vapours import Vapour, species_index


@dataclass(frozen=True, eq=False)
class Partitioning(GasExchange):
    """Vapours shared between particles and gas as absorption into an ideal mixture has them at equilibrium.

    For vapours that equilibrate faster than all else happens. Every particle takes up vapours in proportion to its
    involatile amount, so that mole fractions are the same in all: x = T / (A + C), with a vapour's total amount T, its
    amount at saturation C, and the amount A in the particles, involatile Q included, from Q / A + sum T / (A + C) = 1.
    Kelvin's effect is left out. Mass is kept to rounding, species by species; particles without anything involatile
    evaporate. A box without any involatile substance has nothing to absorb, and stays as it is.

    Attributes:
        vapours: What is shared; saturation and molar mass are used.

    Raises:
        ValueError: No vapour, or two of one species.

    Source: Pankow (1994), Atmospheric Environment 28, 185, doi:10.1016/1352-2310(94)90093-0; in this form Donahue,
    Robinson, Stanier and Pandis (2006), Environmental Science and Technology 40, 2635, doi:10.1021/es052297c.
    """

    vapours: tuple[Vapour, ...]

    def __post_init__(self) -> None:
        self._check_vapours()

    def prepare(self, grid: CompositionGrid, boxes: int, device: Any = None) -> PreparedPartitioning:
        """Tables for runs of so many boxes on a grid.

        Raises:
            ValueError: A vapour is not on the grid, all species are vapours, or an involatile one has no molar mass.
        """
        places = [species_index(v, grid) for v in self.vapours]
        fixed = [i for i in range(len(grid.species)) if i not in places]
        missing = [grid.species[i].name for i in fixed if grid.species[i].molar_mass is None]
        if not fixed or missing:
            what = f"molar_mass [kg mol^-1]: needed of {', '.join(missing)}" if fixed else "vapours: all species are"
            raise ValueError(f"{what}; involatile species with molar masses are what absorbs vapours")
        densities, cumulative = grid.densities, cumulative_volumes(grid)
        molar_masses = np.array([grid.species[i].molar_mass for i in fixed], dtype=np.float64)
        vapour_masses = np.array([v.molar_mass for v in self.vapours])
        masses = grid.particle_masses[:-1]
        involatile = (masses[..., fixed] / molar_masses).sum(axis=2, keepdims=True)
        amounts = np.concatenate([involatile, masses[..., places] / vapour_masses], axis=2)
        held = grid.sizes.volumes[:, None, None] * grid.volume_fractions
        held[..., places] = 0.0
        tables: Any = EquilibriumTables()
        tables.amounts = to_device(amounts, device=device)
        tables.fixed = to_device(np.cumsum(held[..., ::-1], axis=2)[..., ::-1], device=device)
        tables.species = wp.array(np.array(places, dtype=np.int32), dtype=wp.int32, device=device)
        tables.molar_mass = to_device(vapour_masses, device=device)
        tables.molar_volume = to_device(vapour_masses / densities[places], device=device)
        tables.saturation = to_device(np.array([v.saturation for v in self.vapours]) / vapour_masses, device=device)
        return PreparedPartitioning(
            tables=tables,
            cumulative=to_device(cumulative, device=device),
            pivots=pivots_of(grid, device),
            emptied=wp.zeros(boxes, dtype=wp.int32, device=device),
            exhausted=wp.zeros(boxes, dtype=wp.int32, device=device),
        )


@dataclass(frozen=True, eq=False)
class PreparedPartitioning(PreparedExchange):
    """Partitioning made ready for a grid and a number of boxes.

    Attributes:
        tables: Amounts at the pivots.
        cumulative: Volume of each species and all that follow it at the pivots [m^3].
        pivots: The grid's pivots.
        emptied: No box: equilibrium has no such boundary, shape [boxes].
        exhausted: No box, shape [boxes].
    """

    tables: Any
    cumulative: WarpArray
    pivots: Any
    emptied: WarpArray
    exhausted: WarpArray

    def advance(self, number: WarpArray, gas: WarpArray, duration: float = 0.0) -> tuple[WarpArray, WarpArray]:
        """Number and gas at equilibrium, in new memory, however long it takes; recorded if they carry gradients.

        Args:
            number: Number concentrations [m^-3], shape [boxes, rows, fractions].
            gas: Concentration of the vapours [kg m^-3], shape [boxes, vapours].
            duration: Not used: equilibrium is at once.
        """
        t, n, g = self.tables, _untyped(number), _untyped(gas)
        boxes, vapours = shape_of(gas)
        options: dict[str, Any] = {"device": n.device, "requires_grad": bool(n.requires_grad or g.requires_grad)}
        totals = new_zeros((boxes, vapours + 1), **options)
        amount = new_zeros(boxes, **options)
        loading, left = new_zeros((boxes, vapours), **options), new_zeros((boxes, vapours), **options)
        whole = (boxes, *shape_of(self.cumulative))
        volumes = new_zeros(whole, **options)
        for kernel, dim, inputs, outputs in (
            (add_up, (boxes, vapours + 1), [number, gas, t], [totals]),
            (solve, boxes, [totals, t], [amount]),
            (share_vapours, (boxes, vapours), [totals, amount, gas, t], [loading, left]),
            (load, whole, [loading, amount, self.cumulative, t], [volumes]),
        ):
            wp.launch(kernel, dim, inputs, outputs, device=n.device)
        return redistribute(number, volumes, self.pivots), left


def _untyped(array: WarpArray) -> Any:
    return array
