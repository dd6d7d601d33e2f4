"""Particles that have changed size and composition, given back to the pivots of a grid: plain launches.

Which pivots lie around a particle is found by a launch without adjoint; the weights given to them are linear in its
size and in its composition, and Warp differentiates them.
"""

# pyright: reportUnknownParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np

from retrograde.aerosol._device import (
    Float64,
    Float64Array,
    Float64Array4,
    Float64Tensor,
    Int32,
    Int32Array,
    Int32Array4,
    Int32Tensor,
    WarpArray,
    new_zeros,
    shape_of,
    to_device,
    wp,
)
from retrograde.aerosol.composition.grid import CompositionGrid

_ZERO = wp.constant(wp.float64(0.0))
_ONE = wp.constant(wp.float64(1.0))


@wp.struct
class Pivots:
    """Pivots of a grid: volumes [m^3] of shape [rows], and the lattice of compositions."""

    volumes: Float64Array
    levels: Int32
    strides: Int32Array
    lookup: Int32Array


def pivots_of(grid: CompositionGrid, device: Any) -> Any:
    """The pivots on a device."""
    pivots: Any = Pivots()
    lattice = grid.lattice
    pivots.volumes = to_device(grid.row_volumes, device=device)
    pivots.levels = lattice.levels
    pivots.strides = wp.array(lattice.strides, dtype=wp.int32, device=device)
    pivots.lookup = wp.array(lattice.lookup, dtype=wp.int32, device=device)
    return pivots


def cumulative_volumes(grid: CompositionGrid) -> Any:
    """Volume in every particle of each species and all that follow it [m^3], shape [bins, fractions, species]."""
    counts = grid.lattice.counts
    shares = np.concatenate([np.ones((len(counts), 1)), counts / grid.levels], axis=1)
    return grid.sizes.volumes[:, None, None] * shares


def redistribute(number: WarpArray, volumes: WarpArray, pivots: Any) -> WarpArray:
    """Number in all cells after the particles of every cell have got other volumes, in new memory.

    Number and the volume of every species are kept, except that a particle below the smallest size is split between
    that and nothing, and one above the row past the grid is put there as the number that has its volume.

    Args:
        number: Number concentrations [m^-3], shape [boxes, rows, fractions].
        volumes: Volume in a particle of each species and all that follow it [m^3], shape [boxes, bins, fractions,
            species].
        pivots: The grid's pivots.
    """
    boxes, bins, fractions, species = shape_of(volumes)
    untyped: Any = volumes
    device: Any = untyped.device
    each = (boxes, bins, fractions)
    row, base, order, points = (
        wp.zeros(shape, dtype=wp.int32, device=device)
        for shape in (each, (*each, species), (*each, species), (*each, species))
    )
    options: dict[str, Any] = {"device": device, "requires_grad": untyped.requires_grad}
    lower, upper = new_zeros(each, **options), new_zeros(each, **options)
    weights = new_zeros((*each, species), **options)
    result = new_zeros(shape_of(number), **options)
    found = [row, base, order, points]
    wp.launch(locate, each, [volumes, pivots], found, device=device, record_tape=False)
    for kernel, dim, inputs, outputs in (
        (share_by_size, each, [volumes, row, pivots], [lower, upper]),
        (share_by_composition, (*each, species), [volumes, base, order, pivots], [weights]),
        (place, (*each, species), [number, row, points, lower, upper, weights], [result]),
        (keep_outside, (boxes, fractions), [number], [result]),
    ):
        wp.launch(kernel, dim, inputs, outputs, device=device)
    return result


@wp.kernel(enable_backward=False)
def locate(
    volumes: Float64Array4,
    pivots: Pivots,
    row: Int32Tensor,
    base: Int32Array4,
    order: Int32Array4,
    points: Int32Array4,
):
    """Pivots around every particle: the row at or below, -1 below the grid, and the corners of a simplex.

    Over [boxes, bins, fractions]. Counts are scaled to the lattice's levels; `order` lists them by what is left of them
    above `base`, largest first.
    """
    b, i, c = wp.tid()
    total = volumes[b, i, c, 0]
    found = wp.int32(-1)
    for r in range(pivots.volumes.shape[0]):
        if total >= pivots.volumes[r]:
            found = r
    row[b, i, c] = found
    others = volumes.shape[3] - 1
    scale = _ZERO
    if total > _ZERO:
        scale = wp.float64(pivots.levels) / total
    for k in range(others):
        base[b, i, c, k] = wp.clamp(wp.int32(wp.floor(scale * volumes[b, i, c, k + 1])), 0, pivots.levels - 1)
    for k in range(others):
        mine = scale * volumes[b, i, c, k + 1] - wp.float64(base[b, i, c, k])
        rank = wp.int32(0)
        for m in range(others):
            other = scale * volumes[b, i, c, m + 1] - wp.float64(base[b, i, c, m])
            if other > mine or (other == mine and m < k):
                rank += 1
        order[b, i, c, rank] = k
    corner = wp.int32(0)
    for k in range(others):
        corner += base[b, i, c, k] * pivots.strides[k]
    points[b, i, c, 0] = pivots.lookup[corner]
    for j in range(others):
        corner += pivots.strides[order[b, i, c, j]]
        points[b, i, c, j + 1] = pivots.lookup[corner]


@wp.kernel
def share_by_size(volumes: Float64Array4, row: Int32Tensor, pivots: Pivots, lower: Float64Tensor, upper: Float64Tensor):
    """Number that a particle adds to its row and to the next; over [boxes, bins, fractions]."""
    b, i, c = wp.tid()
    r = row[b, i, c]
    total = volumes[b, i, c, 0]
    if r < 0:
        upper[b, i, c] = total / pivots.volumes[0]
    elif r == pivots.volumes.shape[0] - 1:
        lower[b, i, c] = total / pivots.volumes[r]
    else:
        share = (total - pivots.volumes[r]) / (pivots.volumes[r + 1] - pivots.volumes[r])
        lower[b, i, c] = _ONE - share
        upper[b, i, c] = share


@wp.func
def left_over(
    volumes: Float64Array4, base: Int32Array4, order: Int32Array4, levels: Int32, b: Int32, i: Int32, c: Int32, j: Int32
) -> Float64:
    """What is left above the base of the j-th count in order; 1 before the first and 0 after the last."""
    if j == 0:
        return _ONE
    if j == volumes.shape[3]:
        return _ZERO
    total = volumes[b, i, c, 0]
    if total <= _ZERO:
        return _ZERO
    k = order[b, i, c, j - 1]
    most = wp.float64(levels)
    return wp.clamp(most * volumes[b, i, c, k + 1] / total, _ZERO, most) - wp.float64(base[b, i, c, k])


@wp.kernel
def share_by_composition(
    volumes: Float64Array4, base: Int32Array4, order: Int32Array4, pivots: Pivots, weights: Float64Array4
):
    """Weights of the corners of the simplex that holds a composition; over [boxes, bins, fractions, species]."""
    b, i, c, j = wp.tid()
    above = left_over(volumes, base, order, pivots.levels, b, i, c, j)
    below = left_over(volumes, base, order, pivots.levels, b, i, c, j + 1)
    weights[b, i, c, j] = above - below


@wp.kernel
def place(
    number: Float64Tensor,
    row: Int32Tensor,
    points: Int32Array4,
    lower: Float64Tensor,
    upper: Float64Tensor,
    weights: Float64Array4,
    result: Float64Tensor,
):
    """Add every particle to the cells around it; over [boxes, bins, fractions, species]."""
    b, i, c, j = wp.tid()
    r = row[b, i, c]
    p = points[b, i, c, j]
    moved = number[b, i, c] * weights[b, i, c, j]
    wp.atomic_add(result, b, wp.max(r, 0), p, moved * lower[b, i, c])
    wp.atomic_add(result, b, wp.min(r + 1, result.shape[1] - 1), p, moved * upper[b, i, c])


@wp.kernel
def keep_outside(number: Float64Tensor, result: Float64Tensor):
    """What is above the grid stays there; over [boxes, fractions]."""
    b, c = wp.tid()
    last = number.shape[1] - 1
    wp.atomic_add(result, b, last, c, number[b, last, c])
