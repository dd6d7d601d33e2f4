"""Condensation on and evaporation from particles resolved by size and composition, coupled with the gas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol._device import WarpArray, new_zeros, shape_of, to_device, wp
from retrograde.aerosol.composition._exchange import (
    ExchangeTables,
    balance,
    collect,
    exchange,
    grow,
    mean_gas,
    notice,
    share_out,
)
from retrograde.aerosol.composition._redistribution import cumulative_volumes, pivots_of, redistribute
from retrograde.aerosol.composition.exchange import GasExchange, PreparedExchange
from retrograde.aerosol.composition.grid import CompositionGrid
from retrograde.aerosol.composition.vapours import Vapour, species_index, surface_concentrations, uptake_rates
from retrograde.aerosol.states import Environment

Floats = NDArray[np.float64]

FIXED_COUNT_SUBSTEPS_4 = 4
"""Substeps by default: a fixed count, so that every run is the same sequence of launches."""


@dataclass(frozen=True, eq=False)
class Condensation(GasExchange):
    """Exchange of vapours between particles and gas, both ways.

    In each substep particles keep their sizes and compositions for the rates, the gas follows its exact solution, and
    the particles are then given back to the pivots of the grid. Mass of gas and particles is kept to rounding, every
    species by itself. The error is of first order in the substeps, and in the spacing of the sizes: a narrow
    distribution is widened as it grows.

    Two boundaries are not smooth, and a run says which boxes touched them: a particle cannot lose more of a vapour than
    it holds, and particles cannot gain more than the gas has. There the derivative is that of the side that the run
    is on. Giving particles to pivots has kinks too, where growth turns to evaporation: at exactly no growth the
    derivative is that of growth.

    Attributes:
        vapours: What is exchanged.
        environment: Air of every box, or of all if it is one.
        substeps: Substeps of every call.

    Raises:
        ValueError: No vapour, two of one species, or no substep.
    """

    vapours: tuple[Vapour, ...]
    environment: Environment
    substeps: int = FIXED_COUNT_SUBSTEPS_4

    def __post_init__(self) -> None:
        self._check_vapours()
        if self.substeps < 1:
            raise ValueError(f"substeps: expected 1 or more, got {self.substeps}")

    def prepare(self, grid: CompositionGrid, boxes: int, device: Any = None) -> PreparedCondensation:
        """Tables for runs of so many boxes on a grid.

        Raises:
            ValueError: A vapour is not on the grid, or the environment is for another number of boxes.
        """
        air = self.environment
        if air.boxes not in (1, boxes):
            raise ValueError(f"environment: expected 1 or {boxes} boxes, got {air.boxes}")
        tables: Any = ExchangeTables()
        places = [species_index(v, grid) for v in self.vapours]
        held = grid.sizes.volumes[:, None, None] * grid.volume_fractions[:, places]
        clearing = np.stack([uptake_rates(v, grid, air) for v in self.vapours], axis=-1)
        surface = np.stack([surface_concentrations(v, grid, air) for v in self.vapours], axis=-1)
        tables.clearing = _for_boxes(clearing, boxes, device)
        tables.surface = _for_boxes(surface, boxes, device)
        tables.held = to_device(held, device=device)
        tables.cumulative = to_device(cumulative_volumes(grid), device=device)
        tables.species = wp.array(np.array(places, dtype=np.int32), dtype=wp.int32, device=device)
        tables.density = to_device(grid.densities[places], device=device)
        return PreparedCondensation(
            tables=tables,
            pivots=pivots_of(grid, device),
            substeps=self.substeps,
            emptied=wp.zeros(boxes, dtype=wp.int32, device=device),
            exhausted=wp.zeros(boxes, dtype=wp.int32, device=device),
        )


@dataclass(frozen=True, eq=False)
class PreparedCondensation(PreparedExchange):
    """Condensation made ready for a grid and a number of boxes.

    Attributes:
        tables: Rates at the pivots.
        pivots: The grid's pivots.
        substeps: Substeps of every call.
        emptied: Boxes in which a particle has lost all that it held of a vapour, shape [boxes].
        exhausted: Boxes in which particles have taken up all gas, shape [boxes].
    """

    tables: Any
    pivots: Any
    substeps: int
    emptied: WarpArray
    exhausted: WarpArray

    def advance(self, number: WarpArray, gas: WarpArray, duration: float) -> tuple[WarpArray, WarpArray]:
        """Number and gas after a duration, in new memory; recorded on the active tape if they carry gradients.

        Args:
            number: Number concentrations [m^-3], shape [boxes, rows, fractions].
            gas: Concentration of the vapours [kg m^-3], shape [boxes, vapours].
            duration: How long [s].
        """
        for _ in range(self.substeps):
            number, gas = self._substep(number, gas, duration / self.substeps)
        return number, gas

    def _substep(self, number: Any, gas: Any, duration: float) -> tuple[WarpArray, WarpArray]:
        t, h = self.tables, wp.float64(duration)
        boxes, vapours = shape_of(gas)
        bins, fractions, species = shape_of(t.cumulative)
        options: dict[str, Any] = {
            "device": number.device,
            "requires_grad": bool(number.requires_grad or gas.requires_grad),
        }
        sink, source, mean, gained, lost, share, left = (new_zeros((boxes, vapours), **options) for _ in range(7))
        whole = (boxes, bins, fractions, vapours)
        change = new_zeros(whole, **options)
        volumes = new_zeros((boxes, bins, fractions, species), **options)
        for kernel, dim, inputs, outputs in (
            (collect, (boxes, vapours), [number, t], [sink, source]),
            (mean_gas, (boxes, vapours), [gas, sink, source, h], [mean]),
            (exchange, whole, [mean, t, h], [change]),
            (balance, (boxes, vapours), [number, change, t], [gained, lost]),
            (share_out, (boxes, vapours), [gas, gained, lost], [share, left]),
            (grow, (boxes, bins, fractions, species), [change, share, t], [volumes]),
        ):
            wp.launch(kernel, dim, inputs, outputs, device=number.device)
        touched = [self.emptied, self.exhausted]
        wp.launch(notice, whole, [number, change, share, t], touched, device=number.device, record_tape=False)
        return redistribute(number, volumes, self.pivots), left


def _for_boxes(values: Floats, boxes: int, device: Any) -> WarpArray:
    return to_device(np.broadcast_to(values, (boxes, *values.shape[1:])), device=device)
