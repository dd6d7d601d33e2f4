"""A lattice of compositions, and the split of any composition between the points around it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int32]


@dataclass(frozen=True)
class CompositionLattice:
    """All compositions whose volume fractions are multiples of one step.

    A composition between points is split between the corners of the simplex that holds it, by weights
    that are linear there. They are never negative, add up to one and keep every species' share. For two
    species these are the two neighbours on a line.

    Attributes:
        species: Number of species.
        levels: Steps from a pure species to another.

    Raises:
        ValueError: One of them is below 1.

    Source: Kuhn (1960), IBM Journal of Research and Development 4, 518, doi:10.1147/rd.45.0518, for the
    simplices.
    """

    species: int
    levels: int

    def __post_init__(self) -> None:
        for name, value in (("species", self.species), ("levels", self.levels)):
            if value < 1:
                raise ValueError(f"{name}: expected 1 or more, got {value}")

    @property
    def counts(self) -> Integers:
        """For every point, steps given to all species from the second, third, ... on, shape [points, species - 1].

        Points are in lexicographic order of these counts; none of them increases along its row.
        """
        axes = [range(self.levels + 1)] * (self.species - 1)
        rows = [row for row in product(*axes) if all(a >= b for a, b in pairwise(row))]
        return np.array(rows, dtype=np.int32).reshape(len(rows), self.species - 1)

    @property
    def fractions(self) -> Floats:
        """Volume fractions of the points [1], shape [points, species]."""
        counts = self.counts
        ends = np.full((len(counts), 1), self.levels), np.zeros((len(counts), 1))
        return -np.diff(np.concatenate([ends[0], counts, ends[1]], axis=1), axis=1) / self.levels

    @property
    def lookup(self) -> Integers:
        """Index of the point with given counts, shape [(levels + 1)^(species - 1)]; 0 where there is none."""
        table = np.zeros((self.levels + 1) ** (self.species - 1), dtype=np.int32)
        counts = self.counts
        table[counts @ self.strides] = np.arange(len(counts))
        return table

    @property
    def strides(self) -> Integers:
        """Steps in `lookup` for a step in each count, shape [species - 1]."""
        return ((self.levels + 1) ** np.arange(self.species - 2, -1, -1)).astype(np.int32)

    def split(self, fractions: Floats) -> tuple[Integers, Floats]:
        """Points that a composition is split between, and its weights.

        Args:
            fractions: Volume fractions, not negative, adding up to 1, shape [..., species].

        Returns:
            Indices of points, and weights, both of shape [..., species].
        """
        position = self.levels * np.cumsum(fractions[..., ::-1], axis=-1)[..., -2::-1]
        base = np.clip(np.floor(position), 0, self.levels - 1).astype(np.int64)
        position = np.clip(position, 0.0, self.levels)
        rest = position - base
        order = np.argsort(-rest, axis=-1, kind="stable")
        ordered = np.take_along_axis(rest, order, axis=-1)
        one, none = np.ones((*ordered.shape[:-1], 1)), np.zeros((*ordered.shape[:-1], 1))
        weights = -np.diff(np.concatenate([one, ordered, none], axis=-1), axis=-1)
        corners = [base]
        for k in range(self.species - 1):
            step = np.zeros_like(base)
            np.put_along_axis(step, order[..., k : k + 1], 1, axis=-1)
            corners.append(corners[-1] + step)
        places = np.stack(corners, axis=-2) @ self.strides.astype(np.int64)
        return self.lookup[places], weights
