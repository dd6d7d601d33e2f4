"""Where the product of every pair of size bins goes: geometry of sectional coagulation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int32]

_SNAP = 1e-12
"""Relative distance within which a product counts as lying on a pivot: two roundings of a volume."""


@dataclass(frozen=True)
class PairGeometry:
    """Destinations of coagulation products on a grid of pivots.

    A pair of a bin with a much smaller one leaves its product in the interval of the larger
    particle: it is *bulk*, and acts as growth of the larger bin with loss of the smaller one.
    Every other pair is a *band* pair and is listed, sorted by the interval that its product falls
    in; interval `bins` collects the products too large for the grid.

    Attributes:
        volumes: Pivot volumes [m^3], shape [bins].
        spacing: Distance to the next pivot [m^3], shape [bins]; the last one leads to `top`.
        top: Volume of the pivot that would follow the last [m^3].
        bulk: For every bin, how many of the smallest bins are bulk partners, shape [bins].
        growth: Share of the distance to the next pivot that one bulk event moves the larger
            particle by, zero elsewhere, shape [bins, bins] (larger, smaller).
        loss: Share of a particle that an event with a partner takes out of its bin, shape
            [bins, bins] (particle, partner); zero for the larger one of a bulk event.
        larger, smaller: Bins of the listed pairs, shape [pairs].
        first, second: The two weights of each listed pair, shape [pairs]; their meaning belongs
            to the scheme. In the last interval `first` is the volume of the product [m^3]. Pairs
            of a bin with itself carry the factor one half.
        starts: Start of every interval's pairs in the list, shape [bins + 2].
    """

    volumes: Floats
    spacing: Floats
    top: float
    bulk: Integers
    growth: Floats
    loss: Floats
    larger: Integers
    smaller: Integers
    first: Floats
    second: Floats
    starts: Integers

    @property
    def bins(self) -> int:
        """Number of size bins."""
        return len(self.volumes)

    @property
    def backstep(self) -> Floats:
        """Distance to the next pivot over that to the one before, zero for the first, shape [bins]."""
        return np.append(0.0, self.spacing[1:] / self.spacing[:-1])


def fixed_pivot_pairs(volumes: Floats) -> PairGeometry:
    """Geometry of the fixed pivot technique.

    A product between two pivots is split between them so that number and volume are both kept:
    `first` goes to the lower pivot and `second` to the upper one. Kumar and Ramkrishna (1996),
    doi:10.1016/0009-2509(96)88489-2.

    Args:
        volumes: Increasing pivot volumes [m^3], shape [bins].
    """
    geometry = _pairs(volumes, np.append(volumes, _top(volumes)))
    share = np.clip(_excess(geometry), 0.0, 1.0)
    return replace(geometry, first=geometry.first * (1.0 - share), second=geometry.first * share)


def cell_average_pairs(volumes: Floats, edges: Floats) -> PairGeometry:
    """Geometry of the cell average technique.

    Products are summed in the cell that they fall in: `first` counts them, `second` is their
    excess of volume over the cell's pivot, in units of the distance to the next pivot. Kumar,
    Peglow, Warnecke, Heinrich and Moerl (2006), doi:10.1016/j.ces.2005.12.014.

    Args:
        volumes: Increasing pivot volumes [m^3], shape [bins].
        edges: Cell boundaries around the pivots [m^3], shape [bins + 1].
    """
    geometry = _pairs(volumes, edges)
    return replace(geometry, second=geometry.first * _excess(geometry))


def no_pairs(bins: int) -> PairGeometry:
    """Geometry without any pair."""
    none = np.zeros(0, dtype=np.int32)
    return PairGeometry(
        volumes=np.zeros(bins),
        spacing=np.ones(bins),
        top=0.0,
        bulk=np.zeros(bins, dtype=np.int32),
        growth=np.zeros((bins, bins)),
        loss=np.ones((bins, bins)),
        larger=none,
        smaller=none,
        first=np.zeros(0),
        second=np.zeros(0),
        starts=np.zeros(bins + 2, dtype=np.int32),
    )


def with_bulk_listed(geometry: PairGeometry, is_fixed: bool) -> PairGeometry:
    """The same geometry with its bulk pairs listed like all others.

    Args:
        geometry: Pairs of either technique.
        is_fixed: Whether the weights are those of the fixed pivot technique.
    """
    larger, smaller = np.nonzero(geometry.growth)
    growth = geometry.growth[larger, smaller]
    interval = np.repeat(np.arange(geometry.bins + 1, dtype=np.int64), np.diff(geometry.starts))
    intervals = np.concatenate([larger, interval])
    order = np.argsort(intervals, kind="stable")
    first = np.concatenate([1.0 - growth if is_fixed else np.ones_like(growth), geometry.first])
    return replace(
        geometry,
        bulk=np.zeros_like(geometry.bulk),
        growth=np.zeros_like(geometry.growth),
        loss=np.ones_like(geometry.loss),
        larger=np.concatenate([larger, geometry.larger])[order].astype(np.int32),
        smaller=np.concatenate([smaller, geometry.smaller])[order].astype(np.int32),
        first=first[order],
        second=np.concatenate([growth, geometry.second])[order],
        starts=np.searchsorted(intervals[order], np.arange(geometry.bins + 2)).astype(np.int32),
    )


def semi_implicit_pairs(fixed_pivot: PairGeometry) -> PairGeometry:
    """Ordered pairs of a donor and a partner, listed by the bin that volume of the donor goes to.

    In an event the volumes of both particles are shared between the product's two pivots in the
    same proportion. A donor's share that stays in its bin is no transfer: `loss` is the rest.
    `larger` is the donor and `smaller` the partner; `first` is the number of particles that one
    donor adds to the target, the volume [m^3] for the last target, which is the outside.
    Jacobson, Turco, Jensen and Toon (1994), doi:10.1016/1352-2310(94)90280-1, with the split of
    the fixed pivot technique.
    """
    bins = fixed_pivot.bins
    listed = with_bulk_listed(fixed_pivot, True)
    interval = np.repeat(np.arange(bins + 1, dtype=np.int64), np.diff(listed.starts))
    pivots = np.append(fixed_pivot.volumes, 1.0)
    product = fixed_pivot.volumes[listed.larger] + fixed_pivot.volumes[listed.smaller]
    events = np.where(listed.larger == listed.smaller, 0.5, 1.0)
    lower = listed.first * pivots[interval] / (events * product)
    upper = 1.0 - lower
    is_other = listed.larger != listed.smaller
    donor = np.concatenate([listed.larger, listed.smaller[is_other]])
    partner = np.concatenate([listed.smaller, listed.larger[is_other]])
    targets = np.concatenate([interval, interval[is_other]])
    lower = np.concatenate([lower, lower[is_other]])
    upper = np.concatenate([upper, upper[is_other]])
    return _transfers(fixed_pivot, donor, partner, targets, lower, upper)


def _transfers(
    geometry: PairGeometry, donor: Integers, partner: Integers, interval: Any, lower: Floats, upper: Floats
) -> PairGeometry:
    """Geometry of donors' transfers, `lower` to the pivot below the product and `upper` to the next."""
    bins = geometry.bins
    is_inside = interval < bins
    stays = is_inside & (interval == donor)
    loss = np.ones((bins, bins))
    loss[donor[stays], partner[stays]] = upper[stays]
    donors = np.concatenate([donor[~stays], donor[is_inside]])
    partners = np.concatenate([partner[~stays], partner[is_inside]])
    target = np.concatenate([interval[~stays], interval[is_inside] + 1])
    share = np.concatenate([lower[~stays], upper[is_inside]])
    order = np.argsort(target, kind="stable")
    donors, partners, target, share = donors[order], partners[order], target[order], share[order]
    pivots = np.append(geometry.volumes, 1.0)
    return replace(
        geometry,
        bulk=np.zeros_like(geometry.bulk),
        growth=np.zeros_like(geometry.growth),
        loss=loss,
        larger=donors.astype(np.int32),
        smaller=partners.astype(np.int32),
        first=share * geometry.volumes[donors] / pivots[target],
        second=np.zeros(len(donors)),
        starts=np.searchsorted(target, np.arange(bins + 2)).astype(np.int32),
    )


def _top(volumes: Floats) -> float:
    """Volume of the pivot after the last, continued geometrically [m^3]."""
    return float(volumes[-1] ** 2 / volumes[-2])


def _excess(geometry: PairGeometry) -> Floats:
    """Products' distance from the lower pivot over the pivots' distance; zero for those leaving."""
    inside = int(geometry.starts[-2])
    cell = np.repeat(np.arange(geometry.bins), np.diff(geometry.starts[:-1]))
    product = geometry.volumes[geometry.larger] + geometry.volumes[geometry.smaller]
    excess = np.zeros(len(product))
    excess[:inside] = (product[:inside] - geometry.volumes[cell]) / geometry.spacing[cell]
    return excess


def _pairs(volumes: Floats, boundaries: Floats) -> PairGeometry:
    """List the pairs by interval; `first` is the multiplicity, in the last interval times volume."""
    bins = len(volumes)
    spacing = np.diff(np.append(volumes, _top(volumes)))
    product = volumes[:, None] + volumes[None, :]
    cell = np.searchsorted(boundaries * (1.0 - _SNAP), product, side="right") - 1
    rows, columns = np.indices((bins, bins))
    is_bulk = (cell == rows) & (columns < rows)
    larger, smaller = np.nonzero((columns <= rows) & ~is_bulk)
    order = np.argsort(cell[larger, smaller], kind="stable")
    larger, smaller = larger[order], smaller[order]
    target = cell[larger, smaller]
    multiplicity = np.where(larger == smaller, 0.5, 1.0)
    return PairGeometry(
        volumes=volumes,
        spacing=spacing,
        top=_top(volumes),
        bulk=is_bulk.sum(axis=1).astype(np.int32),
        growth=np.where(is_bulk, volumes[None, :] / spacing[:, None], 0.0),
        loss=np.where(is_bulk, 0.0, 1.0),
        larger=larger.astype(np.int32),
        smaller=smaller.astype(np.int32),
        first=multiplicity * np.where(target == bins, product[larger, smaller], 1.0),
        second=np.zeros(len(larger)),
        starts=np.searchsorted(target, np.arange(bins + 2)).astype(np.int32),
    )
