"""The reference gradient: differences of the objective that the program itself computes.

Directions are chosen to decide. Where the consumed gradient differs from the ideal one, the difference
itself is the first direction: along it the two predict the most different slopes. Random directions find
dense errors, single elements find sparse ones.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from retrograde.gradients.aside import side_by_side
from retrograde.gradients.contrast import most_disputed
from retrograde.gradients.differences import differentiate, scale_of, sparing, steps_for
from retrograde.gradients.execution import Snapshots
from retrograde.gradients.links import Evaluate
from retrograde.gradients.lives import Life
from retrograde.gradients.objective import Objective
from retrograde.gradients.replay import Replay
from retrograde.gradients.rungs import Direction, How
from retrograde.gradients.slopes import along
from retrograde.trace.plan import Injection, NumberInjection, Outcome, Plan

Float = npt.NDArray[np.float64]
_FEW = 6
_ROUGH, _FINE = 0.1, 1e-3
_SLOW = 0.02
_WORKERS = 2
_DISPUTED = 6


@dataclass(eq=False)
class Source:
    """Values of the objective with other contents of one parameter.

    Attributes:
        how: How they are had.
        values: Takes contents of the parameter, several at once.
        failure: Why a value was not had, where one was not.
        cost: Time that all values took, those had side by side added up [s].
        evaluations: Number of values.
    """

    how: How
    values: Callable[[Sequence[Float]], list[float]]
    failure: str | None = None
    cost: float = 0.0
    evaluations: int = field(default=0)

    @property
    def is_slow(self) -> bool:
        """Whether a value takes long enough to be sparing with them."""
        return self.evaluations > 0 and self.cost / self.evaluations > _SLOW


def rerun(life: Life, objective: Objective, snapshots: Snapshots, limit: float) -> Evaluate | None:
    """How to run the user's own program again with other contents of a parameter; None where that cannot be done.

    Args:
        life: The parameter, and where it is first read.
        objective: What to read.
        snapshots: Waiting copies of the program.
        limit: Time allowed for each run [s].
    """
    run = snapshots.runner(life.first.ordinal)
    if run is None:
        return None
    scalar = np.dtype(life.ref.scalar if life.ref.scalar is not None else np.float32)

    def evaluate(contents: Sequence[Float], watched: frozenset[int] = frozenset()) -> list[Outcome]:
        plans = [_plan(life, objective, c.astype(scalar), watched) for c in contents]
        return run(plans, _WORKERS, limit)

    return evaluate


def _plan(life: Life, objective: Objective, contents: npt.NDArray[np.floating], watched: frozenset[int]) -> Plan:
    """A run with other contents of the parameter: of the array when it is first read, or of the numbers made of it."""
    if not life.numbers:
        injection = Injection(life.first.ordinal, life.slot, life.offset, life.ref.full_strides, contents)
        return Plan((injection,), objective.terms, watched)
    flat = contents.reshape(-1)
    by_launch: dict[int, dict[int, float]] = {}
    for use in life.numbers:
        by_launch.setdefault(use.ordinal, {})[use.index] = float(flat[use.element])
    numbers = tuple(NumberInjection(ordinal, values) for ordinal, values in by_launch.items())
    return Plan((), objective.terms, watched, numbers)


def re_execution(life: Life, objective: Objective, snapshots: Snapshots, limit: float) -> Source | None:
    """Values by running the user's own program again; None where that cannot be done."""
    evaluate = rerun(life, objective, snapshots, limit)
    if evaluate is None:
        return None

    def values(contents: Sequence[Float]) -> list[float]:
        started = time.perf_counter()
        outcomes = evaluate(contents, frozenset())
        source.cost += time.perf_counter() - started
        source.evaluations += len(outcomes)
        for outcome in outcomes:
            source.failure = source.failure or outcome.failure
        return [o.total for o in outcomes]

    source = Source(How.RE_EXECUTION, values)
    return source


def replay_source(life: Life, replay: Replay) -> Source:
    """Values by running the recorded operations again."""

    def timed(contents: Float) -> tuple[float, float]:
        started = time.perf_counter()
        value = replay.value(life.ref, life.first.index, contents)
        return value, time.perf_counter() - started

    def values(contents: Sequence[Float]) -> list[float]:
        each = source.cost / source.evaluations if source.evaluations else 0.0
        found = side_by_side(timed, contents, each)
        source.cost += sum(seconds for _, seconds in found)
        source.evaluations += len(contents)
        return [value for value, _ in found]

    source = Source(How.REPLAY, values)
    return source


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
    cache: dict[float, float] | None = None,
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
        cache: Keeps the value at the contents themselves from one direction to the next.
        thorough: Whether to try as many steps as are needed even where a value takes long.
        wanted: Relative error that is good enough.
        working: The floating type in which the objective is computed, where it is another one.
    """

    def function(steps: Sequence[float]) -> list[float]:
        known = {} if cache is None else cache
        missing = [h for h in steps if not (h == 0.0 and 0.0 in known)]
        found = dict(zip(missing, source.values([contents + h * probe.vector for h in missing]), strict=True))
        if 0.0 in found:
            known[0.0] = found[0.0]
        return [found.get(h, known.get(h, float("nan"))) for h in steps]

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
