"""Size classes, and for each the largest rates that its particles can have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol._device import to_device
from retrograde.aerosol.grids import SizeGrid, volume_of
from retrograde.aerosol.particles._process import Bounds
from retrograde.aerosol.particles._rates import RateLaws
from retrograde.aerosol.physics import BrownianKernel, TableKernel, TableLoss

Floats = NDArray[np.float64]

RATIO = 2.0
"""Volume ratio of neighbouring classes: the finer, the fewer proposals are in vain and the longer one takes.

Edges are powers of it in m^3, so that a box's classes do not depend on its neighbours."""

_WIDEST = 2.0**200
"""Largest ratio of all matter of a box to its smallest particle."""

_INSIDE = 4
"""Volumes within a class at which rates that are not monotonic are looked at, beside its edges."""

_SLACK = {True: 1e-3, False: 1e-12}
"""Margin by whether a kernel has an extremum of its own inside a class."""


@dataclass(frozen=True, eq=False)
class SizeClasses:
    """Classes of particle volume and the largest rates in them.

    Attributes:
        edges: Edges of the classes [m^3], shape [classes + 1].
        pairs: Upper bounds of the coagulation kernel [m^3 s^-1], shape [environments, classes, classes].
        losses: Upper bounds of the wall loss rate [s^-1], shape [environments, classes]; dilution apart.
    """

    edges: Floats
    pairs: Floats
    losses: Floats

    def on_device(self, device: Any) -> Any:
        """Edges and bounds as kernels take them."""
        bounds: Any = Bounds()
        bounds.edges = to_device(self.edges, device=device)
        bounds.pairs = to_device(self.pairs, device=device)
        bounds.losses = to_device(self.losses, device=device)
        return bounds


def size_classes(laws: RateLaws, smallest: float, largest: float, margin: float) -> SizeClasses:
    """Classes from the smallest particle to all matter of a box in one particle.

    Brownian rates fall and then rise with either volume, so that their largest value in a rectangle
    of volumes is at a corner; a few volumes inside are looked at too.

    Args:
        laws: Laws of the events.
        smallest: Volume of the smallest particle [m^3].
        largest: Largest total volume of a box [m^3].
        margin: Bounds are this much larger than they need to be [1].

    Raises:
        ValueError: The volumes span more than any aerosol does.
    """
    edges = _edges(smallest, largest)
    classes = len(edges) - 1
    points = np.geomspace(edges[:-1], edges[1:], _INSIDE + 1, endpoint=False, axis=1).reshape(-1)
    points = np.append(points, edges[-1])
    of_class = np.arange(classes)[:, np.newaxis] * (_INSIDE + 1) + np.arange(_INSIDE + 2)
    return SizeClasses(
        edges=edges,
        pairs=margin * _pair_bounds(laws, points, of_class, edges),
        losses=margin * _loss_bounds(laws, points, of_class, edges),
    )


def _edges(smallest: float, largest: float) -> Floats:
    if not largest < _WIDEST * smallest:
        raise ValueError(
            f"masses [kg]: particles from {smallest:.3g} m^3 on, in boxes of up to {largest:.3g} m^3 of them, are more "
            "than size classes can span; is a particle's mass given in another unit?"
        )
    low, high = (np.floor(np.log2(size) / np.log2(RATIO)) for size in (smallest, largest * (1.0 + 1e-9)))
    return np.power(RATIO, np.arange(float(low), float(high) + 2.0))


def _pair_bounds(laws: RateLaws, points: Floats, of_class: NDArray[np.int64], edges: Floats) -> Floats:
    classes, environments = len(of_class), laws.environment.boxes
    if laws.kernel is None:
        return np.zeros((environments, classes, classes))
    if isinstance(laws.kernel, TableKernel):
        return _table_bounds(laws, edges)
    rates = laws.kernel.matrix_numpy(SizeGrid.from_volumes(points), laws.environment)
    rates = np.broadcast_to(rates, (environments, *rates.shape[1:]))
    by_row = rates[:, of_class, :].max(axis=2)
    bounds = by_row[:, :, of_class].max(axis=3)
    return bounds * (1.0 + _SLACK[isinstance(laws.kernel, BrownianKernel)])


def _table_bounds(laws: RateLaws, edges: Floats) -> Floats:
    assert isinstance(laws.kernel, TableKernel)
    assert laws.grid is not None
    table = np.broadcast_to(
        laws.kernel.matrix_numpy(laws.grid, laws.environment),
        (laws.environment.boxes, laws.grid.bins, laws.grid.bins),
    )
    first = np.clip(np.searchsorted(laws.grid.edges, edges[:-1], side="right") - 1, 0, laws.grid.bins - 1)
    last = np.clip(np.searchsorted(laws.grid.edges, edges[1:], side="right") - 1, 0, laws.grid.bins - 1)
    rows = np.stack([table[:, a : b + 1].max(axis=1) for a, b in zip(first, last, strict=True)], axis=1)
    return np.stack([rows[:, :, a : b + 1].max(axis=2) for a, b in zip(first, last, strict=True)], axis=2)


def _loss_bounds(laws: RateLaws, points: Floats, of_class: NDArray[np.int64], edges: Floats) -> Floats:
    environments = laws.environment.boxes
    if laws.loss is None:
        return np.zeros((environments, len(of_class)))
    if isinstance(laws.loss, TableLoss):
        return np.tile(_loss_table_bounds(laws.loss, edges), (environments, 1))
    rates = laws.loss.rates_numpy(SizeGrid.from_volumes(points), laws.environment)
    return np.broadcast_to(rates, (environments, rates.shape[1]))[:, of_class].max(axis=2) * (1.0 + 1e-9)


def _loss_table_bounds(law: TableLoss, edges: Floats) -> Floats:
    nodes: Floats = volume_of(law.diameters)
    at_edges = np.interp(np.log(edges), np.log(nodes), law.values)
    bounds = np.maximum(at_edges[:-1], at_edges[1:])
    place = np.searchsorted(edges, nodes, side="right") - 1
    inside = (place >= 0) & (place < len(bounds))
    np.maximum.at(bounds, place[inside], law.values[inside])
    return bounds * (1.0 + 1e-9)
