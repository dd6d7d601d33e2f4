"""Independent references for tests of processes: literal formulae, and differences with error bars."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.grids import SizeGrid

Floats = NDArray[np.float64]


def fixed_pivot_tendency(number: Floats, kernel: Floats, grid: SizeGrid) -> Floats:
    """Kumar and Ramkrishna's equations, pair by pair, for one box; the last element is escaped volume."""
    x = np.append(grid.volumes, grid.volumes[-1] ** 2 / grid.volumes[-2])
    bins = grid.bins
    result = np.zeros(bins + 1)
    for j in range(bins):
        for k in range(j + 1):
            rate = (0.5 if j == k else 1.0) * kernel[j, k] * number[j] * number[k]
            result[j] -= rate
            result[k] -= rate
            v = x[j] + x[k]
            i = int(np.searchsorted(x * (1 - 1e-12), v, side="right")) - 1
            if i >= bins:
                result[bins] += rate * v
                continue
            share = (x[i + 1] - v) / (x[i + 1] - x[i])
            result[i] += rate * share
            if i + 1 == bins:
                result[bins] += rate * (1 - share) * x[bins]
            else:
                result[i + 1] += rate * (1 - share)
    return result


def cell_average_tendency(number: Floats, kernel: Floats, grid: SizeGrid) -> Floats:
    """Kumar et al.'s equations with means and Heaviside functions, for one box."""
    x = np.append(grid.volumes, grid.volumes[-1] ** 2 / grid.volumes[-2])
    bins = grid.bins
    births, volumes, result = np.zeros(bins), np.zeros(bins), np.zeros(bins + 1)
    for j in range(bins):
        for k in range(j + 1):
            rate = (0.5 if j == k else 1.0) * kernel[j, k] * number[j] * number[k]
            result[j] -= rate
            result[k] -= rate
            v = x[j] + x[k]
            i = int(np.searchsorted(grid.edges, v, side="right")) - 1
            if i >= bins:
                result[bins] += rate * v
            else:
                births[i] += rate
                volumes[i] += rate * v
    for i in range(bins):
        if births[i] == 0.0:
            continue
        mean = volumes[i] / births[i]
        other = i + 1 if mean >= x[i] else i - 1
        share = (mean - x[other]) / (x[i] - x[other])
        result[i] += births[i] * share
        result[other] += births[i] * (1 - share) * (x[bins] if other == bins else 1.0)
    return result


@dataclass(frozen=True)
class Difference:
    """Derivatives by differences, and how far from the truth each may be."""

    value: Floats
    bar: Floats


def differences(loss: Callable[[Floats], tuple[Floats, Floats]], number: Floats, scale: float = 0.2) -> Difference:
    """Derivatives of a loss with respect to every element of `number`, shape [bins].

    Central differences at three steps, extrapolated to zero twice. The bar adds the last correction
    of the extrapolation and the rounding of the loss.

    Args:
        loss: Takes numbers [boxes, bins], gives for every box the loss and the sum of the absolute
            values of its terms, which rounding goes by.
        number: Where to differentiate.
        scale: Largest step over the number itself.
    """
    bins = len(number)
    steps = scale * np.where(number > 0.0, number, number.max())
    boxes = np.stack([number + sign * steps / 2**level * row for level in range(3) for sign in (1, -1)
                      for row in np.eye(bins)])  # fmt: skip
    value, size = (a.reshape(3, 2, bins) for a in loss(boxes))
    central = [(value[i, 0] - value[i, 1]) / (2.0 * steps / 2**i) for i in range(3)]
    once = [(4.0 * central[i + 1] - central[i]) / 3.0 for i in range(2)]
    twice = (16.0 * once[1] - once[0]) / 15.0
    rounding = 16.0 * np.finfo(np.float64).eps * size.max(axis=(0, 1)) / (steps / 4)
    return Difference(value=twice, bar=np.abs(twice - once[1]) + rounding)


def assert_agrees(gradient: Floats, difference: Difference, tolerance: float = 1e-7) -> None:
    """Every element within the tolerance, or within the difference's own bar where that is wider."""
    error = np.abs(gradient - difference.value)
    allowed = np.maximum(tolerance * np.abs(difference.value), difference.bar)
    assert np.all(np.isfinite(gradient))
    assert np.all(error <= allowed), f"{np.max(error / allowed)} times what is allowed"
    sharp = difference.bar <= tolerance * np.abs(difference.value)
    assert sharp.mean() >= 0.5, f"only {sharp.sum()} of {sharp.size} differences are sharp enough to judge"
