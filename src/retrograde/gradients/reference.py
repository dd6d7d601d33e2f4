"""The reference gradient: differences of the objective that the program itself computes.

Directions are chosen to decide. Where the consumed gradient differs from the ideal one, the difference
itself is the first direction: along it the two predict the most different slopes. Random directions find
dense errors, single elements find sparse ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from retrograde.gradients.contrast import most_disputed
from retrograde.gradients.differences import differentiate, scale_of, sparing, steps_for
from retrograde.gradients.rungs import Direction
from retrograde.gradients.slopes import along
from retrograde.gradients.source import Source

Float = npt.NDArray[np.float64]
_FEW = 6
_ROUGH, _FINE = 0.1, 1e-3
_DISPUTED = 6


@dataclass(frozen=True, eq=False)
class Probe:
    """A direction in the parameter's space, in units of its scale."""

    label: str
    vector: Float
    element: int | None = None


def probes_for(
    contents: Float,
    consumed: Float | None,
    ideal: Float | None,
    rng: np.random.Generator,
    most: int,
    other: Float | None = None,
) -> list[Probe]:
    """Directions worth measuring, the most decisive first.

    Args:
        contents: The parameter's contents.
        consumed, ideal: Gradients to tell apart.
        rng: Random directions.
        most: How many at most.
        other: A gradient of another implementation to be told apart from the one used.
    """
    scale = scale_of(contents)
    probes: list[Probe] = []
    if consumed is not None and ideal is not None:
        gap = np.where(np.isfinite(consumed) & np.isfinite(ideal), consumed - ideal, 0.0)
        if np.abs(gap).max(initial=0.0) > 1e-5 * np.abs(ideal[np.isfinite(ideal)]).max(initial=0.0):
            probes.append(Probe("the difference of the gradients used and ideal", _steepest(gap, scale)))
        elif np.all(np.isfinite(ideal)) and ideal.any() and ideal.size > _FEW:
            probes.append(Probe("the gradient itself", _steepest(ideal, scale)))
    disputed: list[int] = []
    if consumed is not None and other is not None:
        disputed = most_disputed(consumed.reshape(-1), other.reshape(-1), _DISPUTED)
        gap = np.where(np.isfinite(consumed) & np.isfinite(other), consumed - other, 0.0)
        if disputed and gap.any():
            probes.append(Probe("the difference from the other gradient", _steepest(gap, scale)))
    probes.append(Probe("a random direction", rng.standard_normal(contents.shape) * scale))
    size = contents.size
    if size <= _FEW:
        order = list(range(size))
    else:
        order = _interesting(consumed, ideal, rng, size)
        probes.append(Probe("another random direction", rng.standard_normal(contents.shape) * scale))
    for element in dict.fromkeys([*disputed, *order]):
        vector = np.zeros(size)
        vector[element] = scale.reshape(-1)[element]
        probes.append(Probe(f"element {element}", vector.reshape(contents.shape), element))
    return probes[: most + len(disputed)]


def _steepest(gradient: Float, scale: Float) -> Float:
    """The direction along which a gradient predicts most, in units of the scale."""
    weighted = gradient * scale
    typical = float(np.sqrt(np.mean(np.square(weighted))))
    return np.clip(weighted / typical, -3.0, 3.0) * scale


def _interesting(consumed: Float | None, ideal: Float | None, rng: np.random.Generator, size: int) -> list[int]:
    """The non-finite, the most disputed, the largest, a zero, and a random element."""
    order: list[int] = []
    if consumed is not None:
        flat = consumed.reshape(-1)
        order += list(np.flatnonzero(~np.isfinite(flat))[:2])
        finite = np.where(np.isfinite(flat), np.abs(flat), -1.0)
        if ideal is not None:
            gap = np.abs(np.nan_to_num(flat - ideal.reshape(-1), nan=0.0, posinf=0.0, neginf=0.0))
            if gap.max() > 0.0:
                order.append(int(gap.argmax()))
        order.append(int(finite.argmax()))
        zeros = np.flatnonzero(flat == 0.0)
        order += [int(z) for z in rng.permutation(zeros)[:1]]
    order.append(int(rng.integers(size)))
    return [int(i) for i in dict.fromkeys(order)]


def measure(
    probe: Probe,
    contents: Float,
    source: Source,
    rungs: tuple[Float | None, Float | None, Float | None],
    scalar: type[np.floating],
    thorough: bool = False,
    wanted: float = _FINE,
    working: type[np.floating] | None = None,
) -> Direction:
    """The derivative along one direction, beside what each rung says it should be.

    Args:
        probe: The direction.
        contents: The parameter's contents.
        source: Where values of the objective come from.
        rungs: Consumed, taped and ideal gradient.
        scalar: The parameter's floating type.
        thorough: Whether to try as many steps as are needed even where a value takes long.
        wanted: Relative error that is good enough.
        working: The floating type in which the objective is computed, where it is another one.
    """

    def function(steps: Sequence[float]) -> list[float]:
        return source.values_once([contents + h * probe.vector for h in steps])

    floor = _argument_rounding(contents, probe.vector, rungs, working or scalar)
    steps = steps_for(working or scalar)
    hasty = source.is_slow and not thorough
    if hasty:
        steps = sparing(steps)
    derivative = differentiate(function, steps, wanted=_ROUGH if hasty else wanted, floor=floor)
    consumed, taped, ideal = (None if r is None else along(r, probe.vector) for r in rungs)
    return Direction(
        label=probe.label,
        consumed=consumed,
        taped=taped,
        ideal=ideal,
        reference=derivative.value,
        error=derivative.error + _rounding(rungs[0], probe.vector, scalar),
        left=derivative.left,
        right=derivative.right,
        how=source.how,
        step=derivative.step,
        order=derivative.order,
        vector=probe.vector,
        value=derivative.base if np.isfinite(derivative.base) else None,
        curvature=derivative.curvature,
        jumps=derivative.jumps,
        doubt=derivative.doubt,
    )


def _argument_rounding(
    contents: Float, vector: Float, rungs: tuple[Float | None, ...], scalar: type[np.floating]
) -> float:
    """Noise in the objective because a perturbed parameter is rounded to its own type."""
    sizes = [np.abs(np.nan_to_num(r, nan=0.0, posinf=0.0, neginf=0.0)) for r in rungs if r is not None]
    if not sizes:
        return 0.0
    slope = np.maximum.reduce(sizes)
    moved = np.where(vector == 0.0, 0.0, slope * np.abs(contents))
    return 0.3 * float(np.finfo(scalar).eps) * float(np.linalg.norm(np.nan_to_num(moved)))


def _rounding(gradient: Float | None, vector: Float, scalar: type[np.floating]) -> float:
    """What rounding in the adjoint itself may add to a predicted slope."""
    if gradient is None:
        return 0.0
    with np.errstate(invalid="ignore"):
        terms = np.where(vector == 0.0, 0.0, np.abs(gradient * vector))
    size = float(np.sum(terms[np.isfinite(terms)]))
    return 64.0 * float(np.finfo(scalar).eps) * size
