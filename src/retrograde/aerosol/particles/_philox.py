"""Counter-based random numbers: Philox4x32-10, two uniforms in double precision a call.

Every number is a function of a seed, a box, a purpose and a count, so that what a box draws depends
neither on its neighbours nor on the device.

Source: Salmon, Moraes, Dror and Shaw (2011), Parallel random numbers: as easy as 1, 2, 3,
doi:10.1145/2063384.2063405.
"""

# pyright: reportInvalidTypeForm=false, reportUnknownParameterType=false

from typing import Any

import numpy as np

from retrograde.aerosol._device import Float64, Int32, Int64, UInt32, UInt64, Vec2, wp

START = 0
"""Purpose of the draws that make initial states."""
EVENTS = 1
"""Purpose of the draws that propose and accept events."""
NOISE = 2
"""Purpose of the draws of continuous noise."""
RELAXATION = 3
"""Purpose of the draws of relaxed programs: when, and for whom."""
GUMBEL = 4
"""Purpose of the draws of relaxed choices."""


def box_numbers(first_box: int, boxes: int, device: Any) -> Any:
    """Names of the boxes in the random numbers, on the device.

    Raises:
        ValueError: They do not fit into 32 bits.
    """
    if not 0 <= first_box <= 2**32 - boxes:
        raise ValueError(f"first_box: expected a whole number from 0 to {2**32 - boxes}, got {first_box}")
    numbers = np.arange(first_box, first_box + boxes, dtype=np.uint64).astype(np.uint32)
    return wp.array(numbers, dtype=wp.uint32, device=device)


def check_seed(seed: int) -> int:
    """The seed; a ValueError unless it fits into 64 bits."""
    if not 0 <= seed < 2**64:
        raise ValueError(f"seed: expected a whole number from 0 to 2^64 - 1, got {seed}")
    return seed


_M0 = wp.constant(wp.uint64(0xD2511F53))
_M1 = wp.constant(wp.uint64(0xCD9E8D57))
_W0 = wp.constant(wp.uint32(0x9E3779B9))
_W1 = wp.constant(wp.uint32(0xBB67AE85))
_LOW = wp.constant(wp.uint64(0xFFFFFFFF))
_WORD = wp.constant(wp.uint64(32))
_FIVE = wp.constant(wp.uint32(5))
_SIX = wp.constant(wp.uint32(6))
_2P26 = wp.constant(wp.float64(2.0**26))
_2M53 = wp.constant(wp.float64(2.0**-53))
_HALF = wp.constant(wp.float64(0.5))
_TWO = wp.constant(wp.float64(2.0))
_TWO_PI = wp.constant(wp.float64(2.0 * np.pi))

Words: Any = wp.types.vector(length=4, dtype=wp.uint32)
"""Four words of 32 bits."""


@wp.func
def philox_wp(c0: UInt32, c1: UInt32, c2: UInt32, c3: UInt32, key: UInt64) -> Words:
    """Ten rounds of Philox4x32 on the counter (c0, c1, c2, c3)."""
    k0 = wp.uint32(key & _LOW)
    k1 = wp.uint32(key >> _WORD)
    for _ in range(10):
        first = _M0 * wp.uint64(c0)
        second = _M1 * wp.uint64(c2)
        c0 = wp.uint32(second >> _WORD) ^ c1 ^ k0
        c1 = wp.uint32(second & _LOW)
        c2 = wp.uint32(first >> _WORD) ^ c3 ^ k1
        c3 = wp.uint32(first & _LOW)
        k0 += _W0
        k1 += _W1
    return Words(c0, c1, c2, c3)


@wp.func
def _uniform(high: UInt32, low: UInt32) -> Float64:
    """A number strictly between 0 and 1, on a lattice of 2^-53."""
    return (wp.float64(high >> _FIVE) * _2P26 + wp.float64(low >> _SIX) + _HALF) * _2M53


@wp.func
def uniforms_wp(seed: UInt64, box: UInt32, purpose: Int32, count: Int64) -> Vec2:
    """Two independent uniforms strictly between 0 and 1."""
    words = philox_wp(
        wp.uint32(wp.uint64(count) & _LOW), wp.uint32(wp.uint64(count) >> _WORD), box, wp.uint32(purpose), seed
    )
    return wp.vec2d(_uniform(words[0], words[1]), _uniform(words[2], words[3]))


@wp.func
def normals_wp(seed: UInt64, box: UInt32, purpose: Int32, count: Int64) -> Vec2:
    """Two independent standard normal numbers, after Box and Muller (1958), doi:10.1214/aoms/1177706645."""
    u = uniforms_wp(seed, box, purpose, count)
    radius = wp.sqrt(-_TWO * wp.log(u[0]))
    return wp.vec2d(radius * wp.cos(_TWO_PI * u[1]), radius * wp.sin(_TWO_PI * u[1]))
