"""The stochastic process as a kernel: one thread a box, event after event until a given time."""

# pyright: reportUnknownParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

from retrograde.aerosol._device import (
    Float64,
    Float64Matrix,
    Int32,
    Int32Array,
    Int32Tensor,
    UInt64,
    Vec2,
    wp,
)
from retrograde.aerosol.particles._boxes import (
    DONE,
    EXCEEDED,
    FULL,
    Bounds,
    Boxes,
    class_count,
    class_of,
    particle_volume_wp,
    raise_class,
    sum_rows,
    take_out,
    top_class,
)
from retrograde.aerosol.particles._philox import EVENTS, uniforms_wp
from retrograde.aerosol.particles._rates import NONE, Rates, loss_rate_wp, pair_rate_wp

NO_RECORD, ACCEPTED_ONLY, ALL_PROPOSALS = (wp.constant(i) for i in range(3))
"""What is stored: nothing; events; events and rejected proposals."""

REJECTED, ACCEPTED, ABOVE = (wp.constant(i) for i in range(3))
"""What came of a proposal; a rate above its bound is neither accepted nor rejected."""

_REBUILD = wp.constant(64)
_PURPOSE = wp.constant(EVENTS)
_ZERO = wp.constant(wp.float64(0.0))
_ONE = wp.constant(wp.float64(1.0))
_SECOND = wp.constant(wp.int64(1))
_EACH = wp.constant(wp.int64(2))
_ROUNDING = wp.constant(wp.float64(1.0 + 1e-12))


@wp.struct
class Store:
    """Where events go: two slots and a time each, `count` of them in every box.

    A merger is (kept slot, emptied slot), a loss (-1, emptied slot); a rejected proposal has the
    complement ~slot for the second.
    """

    mode: Int32
    slots: Int32Tensor
    times: Float64Matrix
    count: Int32Array


@wp.func
def remember(store: Store, box: Int32, first: Int32, second: Int32, time: Float64):
    """Append to the store, which must have room."""
    n = store.count[box]
    store.slots[box, n, 0] = first
    store.slots[box, n, 1] = second
    store.times[box, n] = time
    store.count[box] = n + 1


@wp.func
def total_pair_rate(b: Boxes, box: Int32, top: Int32) -> Float64:
    """Sum of the rows over all particles: twice the bound of the rate, times the volume of air."""
    total = wp.float64(0.0)
    if b.stops[box, 0] > 1:
        for c in range(top + 1):
            total += wp.max(b.rows[box, c], _ZERO) * wp.float64(b.stops[box, c] - b.stops[box, c + 1])
    return total


@wp.func
def total_loss_rate(b: Boxes, bounds: Bounds, rates: Rates, box: Int32, environment: Int32, top: Int32) -> Float64:
    """Bound of the rate at which particles are lost [s^-1]."""
    total = rates.dilution[box] * wp.float64(b.stops[box, 0])
    if rates.loss == NONE:
        return total
    for c in range(top + 1):
        total += bounds.losses[environment, c] * wp.float64(b.stops[box, c] - b.stops[box, c + 1])
    return total


@wp.func
def first_class(b: Boxes, box: Int32, top: Int32, target: Float64):
    """Class of the first particle of a pair, and what is left of the target there."""
    c = top
    left = target
    for k in range(top + 1):
        c = top - k
        weight = wp.max(b.rows[box, c], _ZERO) * wp.float64(class_count(b, box, c))
        if left < weight:
            break
        left -= weight
    return c, left


@wp.func
def second_class(b: Boxes, bounds: Bounds, box: Int32, environment: Int32, top: Int32, first: Int32, target: Float64):
    """Class of the second particle of a pair, and what is left of the target there."""
    c = top
    left = target
    for k in range(top + 1):
        c = top - k
        others = class_count(b, box, c)
        if c == first:
            others -= 1
        weight = bounds.pairs[environment, first, c] * wp.float64(others)
        if left < weight:
            break
        left -= weight
    return c, left


@wp.func
def lost_class(
    b: Boxes, bounds: Bounds, box: Int32, environment: Int32, top: Int32, dilution: Float64, target: Float64
):
    """Class of a particle that may be lost, and what is left of the target there."""
    c = top
    left = target
    for k in range(top + 1):
        c = top - k
        weight = (bounds.losses[environment, c] + dilution) * wp.float64(class_count(b, box, c))
        if left < weight:
            break
        left -= weight
    return c, left


@wp.func
def empty_slot(b: Boxes, box: Int32, slot: Int32):
    """Leave nothing in a slot."""
    for s in range(b.masses.shape[2]):
        b.masses[box, slot, s] = _ZERO
    b.sizes[box, slot] = _ZERO


@wp.func
def merge(
    b: Boxes,
    bounds: Bounds,
    box: Int32,
    environment: Int32,
    top: Int32,
    higher: Int32,
    lower: Int32,
    i: Int32,
    j: Int32,
) -> Int32:
    """Merge the particle at place j of class `lower` into the one at place i of class `higher`; the new top class."""
    kept = b.order[box, i]
    gone = b.order[box, j]
    for s in range(b.masses.shape[2]):
        b.masses[box, kept, s] = b.masses[box, kept, s] + b.masses[box, gone, s]
    empty_slot(b, box, gone)
    size = particle_volume_wp(b.masses, b.inverse_density, box, kept)
    b.sizes[box, kept] = size
    place = i
    if higher == lower and i == b.stops[box, lower] - 1:
        place = j
    take_out(b, box, j, lower)
    grown = class_of(bounds.edges, size, higher)
    raise_class(b, box, place, higher, grown)
    if grown > top:
        sum_rows(b, bounds, box, environment, grown)
        return grown
    for x in range(top + 1):
        less = bounds.pairs[environment, x, higher] + bounds.pairs[environment, x, lower]
        b.rows[box, x] = b.rows[box, x] + (bounds.pairs[environment, x, grown] - less)
    return top


@wp.func
def try_merger(
    b: Boxes,
    bounds: Bounds,
    rates: Rates,
    store: Store,
    box: Int32,
    top: Int32,
    target: Float64,
    w: Vec2,
    clock: Float64,
    exceeded: Float64Matrix,
):
    """Propose a pair and merge it if it is accepted: what came of it, and the top class."""
    environment = rates.environment_of[box]
    first, left = first_class(b, box, top, target)
    count = class_count(b, box, first)
    row = b.rows[box, first]
    if count < 1 or row <= _ZERO:
        return REJECTED, top
    i = wp.min(wp.int32(left / row), count - 1)
    second, rest = second_class(b, bounds, box, environment, top, first, w[0] * row)
    bound = bounds.pairs[environment, first, second]
    others = class_count(b, box, second)
    if second == first:
        others -= 1
    if others < 1 or bound <= _ZERO:
        return REJECTED, top
    j = wp.min(wp.int32(rest / bound), others - 1)
    if second == first and j >= i:
        j += 1
    # The particle of the higher class keeps its slot.
    higher = wp.max(first, second)
    lower = wp.min(first, second)
    place = b.stops[box, first + 1] + i
    partner = b.stops[box, second + 1] + j
    if second > first:
        place = b.stops[box, second + 1] + j
        partner = b.stops[box, first + 1] + i
    kept = b.order[box, place]
    gone = b.order[box, partner]
    rate = pair_rate_wp(rates, box, b.sizes[box, kept], b.sizes[box, gone])
    if rate > bound * _ROUNDING:
        exceeded[box, 0] = wp.float64(higher)
        exceeded[box, 1] = wp.float64(lower)
        exceeded[box, 2] = rate
        return ABOVE, top
    if w[1] * bound >= rate:
        if store.mode == ALL_PROPOSALS:
            remember(store, box, kept, ~gone, clock)
        return REJECTED, top
    if store.mode != NO_RECORD:
        remember(store, box, kept, gone, clock)
    return ACCEPTED, merge(b, bounds, box, environment, top, higher, lower, place, partner)


@wp.func
def try_loss(
    b: Boxes,
    bounds: Bounds,
    rates: Rates,
    store: Store,
    box: Int32,
    top: Int32,
    target: Float64,
    w: Vec2,
    clock: Float64,
    exceeded: Float64Matrix,
):
    """Propose a particle and remove it if it is accepted: what came of it, and the top class."""
    environment = rates.environment_of[box]
    dilution = rates.dilution[box]
    c, left = lost_class(b, bounds, box, environment, top, dilution, target)
    bound = bounds.losses[environment, c] + dilution
    count = class_count(b, box, c)
    if count < 1 or bound <= _ZERO:
        return REJECTED, top
    place = b.stops[box, c + 1] + wp.min(wp.int32(left / bound), count - 1)
    gone = b.order[box, place]
    rate = loss_rate_wp(rates, box, b.sizes[box, gone])
    if rate > bound * _ROUNDING:
        exceeded[box, 0] = wp.float64(c)
        exceeded[box, 1] = -_ONE
        exceeded[box, 2] = rate - dilution
        return ABOVE, top
    if w[1] * bound >= rate:
        if store.mode == ALL_PROPOSALS:
            remember(store, box, -1, ~gone, clock)
        return REJECTED, top
    if store.mode != NO_RECORD:
        remember(store, box, -1, gone, clock)
    empty_slot(b, box, gone)
    take_out(b, box, place, c)
    for x in range(top + 1):
        b.rows[box, x] = b.rows[box, x] - bounds.pairs[environment, x, c]
    return ACCEPTED, top


@wp.kernel(enable_backward=False)
def run_process(
    b: Boxes,
    bounds: Bounds,
    rates: Rates,
    store: Store,
    seed: UInt64,
    end: Float64,
    exceeded: Float64Matrix,
):
    """Go on until `end` [s], until the store is full, or until a rate is above its bound; over [boxes].

    A box that stopped because its store was full goes on as if it had not stopped.
    """
    box = wp.tid()
    if b.status[box] != FULL:
        return
    environment = rates.environment_of[box]
    number = b.numbers[box]
    twice_volume = b.volume[box] + b.volume[box]
    clock = b.clock[box]
    draws = b.draws[box]
    merged = b.merged[box]
    top = b.tops[box]
    pair_rate = total_pair_rate(b, box, top) / twice_volume
    loss_rate = total_loss_rate(b, bounds, rates, box, environment, top)
    status = DONE
    while clock < end:
        if store.mode != NO_RECORD and store.count[box] >= store.times.shape[1]:
            status = FULL
            break
        total = pair_rate + loss_rate
        if total <= _ZERO:
            break
        u = uniforms_wp(seed, number, _PURPOSE, draws)
        w = uniforms_wp(seed, number, _PURPOSE, draws + _SECOND)
        draws += _EACH
        # A waiting time has no memory: where it passes the end, the next interval draws its own.
        clock -= wp.log(u[0]) / total
        if clock >= end:
            break
        target = u[1] * total
        outcome = REJECTED
        if target < pair_rate:
            outcome, top = try_merger(b, bounds, rates, store, box, top, target * twice_volume, w, clock, exceeded)
        else:
            outcome, top = try_loss(b, bounds, rates, store, box, top, target - pair_rate, w, clock, exceeded)
        if outcome == ABOVE:
            status = EXCEEDED
            break
        if outcome == ACCEPTED:
            merged += 1
            if merged >= _REBUILD:
                merged = 0
                top = top_class(b, box)
                sum_rows(b, bounds, box, environment, top)
            pair_rate = total_pair_rate(b, box, top) / twice_volume
            loss_rate = total_loss_rate(b, bounds, rates, box, environment, top)
    if status == DONE:
        clock = end
    b.clock[box] = clock
    b.draws[box] = draws
    b.merged[box] = merged
    b.tops[box] = top
    b.status[box] = status
