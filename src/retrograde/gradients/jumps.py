"""What jumps when its argument moves, such as what a ray hits: where it does, differences show no derivative.

Slopes of a smooth function settle as the step shrinks, and with noise they scatter as the noise at tiny steps lets
them. A jump within reach of a step adds its height over the step, however small: slopes do not settle, though there is
no noise to excuse it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

_BEYOND_NOISE = 10.0
_SETTLES = 0.5
_BEND = 0.1
_ROUNDING = 64.0
_FEWEST = 4


def is_jumpy(slopes: Mapping[float, float], noise: float) -> bool:
    """Whether central slopes of a function do not settle as the step shrinks, by more than noise lets them.

    Args:
        slopes: Slopes by step.
        noise: Noise level of the function at tiny steps.
    """
    steps = sorted(slopes, reverse=True)
    changes = [abs(slopes[a] - slopes[b]) for a, b in pairwise(steps)]
    if len(changes) < _FEWEST or not np.isfinite(noise):
        return False
    half = len(changes) // 2
    large, small = changes[:-half], changes[-half:]
    beyond = all(c > _BEYOND_NOISE * noise / h for c, h in zip(small, steps[-half:], strict=True))
    return beyond and float(np.median(small)) > _SETTLES * float(np.median(large))


def smooth_outputs(outputs: Mapping[float, Array], resolution: float) -> npt.NDArray[np.bool_]:
    """Which of many outputs change smoothly along a line.

    Args:
        outputs: All outputs by signed step; each step is there with both signs.
        resolution: Relative spacing of numbers of their type.
    """
    steps = sorted((h for h in outputs if h > 0.0), reverse=True)
    size = np.maximum.reduce([np.abs(o) for o in outputs.values()])
    smooth = np.isfinite(size)
    with np.errstate(invalid="ignore", over="ignore"):
        slopes = [(outputs[h] - outputs[-h]) / (2.0 * h) for h in steps]
        for (wide, narrow), h in zip(pairwise(slopes), steps[1:], strict=True):
            reach = _BEND * np.maximum(np.abs(wide), np.abs(narrow)) + _ROUNDING * resolution * size / h
            smooth &= np.abs(wide - narrow) <= reach
    return smooth


def fine(steps: Sequence[float], count: int) -> tuple[float, ...]:
    """Steps that go on falling where some end, by the same factor: few jumps lie so near."""
    ratio = steps[-1] / steps[-2]
    return tuple(steps[-1] * ratio**k for k in range(1, count + 1))
