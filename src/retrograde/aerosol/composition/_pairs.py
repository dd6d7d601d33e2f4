"""Where the product of every pair of cells goes, on a grid of size and composition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.composition.grid import CompositionGrid
from retrograde.aerosol.processes._pairs import PairGeometry

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_SNAP = 1e-12


@dataclass(frozen=True)
class _Products:
    """Products of pairs of cells.

    Attributes:
        cells: Cell of the larger particle, of the smaller one, and of a target, shape [3, products].
        weights: Number that a product adds to the target, and to the cell that follows it, shape [2, products].
    """

    cells: Integers
    weights: Floats


def composition_pairs(grid: CompositionGrid) -> PairGeometry:
    """Geometry of the extended fixed pivot technique, on cells in the order [rows, fractions].

    A product is split between the two sizes around it, as by Kumar and Ramkrishna (1996),
    doi:10.1016/0009-2509(96)88489-2, and at either size between the compositions around its own. Number and the volume
    of every species are kept. A product past the row above the grid is put there as the number that has its volume.
    """
    blocks = [_products(grid, a, b) for a in range(grid.bins) for b in range(a + 1)]
    larger, smaller, target = (np.concatenate([block.cells[k] for block in blocks]) for k in range(3))
    first, second = (np.concatenate([block.weights[k] for block in blocks]) for k in range(2))
    order = np.argsort(target, kind="stable")
    cells = grid.cells
    return PairGeometry(
        volumes=np.repeat(grid.row_volumes, grid.fractions),
        spacing=np.ones(cells),
        top=0.0,
        bulk=np.zeros(cells, dtype=np.int32),
        growth=np.zeros((cells, cells)),
        loss=np.ones((cells, cells)),
        larger=larger[order].astype(np.int32),
        smaller=smaller[order].astype(np.int32),
        first=first[order],
        second=second[order],
        starts=np.searchsorted(target[order], np.arange(cells + 2)).astype(np.int32),
    )


def cell_kernel(kernel: Floats, grid: CompositionGrid) -> Floats:
    """A kernel by size [m^3 s^-1], shape [..., bins, bins], as one by cell; zero for the row above the grid."""
    padding = [(0, 0)] * (kernel.ndim - 2) + [(0, 1), (0, 1)]
    by_row = np.pad(kernel, padding)
    return np.repeat(np.repeat(by_row, grid.fractions, axis=-2), grid.fractions, axis=-1)


def _products(grid: CompositionGrid, a: int, b: int) -> _Products:
    """Products of all cells of one size with all of another."""
    count = grid.fractions
    left, right = np.meshgrid(np.arange(count), np.arange(count), indexing="ij")
    listed = left >= right if a == b else np.ones_like(left, dtype=bool)
    left, right = left[listed], right[listed]
    volumes = grid.row_volumes
    product = volumes[a] + volumes[b]
    shares = grid.volume_fractions
    composition = (volumes[a] * shares[left] + volumes[b] * shares[right]) / product
    points, weights = grid.lattice.split(composition)
    multiplicity = np.where((left == right) & (a == b), 0.5, 1.0)
    parts: list[tuple[Integers, Floats, Floats]] = []
    for row, share in _sizes(volumes, product):
        weight = share * multiplicity[:, None] * weights
        place = row * count + points.astype(np.int64)
        if points.shape[1] == 2:
            parts.append((place[:, 0], weight[:, 0], weight[:, 1]))
        else:
            parts += [(place[:, k], weight[:, k], np.zeros(len(place))) for k in range(points.shape[1])]
    target = np.concatenate([part[0] for part in parts])
    first, second = np.concatenate([part[1] for part in parts]), np.concatenate([part[2] for part in parts])
    larger, smaller = (np.tile(cells, len(parts)) for cells in (a * count + left, b * count + right))
    used = (first > 0.0) | (second > 0.0)
    return _Products(np.stack([larger, smaller, target])[:, used], np.stack([first, second])[:, used])


def _sizes(volumes: Floats, product: float) -> list[tuple[int, float]]:
    """Rows that a product goes to, and its number in each."""
    row = int(np.searchsorted(volumes * (1.0 - _SNAP), product, side="right")) - 1
    last = len(volumes) - 1
    if row == last:
        return [(last, float(product / volumes[last]))]
    share = float(np.clip((product - volumes[row]) / (volumes[row + 1] - volumes[row]), 0.0, 1.0))
    return [(row, 1.0 - share), (row + 1, share)]
