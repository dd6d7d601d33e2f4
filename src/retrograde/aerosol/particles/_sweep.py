"""A run of recorded events again, and its adjoint: a reverse sweep over the list."""

# pyright: reportUnknownParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

from retrograde.aerosol._device import (
    Float64Array,
    Float64Matrix,
    Float64Tensor,
    Int32Array,
    Int32Tensor,
    wp,
)
from retrograde.aerosol.particles._boxes import Bounds, class_of, particle_volume_wp
from retrograde.aerosol.particles._rates import (
    Rates,
    loss_rate_wp,
    pair_rate_wp,
)

_ZERO = wp.constant(wp.float64(0.0))


@wp.kernel(enable_backward=False)
def replay_events(
    slots: Int32Tensor,
    begin: Int32Array,
    end: Int32Array,
    masses: Float64Tensor,
):
    """Let the recorded events happen, in place; over [boxes]."""
    box = wp.tid()
    for e in range(begin[box], end[box]):
        kept = slots[box, e, 0]
        gone = slots[box, e, 1]
        if gone >= 0:
            for s in range(masses.shape[2]):
                if kept >= 0:
                    masses[box, kept, s] = masses[box, kept, s] + masses[box, gone, s]
                masses[box, gone, s] = _ZERO


@wp.kernel(enable_backward=False)
def replay_with_sizes(
    slots: Int32Tensor,
    begin: Int32Array,
    end: Int32Array,
    rates: Rates,
    bounds: Bounds,
    inverse_density: Float64Array,
    masses: Float64Tensor,
    sizes: Float64Tensor,
    proposed: Float64Matrix,
):
    """As `replay_events`, noting what every event or rejected proposal was accepted or rejected by.

    That is the volumes [m^3] of both particles before it, and the rate it was proposed at.
    """
    box = wp.tid()
    environment = rates.environment_of[box]
    for e in range(begin[box], end[box]):
        kept = slots[box, e, 0]
        second = slots[box, e, 1]
        gone = second
        if second < 0:
            gone = ~second
        size = particle_volume_wp(masses, inverse_density, box, gone)
        sizes[box, e, 1] = size
        c = class_of(bounds.edges, size, 0)
        if kept >= 0:
            size = particle_volume_wp(masses, inverse_density, box, kept)
            sizes[box, e, 0] = size
            proposed[box, e] = bounds.pairs[environment, class_of(bounds.edges, size, 0), c]
        else:
            proposed[box, e] = bounds.losses[environment, c] + rates.dilution[box]
        if second >= 0:
            for s in range(masses.shape[2]):
                if kept >= 0:
                    masses[box, kept, s] = masses[box, kept, s] + masses[box, gone, s]
                masses[box, gone, s] = _ZERO


@wp.kernel
def log_probabilities(
    slots: Int32Tensor,
    end: Int32Array,
    rates: Rates,
    proposed: Float64Matrix,
    sizes: Float64Tensor,
    out: Float64Matrix,
):
    """Logarithm of the probability of each acceptance or rejection, given the proposal; over [boxes, events]."""
    box, e = wp.tid()
    if e < end[box]:
        rate = wp.float64(0.0)
        if slots[box, e, 0] >= 0:
            rate = pair_rate_wp(rates, box, sizes[box, e, 0], sizes[box, e, 1])
        else:
            rate = loss_rate_wp(rates, box, sizes[box, e, 1])
        if slots[box, e, 1] >= 0:
            out[box, e] = wp.log(rate / proposed[box, e])
        else:
            out[box, e] = wp.log((proposed[box, e] - rate) / proposed[box, e])


@wp.kernel(enable_backward=False)
def sweep_events(
    slots: Int32Tensor,
    begin: Int32Array,
    end: Int32Array,
    cotangent: Float64Tensor,
):
    """Pull the cotangent of the masses after the events back to before them, in place; over [boxes].

    What a particle brings into a merger acts through the one that keeps its slot; what is lost acts no more.
    """
    box = wp.tid()
    for k in range(end[box] - begin[box]):
        e = end[box] - 1 - k
        kept = slots[box, e, 0]
        gone = slots[box, e, 1]
        if gone >= 0:
            for s in range(cotangent.shape[2]):
                through = _ZERO
                if kept >= 0:
                    through = cotangent[box, kept, s]
                cotangent[box, gone, s] = through


@wp.kernel(enable_backward=False)
def sweep_with_score(
    slots: Int32Tensor,
    begin: Int32Array,
    end: Int32Array,
    slopes: Float64Tensor,
    inverse_density: Float64Array,
    weight: Float64Array,
    cotangent: Float64Tensor,
):
    """As `sweep_events`, and adds `weight` times the score of the events, rejected proposals included.

    Slopes are the derivatives of `log_probabilities` to the volumes [m^-3].
    """
    box = wp.tid()
    for k in range(end[box] - begin[box]):
        e = end[box] - 1 - k
        kept = slots[box, e, 0]
        second = slots[box, e, 1]
        gone = second
        if second < 0:
            gone = ~second
        for s in range(cotangent.shape[2]):
            through = cotangent[box, gone, s]
            if second >= 0:
                through = _ZERO
                if kept >= 0:
                    through = cotangent[box, kept, s]
            scale = weight[box] * inverse_density[s]
            cotangent[box, gone, s] = through + scale * slopes[box, e, 1]
            if kept >= 0:
                cotangent[box, kept, s] = cotangent[box, kept, s] + scale * slopes[box, e, 0]
