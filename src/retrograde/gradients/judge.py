"""Decides whether the gradient that one life consumed is right."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
import numpy.typing as npt

from retrograde.gradients.execution import Snapshots
from retrograde.gradients.ladder import Case, examine_launches, open_case
from retrograde.gradients.lives import Life
from retrograde.gradients.objective import objective_of
from retrograde.gradients.reference import (
    Probe,
    Source,
    admits,
    along,
    measure,
    probes_for,
    re_execution,
    replay_source,
)
from retrograde.gradients.replay import Replay
from retrograde.gradients.rungs import Direction
from retrograde.trace.operations import Recording

Float = npt.NDArray[np.float64]
_OTHER_STEPS = 0.618


class Opinion(Enum):
    """What is thought of one consumed gradient."""

    RIGHT = "right"
    WRONG = "wrong"
    UNDECIDED = "undecided"


@dataclass(frozen=True, eq=False)
class Judgement:
    """The opinion on one life, and why.

    Attributes:
        case: What was judged.
        opinion: The opinion.
        reason: One sentence.
        ideal_holds: Whether the ideal gradient agrees with every slope that was measured.
        repeatable: Whether the unperturbed objective came out the same each time.
        unobserved: Names of arrays that something unobserved wrote.
    """

    case: Case
    opinion: Opinion
    reason: str
    ideal_holds: bool
    repeatable: bool = True
    unobserved: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Means:
    """What a judgement may use.

    Attributes:
        snapshots: Waiting copies of the program.
        rng: Random directions.
        deadline: When to stop measuring, on `time.monotonic`.
        say: Told what is being done.
        objective: Name of the loss to judge by, None for all.
    """

    snapshots: Snapshots
    rng: np.random.Generator
    deadline: float
    say: Callable[[str], None]
    objective: str | None = None

    @property
    def remaining(self) -> float:
        """Time left [s]."""
        return self.deadline - time.monotonic()


def judge(recording: Recording, life: Life, means: Means) -> Judgement:
    """Judge the gradient that one life consumed."""
    objective = objective_of(recording, life, means.objective)
    case = open_case(recording, life, objective, means.rng)
    if not objective.terms:
        return Judgement(case, Opinion.UNDECIDED, "No loss was found that the backward pass started from.", False)
    if life.consumed is None:
        return Judgement(case, Opinion.UNDECIDED, "The gradient's contents were not seen.", False)
    replay = Replay(case.window, objective.seeds)
    unobserved = tuple(recording.name(ref) for ref in replay.unobserved())
    source = re_execution(life, objective, means.snapshots, limit=max(5.0, means.remaining))
    failure, repeatable = _check_repeats(source, case)
    if source is None or failure is not None:
        if unobserved:
            reason = f"The program could not be run again ({failure}), and a replay would miss unobserved writes."
            return Judgement(case, Opinion.UNDECIDED, reason, False, repeatable, unobserved)
        source = replay_source(life, replay)
    directions = _measure_all(case, source, replay if not unobserved else None, means)
    case = _confirmed(replace(case, directions=directions), source, means)
    if not _ideal_holds(case):
        examined = examine_launches(case, means.rng)
        if not np.array_equal(examined.ideal, case.ideal, equal_nan=True):
            case = _predict_again(examined)
    opinion, reason = _opinion(case, repeatable)
    return Judgement(case, opinion, reason, _ideal_holds(case), repeatable, unobserved)


def _check_repeats(source: Source | None, case: Case) -> tuple[str | None, bool]:
    """Run the program again unperturbed, twice: does it get there, and to one value?"""
    if source is None:
        return "no copy of the process could be made", True
    first, second = source.values([case.contents, case.contents])
    if source.failure is not None:
        return source.failure, True
    if not (np.isfinite(first) and np.isfinite(second)):
        return None, True
    return None, first == second


def _measure_all(case: Case, source: Source, replay: Replay | None, means: Means) -> tuple[Direction, ...]:
    scalar = case.life.ref.scalar
    assert scalar is not None
    probes = probes_for(case.contents, case.life.consumed, case.ideal, means.rng, most=12)
    rungs = (case.life.consumed, case.life.taped, case.ideal)
    directions: list[Direction] = []
    cache: dict[float, float] = {}
    faster: Source | None = None
    for number, probe in enumerate(probes):
        if number and means.remaining < 0.0:
            break
        means.say(f"measuring {case.life.name}, iteration {case.life.iteration}: {probe.label}")
        chosen = source if faster is None else faster
        direction = measure(probe, case.contents, chosen, rungs, scalar, cache if chosen is source else None)
        directions.append(direction)
        if number == 0 and replay is not None and _is_slow(source):
            faster = _trusted(case, probe, direction, replay, rungs, scalar)
    return tuple(directions)


def _confirmed(case: Case, source: Source, means: Means) -> Case:
    """Measure again, at other steps, until one slope that refutes the gradient used has done so twice.

    A refutation that does not repeat was a stroke of rounding: its error bar is widened by what the two
    measurements differ.
    """
    scalar = case.life.ref.scalar
    assert scalar is not None
    rungs = (case.life.consumed, case.life.taped, case.ideal)
    directions = list(case.directions)
    refuted = [n for n, d in enumerate(directions) if admits(d, d.consumed) is False]
    for number in sorted(refuted, key=lambda n: -_misfit(directions[n])):
        first = directions[number]
        means.say(f"confirming {case.life.name}, iteration {case.life.iteration}: {first.label}")
        probe = Probe(first.label, first.vector * _OTHER_STEPS)
        again = measure(probe, case.contents, source, rungs, scalar)
        if admits(again, again.consumed) is False:
            break
        spread = abs(again.reference / _OTHER_STEPS - first.reference)
        directions[number] = replace(first, error=first.error + (spread if np.isfinite(spread) else np.inf))
    return replace(case, directions=tuple(directions))


def _is_slow(source: Source) -> bool:
    return source.evaluations > 0 and source.cost / source.evaluations > 0.05


def _trusted(
    case: Case,
    probe: Probe,
    anchor: Direction,
    replay: Replay,
    rungs: tuple[Float | None, Float | None, Float | None],
    scalar: type[np.floating],
) -> Source | None:
    """A replay, where it agrees with re-execution on the anchor."""
    source = replay_source(case.life, replay)
    again = measure(probe, case.contents, source, rungs, scalar)
    agree = abs(again.reference - anchor.reference) <= anchor.error + again.error
    return source if agree and np.isfinite(again.error) else None


def _predict_again(case: Case) -> Case:
    """Predictions of another ideal for slopes measured already."""
    directions = tuple(replace(d, ideal=along(case.ideal, d.vector)) for d in case.directions)
    return replace(case, directions=directions)


def _ideal_holds(case: Case) -> bool:
    return bool(case.directions) and all(admits(d, d.ideal) is not False for d in case.directions)


def _opinion(case: Case, repeatable: bool) -> tuple[Opinion, str]:
    consumed = case.life.consumed
    assert consumed is not None
    judged = [(d, admits(d, d.consumed)) for d in case.directions]
    refuted = [d for d, verdict in judged if verdict is False]
    if refuted:
        worst = max(refuted, key=lambda d: _misfit(d))
        return Opinion.WRONG, (
            f"Along {worst.label} the objective's slope is {worst.reference:.6g} +- {worst.error:.2g}; "
            f"the gradient used says {worst.consumed:.6g}."
        )
    known = [d for d, verdict in judged if verdict is True]
    if not known:
        why = "" if repeatable else " Two runs at one point differ."
        return Opinion.UNDECIDED, f"The objective's slope could not be measured.{why}"
    sharp = [d for d in known if d.error <= 0.2 * max(abs(d.reference), abs(d.consumed or 0.0))]
    if sharp or _small_everywhere(case, known) or np.array_equal(consumed, case.ideal):
        return Opinion.RIGHT, f"The gradient used agrees with {len(known)} measured slopes."
    return Opinion.UNDECIDED, "Rounding noise hides the objective's slope: its error bar is wider than the slope."


def _misfit(direction: Direction) -> float:
    if direction.consumed is None or not np.isfinite(direction.consumed):
        return float("inf")
    return abs(direction.consumed - direction.reference) / direction.error if direction.error else float("inf")


def _small_everywhere(case: Case, known: list[Direction]) -> bool:
    """Whether gradient and error bars are both negligible beside the objective's own size."""
    return all(d.reference == 0.0 and (d.consumed or 0.0) == 0.0 for d in known)
