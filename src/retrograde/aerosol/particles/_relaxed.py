"""The process with relaxed choices, as a program that is differentiable throughout, and its adjoint by hand.

A proposal names a particle and one or several partners, or nobody: a choice among categories. Relaxed, every
category gets a share; the particle takes that share of each partner, and the partner is present by so much
less. With whole shares this is the process itself: absent particles are proposed in vain.
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
    UInt32Array,
    UInt64,
    wp,
)
from retrograde.aerosol.particles._philox import GUMBEL, RELAXATION, uniforms_wp
from retrograde.aerosol.particles._rates import Rates, pair_rate_wp

_PURPOSE = wp.constant(RELAXATION)
_GUMBEL = wp.constant(GUMBEL)
_ZERO = wp.constant(wp.float64(0.0))
_ONE = wp.constant(wp.float64(1.0))
_ABSENT = wp.constant(wp.float64(1e-12))
_CERTAIN = wp.constant(wp.float64(1.0 - 1e-9))
_NEVER = wp.constant(wp.float64(-1e30))
_CATEGORY_SHIFT = wp.constant(wp.int64(20))


@wp.struct
class Relaxed:
    """A relaxed program of every box.

    Attributes:
        presence: How much of a particle is in every slot [1], shape [boxes, slots].
        sizes: Volumes of the particles [m^3], shape [boxes, slots].
        particles: Particles at the start; they fill the first slots, shape [boxes].
        bound: Bound of the kernel [m^3 s^-1], shape [boxes].
        rate: Rate of proposals [s^-1], shape [boxes].
        numbers: Names of the boxes in the random numbers, shape [boxes].
        partners: 1 for one partner, drawn evenly; 0 for all others at once.
        hard: Whether shares are whole in the forward run.
        temperature: Temperature of the choices [1].
        seed: Seed.
    """

    presence: Float64Matrix
    sizes: Float64Matrix
    particles: Int32Array
    bound: Float64Array
    rate: Float64Array
    numbers: UInt32Array
    partners: Int32
    hard: Int32
    temperature: Float64
    seed: UInt64


@wp.struct
class ProposalTape:
    """What the reverse sweep needs of every proposal.

    Attributes:
        first: Particle that was proposed, shape [boxes, proposals].
        partner: The one partner, if it is one, shape [boxes, proposals].
        size: Its volume before the proposal [m^3], shape [boxes, proposals].
        others: Presence of the partners before it [1], shape [boxes, proposals, partners].
        pairs: Both volumes [m^3], shape [boxes, proposals * partners, 2].
        rates: Kernel [m^3 s^-1], shape [boxes, proposals * partners].
        count: Proposals, shape [boxes].
        shares: Scratch: soft shares of the categories, shape [boxes, partners + 1].
        chances: Scratch: probabilities of the categories, shape [boxes, partners + 1].
    """

    first: Int32Matrix
    partner: Int32Matrix
    size: Float64Matrix
    others: Float64Tensor
    pairs: Float64Tensor
    rates: Float64Matrix
    count: Int32Array
    shares: Float64Matrix
    chances: Float64Matrix


@wp.func
def partner_of(r: Relaxed, t: ProposalTape, box: Int32, proposal: Int32, k: Int32) -> Int32:
    """Slot of the k-th partner."""
    if r.partners == 1:
        return t.partner[box, proposal]
    if k < t.first[box, proposal]:
        return k
    return k + 1


@wp.func
def partners_of(r: Relaxed, box: Int32) -> Int32:
    """Number of partners of a proposal."""
    if r.partners == 1:
        return 1
    return r.particles[box] - 1


@wp.func
def gumbel(r: Relaxed, box: Int32, proposal: Int32, category: Int32) -> Float64:
    """A Gumbel number for a category of a proposal."""
    draw = (wp.int64(proposal) << _CATEGORY_SHIFT) + wp.int64(category)
    u = uniforms_wp(r.seed, r.numbers[box], _GUMBEL, draw)
    return -wp.log(-wp.log(u[0]))


@wp.func
def choose(r: Relaxed, t: ProposalTape, box: Int32, proposal: Int32, presence: Float64) -> Int32:
    """Fill the chances and the soft shares of a proposal; the category that the hard choice is, 0 for nobody."""
    partners = partners_of(r, box)
    none = _ONE
    for k in range(partners):
        rate = t.rates[box, proposal * t.others.shape[2] + k]
        chance = rate * presence / (r.bound[box] * wp.float64(partners))
        t.chances[box, k + 1] = chance
        none -= chance
    t.chances[box, 0] = wp.max(none, _ONE - _CERTAIN)
    best = wp.int32(0)
    top = _NEVER
    for c in range(partners + 1):
        score = _NEVER
        if t.chances[box, c] > _ZERO:
            score = (wp.log(t.chances[box, c]) + gumbel(r, box, proposal, c)) / r.temperature
        t.shares[box, c] = score
        if score > top:
            top = score
            best = c
    total = wp.float64(0.0)
    for c in range(partners + 1):
        weight = wp.exp(t.shares[box, c] - top)
        t.shares[box, c] = weight
        total += weight
    for c in range(partners + 1):
        t.shares[box, c] = t.shares[box, c] / total
    return best


@wp.func
def used_share(r: Relaxed, t: ProposalTape, box: Int32, category: Int32, best: Int32) -> Float64:
    """Share that acts in the forward run."""
    if r.hard == 0:
        return t.shares[box, category]
    if category == best:
        return _ONE
    return _ZERO


@wp.kernel(enable_backward=False)
def run_relaxed(r: Relaxed, t: ProposalTape, rates: Rates, duration: Float64):
    """Run for a duration [s]; a box that needs more room counts its proposals and stops; over [boxes]."""
    box = wp.tid()
    n = r.particles[box]
    m = wp.int32(0)
    clock = wp.float64(0.0)
    partners = partners_of(r, box)
    while n > 1 and r.rate[box] > _ZERO:
        draw = wp.int64(2) * wp.int64(m)
        u = uniforms_wp(r.seed, r.numbers[box], _PURPOSE, draw)
        clock -= wp.log(u[0]) / r.rate[box]
        if clock >= duration:
            break
        if m >= t.first.shape[1]:
            m += 1
            continue
        w = uniforms_wp(r.seed, r.numbers[box], _PURPOSE, draw + wp.int64(1))
        i = wp.min(wp.int32(u[1] * wp.float64(n)), n - 1)
        j = wp.min(wp.int32(w[0] * wp.float64(n - 1)), n - 2)
        if j >= i:
            j += 1
        t.first[box, m] = i
        t.partner[box, m] = j
        size = r.sizes[box, i]
        presence = r.presence[box, i]
        t.size[box, m] = size
        for k in range(partners):
            q = partner_of(r, t, box, m, k)
            place = m * t.others.shape[2] + k
            t.others[box, m, k] = r.presence[box, q]
            t.pairs[box, place, 0] = size
            t.pairs[box, place, 1] = r.sizes[box, q]
            t.rates[box, place] = pair_rate_wp(rates, box, size, r.sizes[box, q])
        if presence > _ABSENT:
            best = choose(r, t, box, m, presence)
            grown = size
            for k in range(partners):
                q = partner_of(r, t, box, m, k)
                share = used_share(r, t, box, k + 1, best)
                grown += share * (t.others[box, m, k] / presence) * r.sizes[box, q]
                r.presence[box, q] = (_ONE - share) * t.others[box, m, k]
            r.sizes[box, i] = grown
        m += 1
    t.count[box] = m


@wp.kernel
def pair_rates(t_pairs: Float64Tensor, rates: Rates, out: Float64Matrix):
    """The kernel at all pairs, once more, for its adjoint; over [boxes, pairs]."""
    box, place = wp.tid()
    if t_pairs[box, place, 1] > _ZERO:
        out[box, place] = pair_rate_wp(rates, box, t_pairs[box, place, 0], t_pairs[box, place, 1])


@wp.kernel(enable_backward=False)
def sweep_relaxed(
    r: Relaxed,
    t: ProposalTape,
    slopes: Float64Tensor,
    by_presence: Float64Matrix,
    by_sizes: Float64Matrix,
):
    """Pull the cotangents of presence and sizes back to the start, in place; over [boxes].

    States before each proposal are restored from the tape, whose memory of the partners holds the cotangents
    of the shares for as long as they are needed. Shares are differentiated as soft ones, whether
    they acted so or not. Slopes are the kernel's derivatives to both volumes [s^-1].
    """
    box = wp.tid()
    partners = partners_of(r, box)
    for b in range(t.count[box]):
        m = t.count[box] - 1 - b
        i = t.first[box, m]
        presence = r.presence[box, i]
        if presence > _ABSENT:
            size = t.size[box, m]
            r.sizes[box, i] = size
            best = choose(r, t, box, m, presence)
            grown_bar = by_sizes[box, i]
            presence_bar = by_presence[box, i]
            # Through the new state to the state before, and to the shares.
            mean_bar = wp.float64(0.0)
            for k in range(partners):
                q = partner_of(r, t, box, m, k)
                share = used_share(r, t, box, k + 1, best)
                before = t.others[box, m, k]
                taken = r.sizes[box, q] / presence
                left_bar = by_presence[box, q]
                share_bar = before * taken * grown_bar - before * left_bar
                by_presence[box, q] = (_ONE - share) * left_bar + share * taken * grown_bar
                by_sizes[box, q] = by_sizes[box, q] + share * before / presence * grown_bar
                presence_bar -= share * before * taken / presence * grown_bar
                r.presence[box, q] = before
                mean_bar += t.shares[box, k + 1] * share_bar
                t.others[box, m, k] = share_bar
            # Through the softmax to the chances, whose sum is one.
            size_bar = grown_bar
            none_bar = -t.shares[box, 0] * mean_bar / (r.temperature * t.chances[box, 0])
            if t.chances[box, 0] <= _ONE - _CERTAIN:
                none_bar = _ZERO
            for k in range(partners):
                q = partner_of(r, t, box, m, k)
                chance = t.chances[box, k + 1]
                if chance > _ZERO:
                    score_bar = t.shares[box, k + 1] * (t.others[box, m, k] - mean_bar) / r.temperature
                    chance_bar = score_bar / chance - none_bar
                    place = m * t.others.shape[2] + k
                    rate_bar = chance_bar * presence / (r.bound[box] * wp.float64(partners))
                    presence_bar += chance_bar * chance / presence
                    size_bar += rate_bar * slopes[box, place, 0]
                    by_sizes[box, q] = by_sizes[box, q] + rate_bar * slopes[box, place, 1]
                t.others[box, m, k] = r.presence[box, q]
            by_sizes[box, i] = size_bar
            by_presence[box, i] = presence_bar
