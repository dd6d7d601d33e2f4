"""Decides whether the gradient that one life consumed is right."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from retrograde.gradients.choice import Choice, begin_anchor, choose
from retrograde.gradients.clock import OutOfTimeError
from retrograde.gradients.differences import scale_of
from retrograde.gradients.discontinuous import BEYOND_SLOPES, between_jumps
from retrograde.gradients.ladder import Case, connect, disconnected, examine_launches, frame, opened
from retrograde.gradients.life import Life
from retrograde.gradients.means import Means
from retrograde.gradients.objective import objective_of
from retrograde.gradients.opinion import Opinion
from retrograde.gradients.reference import Probe, measure, probes_for
from retrograde.gradients.rungs import Direction, How
from retrograde.gradients.slopes import admits, along, moves_several
from retrograde.gradients.source import Source, rerun
from retrograde.gradients.twins.compile import TwinError
from retrograde.gradients.wide import WideReplay
from retrograde.trace.operations import Recording

Float = npt.NDArray[np.float64]
_OTHER_STEPS = 0.618
_ENOUGH = 2
_KINKS = 2
_SHARPENED = 4
_CLEAR = 20.0
_SINGLE = 1e-10
_AS_WELL = 1e-2
_OF_LINKS = 1e-3
_FINE = 1e-3
_SAMPLE = 3
_MEASURED = 6
_SHARP = 0.01
THE_IDEAL = "the ideal gradient"
"""What is cut short where there was no time for a single sweep."""
_NO_TIME = "The time was too short to measure the objective's slope. --budget SECONDS gives more."


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
        caveat: What the measurement rests on, where the program itself could not be run again.
        cut: What was cut short for want of time, in words.
    """

    case: Case
    opinion: Opinion
    reason: str
    ideal_holds: bool
    repeatable: bool = True
    unobserved: tuple[str, ...] = ()
    caveat: str | None = None
    cut: tuple[str, ...] = ()


def judge(recording: Recording, life: Life, means: Means) -> Judgement:
    """Judge the gradient that one life consumed."""
    case = frame(recording, life, objective_of(recording, life, means.objective)).timed(means.clock)
    seen = bool(case.objective.terms) and life.consumed is not None
    hurried = means.remaining <= 0.0 and life.name in means.trusted and not life.in_torch
    anchor = begin_anchor(case, means) if seen and not hurried else None
    case = opened(case, means.rng)
    if not case.objective.terms:
        return Judgement(case, Opinion.UNDECIDED, "No loss was found that the backward pass started from.", False)
    if life.consumed is None:
        return Judgement(case, Opinion.UNDECIDED, "The gradient's contents were not seen.", False)
    if hurried and _equals_ideal(case):
        return Judgement(case, Opinion.RIGHT, "The gradient used is the ideal one, measured earlier.", True)
    cut: list[str] = [THE_IDEAL] if means.clock.left <= 0.0 and np.all(np.isnan(case.ideal)) else []
    within = means.clock.within
    anchor = begin_anchor(case, means) if hurried else anchor
    chosen = within(lambda: choose(case, anchor), Choice(None, _NO_TIME), "running the program again", cut)
    if chosen.source is None:
        return Judgement(
            case, Opinion.UNDECIDED, chosen.reason, False, chosen.repeatable, chosen.unobserved, cut=tuple(cut)
        )
    case = _measured(case, chosen, means, cut)
    why_not = ""
    if means.clock.left > 0.0 and _is_blurred(case):
        translating = "measuring in double precision"
        case, why_not = within(lambda: _in_double(case, chosen, means), (case, ""), translating, cut)
    if case.links is not None and not _nearly_holds(case):
        case = within(lambda: _connected_again(case, means), case, "following values through the host", cut)
    jumping = _jumps(case)
    if jumping:
        case = _without_slopes(case)
    if jumping or not _nearly_holds(case):
        examined = within(lambda: examine_launches(case, means.rng), case, "the test of launches", cut)
        if not np.array_equal(examined.ideal, case.ideal, equal_nan=True):
            case = _predict_again(examined)
    if not _nearly_holds(case) and any(o.index in recording.callbacks for o in case.window.operations):
        case = within(lambda: _doubting(case, means), case, "following what recorded functions stand for", cut)
    opinion, reason = _opinion(case, chosen.repeatable, hurried=bool(cut))
    caveat = chosen.caveat
    if jumping:
        opinion, reason = between_jumps(case, certified=not cut and _is_certified(case, chosen))
        caveat = BEYOND_SLOPES
    if why_not:
        caveat = f"rounding hides the slopes, and they cannot be measured in double precision: {why_not}"
    holds = _ideal_holds(case)
    return Judgement(case, opinion, reason, holds, chosen.repeatable, chosen.unobserved, caveat, tuple(cut))


def _jumps(case: Case) -> bool:
    """Whether the objective jumps, and no slope was measured so sharply that jumps have no part in it."""
    sharp = any(d.error <= _SHARP * abs(d.reference) for d in case.directions)
    return any(d.jumps for d in case.directions) and not sharp


def _without_slopes(case: Case) -> Case:
    """The case without slopes that jumps have a part in, of which the error bars know nothing."""
    nothing: dict[str, Any] = {"reference": float("nan"), "error": float("inf"), "left": None, "right": None}
    return replace(case, directions=tuple(replace(d, **nothing, jumps=True) for d in case.directions))


def _is_certified(case: Case, chosen: Choice) -> bool:
    """Whether the recorded launches are all there is, and the ideal adjoint of each is its measured derivative."""
    replayed = chosen.source is not None and chosen.source.how is How.REPLAY
    return replayed and case.links is None and all(t.passed for t in case.treatments.values())


def _measured(case: Case, chosen: Choice, means: Means, cut: list[str]) -> Case:
    """The case with slopes of the objective; what there was no time for is noted."""
    source, within = chosen.source, means.clock.within
    assert source is not None
    if source.how is How.RE_EXECUTION and not case.life.in_torch:
        half = replace(means, clock=means.clock.share(0.5))
        case = half.clock.within(lambda: _connected(case, half), case, "following values through the host", cut)
    case = replace(case, directions=_measure_all(case, chosen, means, cut))
    unconfirmed = replace(case, directions=tuple(_doubted(d) for d in case.directions))
    case = within(lambda: _confirmed(case, source, means), unconfirmed, "confirming a slope", cut)
    return within(lambda: _sharpened(case, source, means), case, "measuring a slope more closely", cut)


def _doubted(direction: Direction) -> Direction:
    """A slope that says nothing if it refutes the gradient used: once is not enough."""
    if admits(direction, direction.consumed) is False:
        return replace(direction, error=float("inf"))
    return direction


def _is_blurred(case: Case) -> bool:
    """Whether every slope that was measured in single precision is hidden by rounding."""
    scalar = case.life.ref.scalar
    if scalar is None or np.finfo(scalar).eps < _SINGLE or not case.directions:
        return False
    if any(admits(d, d.consumed) is False for d in case.directions):
        return False
    known = [d for d in case.directions if admits(d, d.consumed) is True]
    return not any(_is_sharp(d) for d in known) and not (known and _small_everywhere(case, known))


def _in_double(case: Case, chosen: Choice, means: Means) -> tuple[Case, str]:
    """The case with its slopes measured in double precision, or why that cannot be."""
    life, scalar = case.life, case.life.ref.scalar
    assert scalar is not None
    outside = chosen.unobserved or case.links is not None or life.numbers or life.in_torch
    if outside or not case.window.replayable:
        return case, "what passes outside the recorded operations cannot be translated"
    means.say(f"measuring {life.name}, iteration {life.iteration}, in double precision")
    try:
        wide = WideReplay(case.window, case.objective.seeds, means.clock)
        base = wide.value(life.ref, life.first.index, case.contents)
    except TwinError as error:
        return case, str(error)
    own = next((d.value for d in case.directions if d.value is not None), None)
    if own is None or not abs(base - own) <= _AS_WELL * max(abs(own), abs(base)):
        return case, f"translated, the objective is {base:.9g} and not {own}"
    source = Source(How.FLOAT64, lambda contents: lambda: [wide.value(life.ref, life.first.index, c) for c in contents])
    rungs = (life.consumed, life.taped, case.ideal)
    directions = [
        replace(
            measure(Probe(d.label, d.vector), case.contents, source, rungs, scalar, working=np.float64), jumps=d.jumps
        )
        for d in case.directions
    ]
    # A gradient summed up in single precision cannot be held to more where its terms cancel.
    slack = float(np.sqrt(np.finfo(scalar).eps))
    blunt = [replace(d, error=d.error + slack * _terms(case, d)) for d in directions]
    return replace(case, directions=tuple(blunt)), ""


def _terms(case: Case, direction: Direction) -> float:
    """Sum of the sizes of the terms of a slope, of which the slope itself may be a small difference."""
    consumed = case.life.consumed
    assert consumed is not None
    terms = np.abs(consumed * direction.vector)
    return float(np.sum(terms[np.isfinite(terms)]))


def _equals_ideal(case: Case) -> bool:
    """Whether the gradient used is the ideal one, to rounding."""
    consumed, scalar = case.life.consumed, case.life.ref.scalar
    assert consumed is not None
    assert scalar is not None
    if not (np.all(np.isfinite(consumed)) and np.all(np.isfinite(case.ideal))):
        return False
    return bool(np.linalg.norm(consumed - case.ideal) <= 64.0 * np.finfo(scalar).eps * np.linalg.norm(case.ideal))


def _measure_all(case: Case, chosen: Choice, means: Means, cut: list[str]) -> tuple[Direction, ...]:
    source, scalar = chosen.source, case.life.ref.scalar
    assert source is not None
    assert scalar is not None
    other = _other(case, means)
    probes = probes_for(case.contents, case.life.consumed, case.ideal, means.rng, most=12, other=other)
    rungs = (case.life.consumed, case.life.taped, case.ideal)
    directions: list[Direction] = []
    if chosen.base is not None:
        source.know(case.contents, chosen.base)
    longest = 0.0
    for probe in probes:
        if directions and means.remaining < longest:
            break
        started = time.monotonic()
        means.say(f"measuring {case.life.name}, iteration {case.life.iteration}: {probe.label}")
        try:
            found = measure(probe, case.contents, source, rungs, scalar, working=case.window.halved)
        except OutOfTimeError:
            cut.append(f"measuring {probe.label}")
            break
        longest = max(longest, time.monotonic() - started)
        directions.append(found)
        enough = source.how is How.RE_EXECUTION and other is None and len(directions) >= _ENOUGH
        if enough and _is_clear(directions):
            break
    return tuple(directions)


def _other(case: Case, means: Means) -> Float | None:
    """Another implementation's gradient in the parameter's shape, None where there is none of that size."""
    found = means.others.get((case.life.name, case.life.iteration))
    return None if found is None or found.size != case.contents.size else found.reshape(case.contents.shape)


def _is_sharp(direction: Direction) -> bool:
    """Whether the error bar is small beside the slope."""
    return direction.error <= 0.2 * max(abs(direction.reference), abs(direction.consumed or 0.0))


def _is_clear(directions: list[Direction]) -> bool:
    """Whether some slope refutes the gradient used by so much that more of them would add nothing."""
    return any(admits(d, d.consumed) is False and _misfit(d) > _CLEAR for d in directions)


def _confirmed(case: Case, source: Source, means: Means) -> Case:
    """Measure again, at other steps, until one slope that refutes the gradient used has done so twice.

    A refutation that does not repeat was a stroke of rounding: its error bar is widened by what the two
    measurements differ. Where more steps show a kink, they count instead. Where they show that the objective jumps, or
    several kinks, what was measured with few is worth nothing.
    """
    scalar = case.life.ref.scalar
    assert scalar is not None
    rungs = (case.life.consumed, case.life.taped, case.ideal)
    directions = list(case.directions)
    refuted = [n for n, d in enumerate(directions) if admits(d, d.consumed) is False]
    confirmed, jumps, kinks = -1, False, 0
    for number in sorted(refuted, key=lambda n: -_misfit(directions[n])):
        first = directions[number]
        if kinks >= _KINKS and source.is_slow and moves_several(first):
            directions[number] = _doubted(first)
            continue
        means.say(f"confirming {case.life.name}, iteration {case.life.iteration}: {first.label}")
        probe = Probe(first.label, first.vector * _OTHER_STEPS)
        again = measure(probe, case.contents, source, rungs, scalar, True, _enough(first), working=case.window.halved)
        jumps = jumps or again.jumps
        if admits(again, again.consumed) is False and (again.left is not None or _beyond_doubt(again)):
            confirmed = number
            break
        if again.left is not None and np.isfinite(again.error):
            kinks += moves_several(again)
            directions[number] = _scaled(again, first)
            continue
        spread = abs(again.reference / _OTHER_STEPS - first.reference)
        error = first.error + (spread if np.isfinite(spread) else np.inf)
        unseen = again.doubt / _OTHER_STEPS if admits(again, again.consumed) is False else 0.0
        directions[number] = replace(first, error=max(error, unseen))
    if jumps:
        lost = [replace(d, error=float("inf"), jumps=True) for d in directions]
        directions = [d if n == confirmed else lost[n] for n, d in enumerate(directions)]
    return replace(case, directions=tuple(directions))


def _beyond_doubt(direction: Direction) -> bool:
    """Whether the slope refutes the gradient used even if there is a kink, too slight to be seen."""
    return direction.consumed is None or not abs(direction.consumed - direction.reference) <= direction.doubt


def _scaled(again: Direction, first: Direction) -> Direction:
    """A slope measured along a shorter vector, as one along the first one."""
    left, right = (None if side is None else side / _OTHER_STEPS for side in (again.left, again.right))
    measured = {"reference": again.reference / _OTHER_STEPS, "error": again.error / _OTHER_STEPS}
    return replace(first, **measured, left=left, right=right, step=again.step * _OTHER_STEPS, order=again.order)


def _connected(case: Case, means: Means) -> Case:
    """The case with what passes through the host, by value or through library routines.

    A replay that does not give what the program gives has missed something of the kind, however little it may be
    along the directions that are measured.
    """
    evaluate = rerun(case.life, case.objective, means.snapshots, means.limit, means.clock)
    if evaluate is None:
        return case
    means.say(f"following {case.life.name}, iteration {case.life.iteration}, through the host")
    scale = scale_of(case.contents)
    sample = [scale * means.rng.standard_normal(case.contents.shape) for _ in range(_SAMPLE)]
    return connect(case, evaluate, sample)


def _connected_again(case: Case, means: Means) -> Case:
    """The same along the directions that were measured; without links where the gradient is understood without."""
    plain = _predict_again(disconnected(case))
    if _ideal_holds(plain):
        return plain
    evaluate = rerun(case.life, case.objective, means.snapshots, means.limit, means.clock)
    if evaluate is None:
        return case
    return _predict_again(connect(plain, evaluate, [d.vector for d in case.directions[:_MEASURED]]))


def _doubting(case: Case, means: Means) -> Case:
    """The case with recorded functions left out and what they stand for followed, where that explains the slopes."""
    if case.life.in_torch:
        return case
    functions = frozenset(o.index for o in case.window.operations if o.index in case.recording.callbacks)
    doubting = replace(case, window=replace(case.window, disbelieved=functions))
    if not doubting.window.claimed:
        return case
    doubting = examine_launches(doubting, means.rng)
    evaluate = rerun(case.life, case.objective, means.snapshots, means.limit, means.clock)
    if evaluate is not None:
        doubting = connect(doubting, evaluate, [d.vector for d in case.directions[:_MEASURED]])
    doubting = _predict_again(doubting)
    return doubting if _nearly_holds(doubting) else case


def _enough(refuted: Direction) -> float:
    """Relative error of a slope that tells it from what a gradient says, by far."""
    if refuted.consumed is None or not np.isfinite(refuted.consumed) or refuted.reference == 0.0:
        return _FINE
    return max(_FINE, abs(refuted.consumed / refuted.reference - 1.0) / _CLEAR)


def _sharpened(case: Case, source: Source, means: Means) -> Case:
    """Where no slope that was measured sparingly decides, measure one after the other with all steps until one does."""
    judged = [admits(d, d.consumed) for d in case.directions]
    if not judged or not source.is_slow or False in judged or any(_is_sharp(d) for d in case.directions):
        return case
    scalar = case.life.ref.scalar
    assert scalar is not None
    rungs = (case.life.consumed, case.life.taped, case.ideal)
    directions = list(case.directions)
    for number, first in enumerate(directions[:_SHARPENED]):
        means.say(f"measuring {case.life.name}, iteration {case.life.iteration} again: {first.label}")
        probe = Probe(first.label, first.vector)
        try:
            again = measure(probe, case.contents, source, rungs, scalar, thorough=True, working=case.window.halved)
        except OutOfTimeError:
            if number == 0:
                raise
            break
        if again.error < first.error:
            directions[number] = again
        decides = _is_sharp(again) and admits(again, again.consumed) is not None
        if decides and not _jumps(replace(case, directions=tuple(directions))):
            break
    return _confirmed(replace(case, directions=tuple(directions)), source, means)


def _predict_again(case: Case) -> Case:
    """Predictions of another ideal for slopes measured already."""
    directions = tuple(replace(d, ideal=along(case.ideal, d.vector)) for d in case.directions)
    return replace(case, directions=directions)


def _ideal_holds(case: Case) -> bool:
    return bool(case.directions) and all(admits(d, d.ideal) is not False for d in case.directions)


def _nearly_holds(case: Case) -> bool:
    """Whether the ideal gradient agrees with all slopes up to the error of links, which are measured once."""
    if case.links is None:
        return _ideal_holds(case)
    widened = [replace(d, error=d.error + _OF_LINKS * abs(d.reference)) for d in case.directions]
    return bool(widened) and all(admits(d, d.ideal) is not False for d in widened)


def _opinion(case: Case, repeatable: bool, hurried: bool) -> tuple[Opinion, str]:
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
    if not known and hurried:
        return Opinion.UNDECIDED, _NO_TIME
    if not known:
        why = "" if repeatable else " Two runs at one point differ."
        return Opinion.UNDECIDED, f"The objective's slope could not be measured.{why}"
    is_ideal = np.array_equal(consumed, case.ideal) and not case.life.in_torch
    if any(_is_sharp(d) for d in known) or _small_everywhere(case, known) or is_ideal:
        return Opinion.RIGHT, f"The gradient used agrees with {len(known)} measured slopes."
    return Opinion.UNDECIDED, "Rounding noise hides the objective's slope: its error bar is wider than the slope."


def _misfit(direction: Direction) -> float:
    if direction.consumed is None or not np.isfinite(direction.consumed):
        return float("inf")
    return abs(direction.consumed - direction.reference) / direction.error if direction.error else float("inf")


def _small_everywhere(case: Case, known: list[Direction]) -> bool:
    """Whether gradient and error bars are both negligible beside the objective's own size."""
    return all(d.reference == 0.0 and (d.consumed or 0.0) == 0.0 for d in known)
