"""Random functions of one variable with known derivatives at zero, evaluated in a given precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

Values = Callable[[Sequence[float]], list[float]]


@dataclass(frozen=True)
class Sample:
    """A function with its truth.

    Attributes:
        values: The function, as `differentiate` takes it.
        low, high: Its left and right derivative at zero, in order of size.
        floor: Noise that whoever differentiates it knows of.
    """

    values: Values
    low: float
    high: float
    floor: float = 0.0


def _in(
    kind: type[np.floating], function: Callable[[float], float], truth: float, other: float | None = None
) -> Sample:
    low, high = sorted((truth, truth if other is None else other))
    return Sample(lambda steps: [float(kind(function(h))) for h in steps], low, high)


def smooth(rng: np.random.Generator, kind: type[np.floating]) -> Sample:
    """Sums of a sine, an exponential and a polynomial over an offset, each value rounded once."""
    a, b, c, d = rng.normal(size=4) * 10.0 ** rng.uniform(-2, 2, 4)
    w, g, offset = rng.uniform(0.2, 3.0), rng.normal(), rng.normal() * 10.0 ** rng.uniform(-2, 2)

    def function(h: float) -> float:
        return offset + a * np.sin(w * h + 0.3) + b * np.exp(g * h) + c * h + d * h**3

    return _in(kind, function, a * w * np.cos(0.3) + b * g + c)


def accumulated(rng: np.random.Generator, kind: type[np.floating]) -> Sample:
    """A sum of many squares accumulated in the precision itself, as a loss kernel does; arguments are rounded too."""
    x = rng.normal(size=200).astype(kind)
    v = rng.normal(size=200)
    scale = kind(10.0 ** rng.uniform(-2, 2))

    def function(h: float) -> float:
        moved = (x.astype(np.float64) + h * v).astype(kind)
        return float(np.add.accumulate(scale * moved * moved, dtype=kind)[-1])

    slope = 2.0 * float(scale) * x.astype(np.float64)
    floor = 0.3 * float(np.finfo(kind).eps) * float(np.linalg.norm(slope * x))
    truth = float(slope @ v)
    return Sample(lambda steps: [function(h) for h in steps], truth, truth, floor)


def noisy(rng: np.random.Generator, kind: type[np.floating]) -> Sample:
    """A smooth function under deterministic noise far above rounding."""
    inner = smooth(rng, np.float64)
    base = inner.values([0.0])[0]
    level = abs(base) * 10.0 ** rng.uniform(-6, -3) + 1e-6
    seed = int(rng.integers(1 << 31))

    def function(h: float) -> float:
        draw = np.random.default_rng([seed, *np.array([h]).view(np.uint32).tolist()])
        return inner.values([h])[0] + level * float(draw.standard_normal())

    return _in(kind, function, inner.low)


def kinked(rng: np.random.Generator, kind: type[np.floating]) -> Sample:
    """A smooth function and a bend at zero."""
    a, b, c, offset = rng.normal(size=4)
    bend = rng.normal() * 10.0 ** rng.uniform(-1, 1)

    def function(h: float) -> float:
        return offset + a * np.sin(h) + b * h * h + bend * abs(h) + c * h

    return _in(kind, function, a + c - bend, a + c + bend)


def bent_nearby(rng: np.random.Generator, kind: type[np.floating]) -> Sample:
    """A bend close to zero, but not at it: differences over it do not see the derivative."""
    a, c, offset = rng.normal(size=3)
    bend, at = rng.normal(), float(rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-2.0, -0.3))

    def function(h: float) -> float:
        return offset + a * np.sin(h) + c * h + bend * max(h - at, 0.0)

    return _in(kind, function, a + c + (bend if at < 0.0 else 0.0))


def stepped(rng: np.random.Generator, kind: type[np.floating]) -> Sample:
    """A function that rounds inside: flat between its steps, so its derivative at zero is the smooth part's."""
    slope, coarse = rng.normal(), 10.0 ** rng.uniform(-1.5, -0.5)
    at = rng.uniform(0.2, 0.8) * coarse
    a = rng.normal() * 10.0 ** rng.uniform(-1, 1)

    def function(h: float) -> float:
        return 1.0 + a * np.sin(h) + slope * np.floor((h + at) / coarse) * coarse

    return _in(kind, function, a)


def between_jumps(rng: np.random.Generator, kind: type[np.floating]) -> Sample:
    """Jumps on both sides of zero, larger ones further out: a slope and a bend to all differences over them."""
    a, jump, offset = rng.normal() * float(rng.choice([0.0, 1.0])), rng.normal(), rng.normal()
    near = 2.0 ** -rng.integers(3, 8) * rng.uniform(0.55, 0.95)
    far = near * rng.uniform(3.0, 6.0)
    bend = rng.uniform(0.05, 0.3)

    def function(h: float) -> float:
        right = (1.0 + bend) * (h > near) + (1.0 + 4.0 * bend) * (h > far)
        left = (h < -near) + (h < -far)
        return offset + a * np.sin(h) + jump * (right - left)

    return _in(kind, function, a)


def chaotic(rng: np.random.Generator, kind: type[np.floating]) -> Sample:
    """A logistic map iterated until its sensitivity is between ten and ten thousand."""
    x0, turns = rng.uniform(0.2, 0.8), int(rng.integers(4, 14))

    def iterate(x: float) -> float:
        for _ in range(turns):
            x = 3.9 * x * (1.0 - x)
        return x

    slope, x = 1.0, x0
    for _ in range(turns):
        slope, x = slope * 3.9 * (1.0 - 2.0 * x), 3.9 * x * (1.0 - x)
    return _in(kind, lambda h: iterate(x0 + 0.1 * h), 0.1 * slope)


def flat(rng: np.random.Generator, kind: type[np.floating]) -> Sample:
    """A constant."""
    value = rng.normal() * 10.0 ** rng.uniform(-3, 3)
    return _in(kind, lambda h: value, 0.0)


def cancelling(rng: np.random.Generator, kind: type[np.floating]) -> Sample:
    """A small change of a large number: rounding hides all but the largest steps."""
    offset = 10.0 ** rng.uniform(3, 5)
    a, c = rng.normal(size=2)
    return _in(kind, lambda h: offset + a * np.sin(h) + c * h, a + c)


FAMILIES = (smooth, accumulated, noisy, kinked, bent_nearby, stepped, between_jumps, chaotic, flat, cancelling)
