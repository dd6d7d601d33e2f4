"""A first guess of a start: what was seen, scaled up until its simulation has as many particles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.simulation import Simulation
from retrograde.aerosol.states import SectionalState

Floats = NDArray[np.float64]

_TURNS = 6
_LARGEST_FACTOR = 5.0


def guess_start(simulation: Simulation, target: Floats, inside: NDArray[np.bool_]) -> Floats:
    """Initial numbers whose simulation has as many particles as a target [m^-3], shape [bins].

    All sizes are scaled alike. Sizes of which little is left, and that are mostly noise, would otherwise be scaled up
    a thousandfold, and consume the rest.

    Args:
        simulation: From the start to the time of the target; it chooses its substeps.
        target: Numbers at the end [m^-3], shape [bins], positive.
        inside: Bins that hold particles at the start, shape [bins].
    """
    guess, wanted = np.where(inside, target, 0.0), float(target[inside].sum())
    for _ in range(_TURNS):
        seen = float(simulation.run(SectionalState.from_numpy(guess, simulation.grid)).final.numpy().sum())
        guess = guess * min(wanted / seen, _LARGEST_FACTOR)
    return guess
