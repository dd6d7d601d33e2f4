"""Straight to zero: what difference quotients at several steps say about the derivative at zero, with an error bar.

A polynomial in the step is fitted, each quotient weighted by its step, as white noise in the function demands. Of all
runs of neighbouring steps the one with the smallest error bar wins, provided that every smaller step agrees within its
own noise: a large step that merely looks converged (a chaotic or a stepped function) is found out that way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

SAFETY = 4.0
SHORTEST = 5
"""Steps of the shortest run that is fitted."""
_FEWEST = 4


@dataclass(frozen=True)
class Quotient:
    """A kind of difference quotient.

    Attributes:
        powers: Powers of the step that its remainder begins with.
        precision: Noise of the function over that of the quotient, times the step.
    """

    powers: tuple[int, int]
    precision: float


CENTRAL = Quotient((2, 4), float(np.sqrt(2.0)))
ONE_SIDED = Quotient((1, 2), float(np.sqrt(0.5)))


@dataclass(frozen=True)
class Fit:
    """A derivative by a fit.

    Attributes:
        value: The derivative.
        error: Half-width of its error bar; infinite where no run of steps gives one.
        step: The smallest step of the run.
        noise: Noise level of the function.
    """

    value: float = float("nan")
    error: float = float("inf")
    step: float = 0.0
    noise: float = float("nan")


def best_fit(
    kind: Quotient, quotients: Mapping[float, float], steps: Sequence[float], noise: float, most: float
) -> Fit:
    """The fit with the smallest error bar.

    Args:
        kind: What the quotients are.
        quotients: All quotients by step.
        steps: Those to fit, falling.
        noise: Noise level of the function.
        most: The most that noise can be; a fit with louder leftovers is none.
    """
    best = Fit()
    for begin in range(len(steps)):
        for end in range(begin + SHORTEST, len(steps) + 1):
            found = _fit(kind, steps[begin:end], quotients, noise)
            if found.error < best.error and found.noise <= most and _agrees(found, quotients, noise):
                best = found
    return best


def _fit(kind: Quotient, run: Sequence[float], quotients: Mapping[float, float], noise: float) -> Fit:
    """Fit two powers of the step and a constant.

    The error bar is wide where few quotients are left over to tell the noise by, and holds what the last term
    of the fit changes.
    """
    h = np.array(run)
    weights = kind.precision * h
    y = np.array([quotients[step] for step in run]) * weights
    first, second = (weights * (h / h[0]) ** power for power in kind.powers)
    short, _, _ = _least_squares(np.stack([weights, first], axis=1), y)
    value, spread, left = _least_squares(np.stack([weights, first, second], axis=1), y)
    freedom = len(run) - 3
    level = max(noise, left / np.sqrt(freedom))
    error = SAFETY * (1.0 + 3.0 / freedom) * level * spread + 0.5 * abs(value - short)
    return Fit(value, float(error), run[-1], float(level))


def _least_squares(design: Array, y: Array) -> tuple[float, float, float]:
    """First coefficient, its standard error at unit noise, and the norm of what is left over."""
    solution, *_ = np.linalg.lstsq(design, y, rcond=None)
    spread = float(np.sqrt(np.linalg.inv(design.T @ design)[0, 0]))
    return float(solution[0]), spread, float(np.linalg.norm(design @ solution - y))


def _agrees(found: Fit, quotients: Mapping[float, float], noise: float) -> bool:
    """Whether the quotients at smaller steps could be this value plus noise: all of them, and the smallest alone.

    Their own scatter tells how noisy they are, and so how far their mean may be off.
    """
    smaller = sorted((step for step in quotients if step < found.step), reverse=True)
    for begin in range(max(1, len(smaller) - _FEWEST + 1)):
        h = np.array(smaller[begin:])
        if h.size < 2:
            break
        y = np.array([quotients[step] for step in h])
        weight = float(np.sum(h**2))
        mean = float(np.sum(h**2 * y)) / weight
        scatter = float(np.sqrt(np.sum((h * (y - mean)) ** 2) / max(h.size - 1, 1)))
        reach = SAFETY * (2.0 + 12.0 / (h.size - 1)) * max(noise, scatter) / np.sqrt(weight)
        if abs(mean - found.value) > found.error + reach:
            return False
    return True
