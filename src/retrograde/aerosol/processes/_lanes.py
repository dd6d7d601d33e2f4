"""Boxes side by side: the vector types that let the CPU's compiler use SIMD."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from retrograde.aerosol._device import wp

ROWS_PER_BLOCK = 4
"""Matrix rows summed together when lanes are boxes: each loaded element is used four times."""

ROWS_PER_BLOCK_ALONE = 16
"""Matrix rows summed together for a lone box, whose SIMD lanes are rows."""

_GROUP_TIME = {1: 2.2, 8: 3.9, 16: 4.8, 24: 6.8}
"""Relative time of one group's step by its number of lanes, as measured on a core with AVX-512."""


_FLAGS = getattr(wp.config, "cpu_compiler_flags", None)

CONTRACTED: dict[str, Any] = {} if _FLAGS is None else {"cpu_compiler_flags": f"{_FLAGS} -ffp-contract=fast"}
"""Module options that let the CPU's compiler fuse a product and a sum, where Warp knows the option."""


@dataclass(frozen=True)
class LaneTypes:
    """Warp types of a group of boxes.

    Attributes:
        lanes: Boxes in a group.
        real: Scalar type, `wp.float64` or `wp.float32`.
        vector: One value for each box of a group.
        block: One matrix element for each row of a block of rows.
        rows: Rows in a block.
    """

    lanes: int
    real: Any
    vector: Any
    block: Any
    rows: int


@cache
def lane_types(lanes: int, real: Any) -> LaneTypes:
    """Types for groups of `lanes` boxes with scalars of type `real`."""
    rows = ROWS_PER_BLOCK_ALONE if lanes == 1 else ROWS_PER_BLOCK
    return LaneTypes(
        lanes=lanes,
        real=real,
        vector=wp.types.vector(length=lanes, dtype=real),
        block=wp.types.vector(length=rows, dtype=real),
        rows=rows,
    )


def choose_lanes(boxes: int, is_cuda: bool) -> int:
    """Number of lanes that steps `boxes` boxes in the least time.

    On a CUDA device the threads are the lanes, and every group holds one box.
    """
    if is_cuda:
        return 1
    return min(_GROUP_TIME, key=lambda lanes: -(-boxes // lanes) * _GROUP_TIME[lanes])


@dataclass(frozen=True)
class LaneBuffer:
    """A zeroed array of lane vectors and its view by scalars.

    Attributes:
        vectors: Shape [groups, slots, rows], elements of the lane vector type.
        scalars: The same memory, shape [groups, slots, rows, lanes].
    """

    vectors: Any
    scalars: Any


def lane_buffer(types: LaneTypes, groups: int, slots: int, rows: int, device: Any) -> LaneBuffer:
    """Allocate a buffer for `groups` groups."""
    scalars = wp.zeros((groups, slots, rows, types.lanes), dtype=types.real, device=device)
    vectors = wp.array(ptr=scalars.ptr, dtype=types.vector, shape=(groups, slots, rows), device=device)
    return LaneBuffer(vectors=vectors, scalars=scalars)
