"""Fills the kernels' coefficients from the processes' terms."""

from __future__ import annotations

from typing import Any

import numpy as np

from retrograde.aerosol._device import wp
from retrograde.aerosol.processes._lanes import LaneTypes
from retrograde.aerosol.processes._operators import coefficient_struct
from retrograde.aerosol.processes._pairs import PairGeometry, no_pairs, semi_implicit_pairs
from retrograde.aerosol.processes.terms import Floats, Method, Terms


def coefficients(terms: Terms, types: LaneTypes, groups: int, method: Method, device: Any) -> Any:
    """The struct of coefficients on `device` for `groups` groups of boxes."""
    bins = terms.bins
    result = coefficient_struct(types)()
    result.bins = bins
    result.blocks = -(-bins // types.rows)
    result.removal = _by_lane(terms.removal, types, groups, device)
    result.supply = _by_lane(terms.supply, types, groups, device)
    boxwise = terms.coagulation is not None and terms.coagulation.kernel.ndim == 3
    kernel = np.zeros((bins, bins)) if terms.coagulation is None else terms.coagulation.kernel
    pairs = no_pairs(bins) if terms.coagulation is None else terms.coagulation.pairs
    if method is Method.SEMI_IMPLICIT:
        pairs = semi_implicit_pairs(pairs)
    _set_pairs(result, pairs, None if boxwise else kernel, types, device)
    _set_matrices(result, pairs, np.zeros((bins, bins)) if boxwise else kernel, types, device)
    result.boxwise = (
        _boxwise(kernel, pairs, types, groups, device)
        if boxwise
        else wp.zeros((1, 1, 1), dtype=types.vector, device=device)
    )
    return result


def growth_and_loss(kernel: Floats, pairs: PairGeometry) -> tuple[Floats, Floats]:
    """Matrices of the rates at which a bin grows by bulk partners and is lost to others [m^3 s^-1]."""
    return kernel * pairs.growth, kernel * pairs.loss


def _set_pairs(result: Any, pairs: PairGeometry, kernel: Floats | None, types: LaneTypes, device: Any) -> None:
    listed = (pairs.larger, pairs.smaller)
    share = 1.0 / pairs.loss[listed] if kernel is None else kernel[listed]
    result.top = pairs.top
    result.bulk = wp.array(pairs.bulk, dtype=wp.int32, device=device)
    result.larger = wp.array(pairs.larger, dtype=wp.int32, device=device)
    result.smaller = wp.array(pairs.smaller, dtype=wp.int32, device=device)
    result.intervals = wp.array(pairs.starts, dtype=wp.int32, device=device)
    result.first = wp.array(pairs.first * share, dtype=types.real, device=device)
    result.second = wp.array(pairs.second * share, dtype=types.real, device=device)
    result.backstep = wp.array(pairs.backstep, dtype=types.real, device=device)


def _set_matrices(result: Any, pairs: PairGeometry, kernel: Floats, types: LaneTypes, device: Any) -> None:
    growth, loss = growth_and_loss(kernel, pairs)
    blocks = [_blocked(m, types.rows) for m in (growth, loss, growth.T, loss.T)]
    used = [np.any(b != 0.0, axis=2) for b in blocks]
    starts = [[int(np.argmax(row)) for row in u] for u in used]
    stops = [[int(len(row) - np.argmax(row[::-1])) if row.any() else 0 for row in u] for u in used]
    result.matrices = wp.array(np.stack(blocks), dtype=types.block, device=device)
    result.starts = wp.array(np.array(starts, dtype=np.int32), dtype=wp.int32, device=device)
    result.stops = wp.array(np.array(stops, dtype=np.int32), dtype=wp.int32, device=device)


def _blocked(matrix: Floats, rows: int) -> Floats:
    """The matrix by blocks of rows, shape [blocks, columns, rows], padded with zero rows."""
    bins = matrix.shape[0]
    blocks = -(-bins // rows)
    padded = np.zeros((blocks * rows, bins))
    padded[:bins] = matrix
    return np.ascontiguousarray(padded.reshape(blocks, rows, bins).transpose(0, 2, 1))


def _by_lane(values: Floats, types: LaneTypes, groups: int, device: Any) -> Any:
    """Values by bin, or by box and bin, as lane vectors, shape [groups, rows of all blocks]."""
    bins = values.shape[-1]
    width = -(-bins // types.rows) * types.rows
    boxes = groups * types.lanes if values.ndim == 1 else len(values)
    every = np.zeros((groups * types.lanes, width))
    every[:boxes, :bins] = values
    by_lane = every.reshape(groups, types.lanes, width).transpose(0, 2, 1)
    return wp.array(np.ascontiguousarray(by_lane), dtype=types.vector, device=device)


def _boxwise(kernel: Floats, pairs: PairGeometry, types: LaneTypes, groups: int, device: Any) -> Any:
    """Growth and loss matrices in one, by box, as lane vectors, shape [groups, bins, bins]."""
    growth, loss = growth_and_loss(kernel, pairs)
    boxes, bins, _ = kernel.shape
    every = np.zeros((groups * types.lanes, bins, bins))
    every[:boxes] = growth + loss
    by_lane = every.reshape(groups, types.lanes, bins, bins).transpose(0, 2, 3, 1)
    return wp.array(np.ascontiguousarray(by_lane), dtype=types.vector, device=device)
