"""A function of another module, with a constant of its own that has a name used elsewhere too."""

import warp as wp

SCALE = 7.0


@wp.func
def shared(x: float):
    return x * SCALE
