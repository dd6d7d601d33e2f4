"""Copies between arrays with boxes leading and groups of lanes."""

# Kernel annotations are Warp types made at run time, which no static checker can follow.
# pyright: reportInvalidTypeForm=false, reportUnknownParameterType=false
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from dataclasses import dataclass
from functools import cache
from typing import Any

from retrograde.aerosol._device import wp


@dataclass(frozen=True)
class PackingKernels:
    """Copies for one scalar type; all are launched over [boxes, bins].

    Attributes:
        pack_initial: Numbers [boxes, bins] into slot 0 of a buffer.
        unpack: All slots of a buffer into numbers [times, boxes, bins] and the extra row into
            escaped volumes [times, boxes].
        pack_cotangents: The reverse of `unpack`.
        add_first: Adds slot 0 of a buffer to gradients [boxes, bins].
        unpack_peaks: The per-box peak rate [boxes] from a slot's first row.
    """

    pack_initial: Any
    unpack: Any
    pack_cotangents: Any
    add_first: Any
    unpack_peaks: Any


@cache
def packing_kernels(real: Any) -> PackingKernels:
    """Kernels for scalars of type `real`."""
    packed = wp.array(dtype=real, ndim=4)

    @wp.kernel(enable_backward=False, module="unique")
    def pack_initial(number: wp.array2d(dtype=real), out: packed):
        box, row = wp.tid()
        lanes = out.shape[3]
        out[box // lanes, 0, row, box % lanes] = number[box, row]

    @wp.kernel(enable_backward=False, module="unique")
    def unpack(buffer: packed, number: wp.array3d(dtype=real), escaped: wp.array2d(dtype=real)):
        time, box, row = wp.tid()
        lanes = buffer.shape[3]
        number[time, box, row] = buffer[box // lanes, time, row, box % lanes]
        if row == 0:
            top = buffer.shape[2] - 1
            escaped[time, box] = buffer[box // lanes, time, top, box % lanes]

    @wp.kernel(enable_backward=False, module="unique")
    def pack_cotangents(number: wp.array3d(dtype=real), escaped: wp.array2d(dtype=real), out: packed):
        time, box, row = wp.tid()
        lanes = out.shape[3]
        out[box // lanes, time, row, box % lanes] = number[time, box, row]
        if row == 0:
            top = out.shape[2] - 1
            out[box // lanes, time, top, box % lanes] = escaped[time, box]

    @wp.kernel(enable_backward=False, module="unique")
    def add_first(buffer: packed, gradient: wp.array2d(dtype=real)):
        box, row = wp.tid()
        lanes = buffer.shape[3]
        gradient[box, row] += buffer[box // lanes, 0, row, box % lanes]

    @wp.kernel(enable_backward=False, module="unique")
    def unpack_peaks(buffer: packed, peaks: wp.array(dtype=real)):
        box = wp.tid()
        lanes = buffer.shape[3]
        peaks[box] = buffer[box // lanes, 0, 0, box % lanes]

    return PackingKernels(pack_initial, unpack, pack_cotangents, add_first, unpack_peaks)
