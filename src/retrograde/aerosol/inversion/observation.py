"""What an instrument would see of a trajectory: each channel at its own time, on the instrument's bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from retrograde.aerosol.grids import SizeGrid

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ObservationOperator:
    """A linear map from numbers at all times of a trajectory to the numbers in an instrument's channels.

    Linear in time between the states before and after, linear in ln D between the pivots' spectra
    on either side. On the instrument's own bins it copies.

    Attributes:
        matrix: Compressed sparse rows [1], shape [channels, times * bins], the bins of one time together.
        bins: Number of bins of the model.
    """

    matrix: Any
    bins: int

    @classmethod
    def build(
        cls, grid: SizeGrid, nodes: Floats, times: Floats, diameters: Floats, ln_widths: Floats
    ) -> ObservationOperator:
        """Operator for channels, each with a time, a centre and a width.

        Args:
            grid: Size bins of the model.
            nodes: Times of the trajectory's states, increasing [s], shape [nodes].
            times: Time of each channel [s], shape [channels]; times before the first node count as that.
            diameters: Centre of each channel [m], shape [channels].
            ln_widths: Width of each channel in ln D [1], shape [channels].

        Raises:
            ValueError: A channel lies after the last node, or outside the grid.
        """
        late = times > nodes[-1] * (1 + 1e-12)
        if np.any(late):
            raise ValueError(f"times [s]: a channel at {times[late][0]:.6g} s lies after the last state")
        low, high = grid.diameter_edges[[0, -1]]
        if np.any((diameters < low) | (diameters > high)):
            raise ValueError(f"diameters [m]: a channel lies outside the grid, {low:.4g} to {high:.4g} m")
        in_time = _between(nodes, times)
        in_size = _between(grid.ln_diameters, np.log(diameters))
        channels, count = np.arange(len(times)), len(times)
        matrix: Any = sparse.csr_matrix((count, len(nodes) * grid.bins))
        for node, by_time in in_time:
            for i, by_size in in_size:
                weights = by_time * by_size * ln_widths / grid.ln_widths[i]
                matrix = matrix + sparse.csr_matrix((weights, (channels, node * grid.bins + i)), shape=matrix.shape)
        matrix.eliminate_zeros()
        return cls(matrix, grid.bins)

    @property
    def channels(self) -> int:
        """Number of channels."""
        return int(self.matrix.shape[0])

    def combined(self, weights: Any) -> ObservationOperator:
        """Operator for weighted sums of the channels; `weights` is a matrix of shape [sums, channels]."""
        return ObservationOperator(sparse.csr_matrix(weights @ self.matrix), self.bins)

    def apply(self, number: Floats) -> Floats:
        """Numbers in the channels [m^-3], shape [boxes, channels], of states of shape [times, boxes, bins]."""
        boxes = number.shape[1]
        flat = number.transpose(0, 2, 1).reshape(-1, boxes)
        return np.asarray(self.matrix @ flat).T


def _between(nodes: Floats, values: Floats) -> list[tuple[NDArray[np.intp], Floats]]:
    """The nodes below and above each value with their shares; clamped at the ends."""
    upper = np.clip(np.searchsorted(nodes, values, side="left"), 1, len(nodes) - 1)
    lower = upper - 1
    share = np.clip((values - nodes[lower]) / (nodes[upper] - nodes[lower]), 0.0, 1.0)
    share = np.where(share < 1e-9, 0.0, np.where(share > 1 - 1e-9, 1.0, share))
    return [(lower, 1.0 - share), (upper, share)]
