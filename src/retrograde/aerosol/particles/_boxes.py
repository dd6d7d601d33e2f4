"""The particles of a box, ordered by size class.

They lie in one permutation of slots, class by class from the largest to the smallest, and the empty slots behind: to
take a particle out, or to raise it to another class, is one swap a class.
"""

# pyright: reportUnknownParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

from retrograde.aerosol._device import (
    Float64,
    Float64Array,
    Float64Matrix,
    Float64Tensor,
    Int32,
    Int32Array,
    Int32Matrix,
    Int64Array,
    UInt32Array,
    wp,
)
from retrograde.aerosol.particles._rates import Rates

DONE, FULL, EXCEEDED = (wp.constant(i) for i in range(3))
"""Why a box stopped: the time is reached; the store is full; a rate was above its bound."""

_ZERO = wp.constant(wp.float64(0.0))


@wp.struct
class Boxes:
    """State of the process in every box, between two launches.

    Attributes:
        masses: Species masses [kg], shape [boxes, slots, species].
        sizes: Particle volumes [m^3], shape [boxes, slots].
        inverse_density: [m^3 kg^-1], shape [species].
        volume: Volume of air [m^3], shape [boxes].
        order: Slots by class, largest first; empty ones last, shape [boxes, slots].
        stops: End of every class in `order`; the class above begins where it ends, shape [boxes, classes + 1].
        rows: Sum over partners of the bounds, the particle itself left out [m^3 s^-1], shape [boxes, classes].
        clock: Time [s], shape [boxes].
        draws: Random numbers used, shape [boxes].
        merged: Events since the rows were last summed anew, shape [boxes].
        tops: Class above which no particle is, shape [boxes].
        status: Why the box stopped, shape [boxes].
        numbers: Name of every box in the random numbers, shape [boxes].
    """

    masses: Float64Tensor
    sizes: Float64Matrix
    inverse_density: Float64Array
    volume: Float64Array
    order: Int32Matrix
    stops: Int32Matrix
    rows: Float64Matrix
    clock: Float64Array
    draws: Int64Array
    merged: Int32Array
    tops: Int32Array
    status: Int32Array
    numbers: UInt32Array


@wp.struct
class Bounds:
    """Size classes and bounds; see `SizeClasses`."""

    edges: Float64Array
    pairs: Float64Tensor
    losses: Float64Matrix


@wp.func
def particle_volume_wp(masses: Float64Tensor, inverse_density: Float64Array, box: Int32, slot: Int32) -> Float64:
    """Volume of a particle [m^3], species by species in their order."""
    total = wp.float64(0.0)
    for s in range(masses.shape[2]):
        total += masses[box, slot, s] * inverse_density[s]
    return total


@wp.func
def class_of(edges: Float64Array, size: Float64, at_least: Int32) -> Int32:
    """Class of a volume that is in class `at_least` or above."""
    c = at_least
    while c < edges.shape[0] - 2 and size >= edges[c + 1]:
        c += 1
    return c


@wp.func
def sum_rows(b: Boxes, bounds: Bounds, box: Int32, environment: Int32, top: Int32):
    """Sum the rows anew, up to class `top`."""
    for x in range(top + 1):
        total = -bounds.pairs[environment, x, x]
        for y in range(top + 1):
            total += bounds.pairs[environment, x, y] * wp.float64(b.stops[box, y] - b.stops[box, y + 1])
        b.rows[box, x] = total


@wp.func
def top_class(b: Boxes, box: Int32) -> Int32:
    """Highest class that holds a particle; 0 if none does."""
    top = b.rows.shape[1] - 1
    while top > 0 and b.stops[box, top] == 0:
        top -= 1
    return top


@wp.kernel(enable_backward=False)
def arrange(b: Boxes, bounds: Bounds, rates: Rates):
    """Sort the particles of every box into classes; launched over [boxes]."""
    box = wp.tid()
    classes = b.rows.shape[1]
    for c in range(classes + 1):
        b.stops[box, c] = 0
    slots = b.order.shape[1]
    for p in range(slots):
        size = particle_volume_wp(b.masses, b.inverse_density, box, p)
        b.sizes[box, p] = size
        if size > _ZERO:
            c = class_of(bounds.edges, size, 0)
            b.stops[box, c] = b.stops[box, c] + 1
    # Counts become begins of classes, the largest class first, and filling turns begins into ends.
    before = wp.int32(0)
    for k in range(classes):
        c = classes - 1 - k
        count = b.stops[box, c]
        b.stops[box, c] = before
        before += count
    free = before
    for p in range(slots):
        size = b.sizes[box, p]
        if size > _ZERO:
            c = class_of(bounds.edges, size, 0)
            place = b.stops[box, c]
            b.order[box, place] = p
            b.stops[box, c] = place + 1
        else:
            b.order[box, free] = p
            free += 1
    b.merged[box] = 0
    b.status[box] = FULL
    b.tops[box] = top_class(b, box)
    sum_rows(b, bounds, box, rates.environment_of[box], b.tops[box])


@wp.func
def swap(order: Int32Matrix, box: Int32, p: Int32, q: Int32):
    """Exchange two places of the permutation."""
    kept = order[box, p]
    order[box, p] = order[box, q]
    order[box, q] = kept


@wp.func
def take_out(b: Boxes, box: Int32, place: Int32, c: Int32):
    """Move the particle at a place of class `c` behind all others, which makes its slot an empty one."""
    p = place
    for k in range(c + 1):
        last = b.stops[box, c - k] - 1
        swap(b.order, box, p, last)
        b.stops[box, c - k] = last
        p = last


@wp.func
def raise_class(b: Boxes, box: Int32, place: Int32, c: Int32, higher: Int32):
    """Move the particle at a place of class `c` to a higher class."""
    p = place
    for k in range(c, higher):
        first = b.stops[box, k + 1]
        swap(b.order, box, p, first)
        b.stops[box, k + 1] = first + 1
        p = first


@wp.func
def class_count(b: Boxes, box: Int32, c: Int32) -> Int32:
    """Particles in a class."""
    return b.stops[box, c] - b.stops[box, c + 1]
