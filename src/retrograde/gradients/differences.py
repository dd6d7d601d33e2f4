"""Directional derivatives of a noisy function, with an honest error bar.

Central differences at steps that fall by a constant factor are fitted by c + a h^2 + b h^4, one-sided differences by
c + a h + b h^2 on either side. Where the two sides differ by more than their error bars, there is a kink, and the
derivative lies between them. The noise level is the larger of what the fit leaves over and what second differences show
at steps so small that the function cannot have changed (the idea of J. More and S. Wild, Estimating computational
noise, SIAM J. Sci. Comput. 33, 2011, doi:10.1137/100786125).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from retrograde.gradients.fits import CENTRAL, ONE_SIDED, SHORTEST, Fit, best_fit
from retrograde.gradients.jumps import is_jumpy

Array = npt.NDArray[np.float64]
Evaluate = Callable[[Sequence[float]], Sequence[float]]

_WHITE = 30.0
_TELLING = 3


@dataclass(frozen=True)
class Derivative:
    """A directional derivative.

    Attributes:
        value: The derivative.
        error: Half-width of its error bar; infinite where it could not be had.
        step: The smallest step of the winning run.
        noise: Noise level of the function.
        order: Observed order of the central differences' remainder, None where noise hides it.
        left, right: One-sided derivatives at a kink, None elsewhere.
        evaluations: Function values used.
        base: The function's value at zero.
        curvature: Its second derivative at zero, from the widest step tried; None where it could not be had.
        jumps: Whether the function jumps within reach of every step, so that differences show no derivative.
        doubt: How far from the derivative that of one side may be, where there is a kink too slight to be seen.
    """

    value: float
    error: float
    step: float
    noise: float
    order: float | None = None
    left: float | None = None
    right: float | None = None
    evaluations: int = 0
    base: float = float("nan")
    curvature: float | None = None
    jumps: bool = False
    doubt: float = float("inf")

    @property
    def kink(self) -> bool:
        """Whether the one-sided derivatives differ."""
        return self.left is not None

    def admits(self, predicted: float, slack: float = 0.0) -> bool:
        """Whether a predicted derivative lies within the error bar, or between the sides of a kink."""
        if not np.isfinite(predicted):
            return False
        reach = self.error + slack
        if self.left is not None and self.right is not None:
            low, high = sorted((self.left, self.right))
            return bool(low - reach <= predicted <= high + reach)
        return bool(abs(predicted - self.value) <= reach)


@dataclass(frozen=True)
class Steps:
    """Steps to try, in units of the parameter's scale.

    Attributes:
        first: The steps tried at first, falling.
        more: Steps tried as well where the first leave the derivative poorly known.
        tiny: Steps at which only noise remains.
        resolution: Relative spacing of numbers of the function's type.
    """

    first: tuple[float, ...]
    more: tuple[float, ...]
    tiny: tuple[float, ...]
    resolution: float


def steps_for(scalar: type[np.floating]) -> Steps:
    """Steps suited to a floating type."""
    resolution = float(np.finfo(scalar).eps)
    if resolution < 1e-12:
        return Steps(
            first=tuple(4.0**-k for k in range(3, 10)),
            more=tuple(4.0**-k for k in (1, 2, *range(10, 22))),
            tiny=tuple(2.0**-k for k in (46, 45, 44)),
            resolution=resolution,
        )
    return Steps(
        first=tuple(2.0**-k for k in range(2, 9)),
        more=tuple(2.0**-k for k in (1, *range(9, 17))),
        tiny=tuple(2.0**-k for k in (18, 17, 16)),
        resolution=resolution,
    )


def scale_of(contents: Array) -> Array:
    """Step scale of each element: its own size, but no less than a tenth of the typical size."""
    finite = np.where(np.isfinite(contents), np.abs(contents), 0.0)
    typical = float(np.sqrt(np.mean(np.square(finite)))) if finite.size else 0.0
    return np.maximum(finite, 0.1 * typical if typical > 0.0 else 1.0)


def sparing(steps: Steps) -> Steps:
    """Fewer of the same, for functions that take long."""
    return replace(steps, first=steps.first[:SHORTEST], more=(), tiny=steps.tiny[:1])


def differentiate(function: Evaluate, steps: Steps, wanted: float = 1e-3, floor: float = 0.0) -> Derivative:
    """Derivative at zero of a function of one variable.

    Args:
        function: Takes several arguments at once and returns the values, so that they may run side by side.
        steps: What to try.
        wanted: Relative error at which no further steps are tried.
        floor: Noise that is known to be there, such as the rounding of perturbed arguments.
    """
    table: dict[float, float] = {}

    def fill(chosen: Sequence[float]) -> None:
        arguments = [s for h in chosen for s in (h, -h) if s not in table]
        table.update(zip(arguments, function(arguments), strict=True))

    table[0.0] = function([0.0])[0]
    fill((*steps.first, *steps.tiny))
    noise = float(np.hypot(_noise(table, steps), floor))
    loudest = _loudest(table, steps, noise)
    found = _best(table, steps.first, noise, loudest)
    sides = [abs(slope) for slope in (found.value, found.left, found.right) if slope is not None]
    if not found.error <= wanted * max(sides):
        fill(steps.more)
        found = _best(table, sorted((*steps.first, *steps.more), reverse=True), noise, loudest)
    return replace(found, base=table[0.0], curvature=_curvature(table, noise))


def _curvature(table: Mapping[float, float], noise: float) -> float | None:
    """The second difference at the widest step, zero where noise hides it."""
    step = max((h for h in table if -h in table and np.isfinite(table[h] + table[-h])), default=0.0)
    if step <= 0.0 or not np.isfinite(table[0.0]):
        return None
    second = table[step] - 2.0 * table[0.0] + table[-step]
    return 0.0 if abs(second) <= 4.0 * noise else float(second / step**2)


def _noise(table: Mapping[float, float], steps: Steps) -> float:
    """Noise level: the median second difference at tiny steps, but no less than the spacing of numbers."""
    base = table[0.0]
    seconds = np.array([table[h] - 2.0 * base + table[-h] for h in steps.tiny])
    level = 1.5 * float(np.median(np.abs(seconds))) / np.sqrt(6.0) if np.all(np.isfinite(seconds)) else np.inf
    return max(float(level), 0.7 * steps.resolution * abs(base))


def _loudest(table: Mapping[float, float], steps: Steps, noise: float) -> float:
    """The most that noise can be by what is seen at tiny steps; infinite where they are too few to tell.

    What is louder at larger steps is no noise, unless a fit bends too little: the function jumps there.
    """
    if len(steps.tiny) < _TELLING or not np.isfinite(noise):
        return float("inf")
    slopes = [(table[h] - table[-h]) / (2.0 * h) for h in steps.tiny]
    scatter = [
        abs(a - b) / np.sqrt(0.5 / g**2 + 0.5 / h**2)
        for (a, b), (g, h) in zip(pairwise(slopes), pairwise(steps.tiny), strict=True)
    ]
    size = max(abs(table[s * h]) for h in steps.tiny for s in (1.0, -1.0))
    return max(noise, *scatter, steps.resolution * size)


def _best(table: Mapping[float, float], steps: Sequence[float], noise: float, loudest: float) -> Derivative:
    """The best fit, if there is one whose noise is at most the loudest that tiny steps leave room for."""
    base = table[0.0]
    unknown = Derivative(float("nan"), float("inf"), 0.0, noise, evaluations=len(table))
    if not np.isfinite(base):
        return unknown
    slopes = {h: (table[h] - table[-h]) / (2.0 * h) for h in table if h > 0.0 and np.isfinite(table[h] - table[-h])}
    usable = [h for h in steps if h in slopes]
    central = best_fit(CENTRAL, slopes, usable, noise, _WHITE * loudest)
    sides = [
        best_fit(ONE_SIDED, {h: (table[s * h] - base) / (s * h) for h in slopes}, usable, noise, _WHITE * loudest)
        for s in (-1.0, 1.0)
    ]
    kink = _kink(*sides, evaluations=len(table))
    if kink is not None:
        return kink
    unsettled = np.isfinite(loudest) and not np.isfinite(central.error) and len(usable) >= SHORTEST
    if unsettled or is_jumpy({h: slopes[h] for h in usable}, loudest if np.isfinite(loudest) else noise):
        return replace(unknown, jumps=True)
    if not np.isfinite(central.error):
        return unknown
    doubt = max(abs(side.value - central.value) + side.error for side in sides)
    found = Derivative(
        central.value, central.error, central.step, central.noise, evaluations=len(table), doubt=_or_infinite(doubt)
    )
    return _with_order(found, slopes, usable)


def _kink(left: Fit, right: Fit, evaluations: int) -> Derivative | None:
    """The derivative at a kink; None where the two sides may have the same."""
    if not abs(right.value - left.value) > left.error + right.error:
        return None
    return Derivative(
        value=0.5 * (left.value + right.value),
        error=max(left.error, right.error),
        step=min(left.step, right.step),
        noise=max(left.noise, right.noise),
        left=left.value,
        right=right.value,
        evaluations=evaluations,
    )


def _or_infinite(value: float) -> float:
    return value if np.isfinite(value) else float("inf")


def _with_order(found: Derivative, slopes: Mapping[float, float], steps: Sequence[float]) -> Derivative:
    remainders = [
        (h, abs(slopes[h] - found.value)) for h in steps if abs(slopes[h] - found.value) > 4.0 * found.noise / h
    ]
    if len(remainders) < 2:
        return found
    (large, first), (small, second) = remainders[0], remainders[1]
    if second <= 0.0 or first <= 0.0:
        return found
    return replace(found, order=float(np.log(first / second) / np.log(large / small)))
