"""Explains a wrong gradient: intervenes on every suspect and keeps those whose intervention tells.

Faults on the tape are proven by switching one property of the ideal gradient off: it must bring an error
back that the user has. Faults in the use of a right gradient are proven by what would have been consumed
without them. What no proven fault accounts for is reported as unexplained.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from retrograde.causes.finding import Finding
from retrograde.causes.intervention import Suspect, gap, place, resolution
from retrograde.causes.registry import all_finders, all_remarkers, find_cause
from retrograde.gradients.clock import UNTIMED, Clock, OutOfTimeError
from retrograde.gradients.judge import THE_IDEAL, Judgement
from retrograde.gradients.life import fresh_gradient
from retrograde.gradients.policy import IDEAL
from retrograde.trace.callsite import NOWHERE

Float = npt.NDArray[np.float64]
_ENOUGH = 0.05
_MOST = 0.95
_FIRST = 0.5
_FINDING = 0.4
_TRYING = 0.5
_DOCS = "https://nvidia.github.io/warp/stable/user_guide/differentiability.html"


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why one consumed gradient is wrong.

    Attributes:
        findings: Proven causes, in program order.
        unexplained: Share of the error that they leave, 0 to 1.
        cut: Whether time ran out before all that might be a cause was tried.
    """

    findings: tuple[Finding, ...]
    unexplained: float
    cut: bool = False


UNEXPLAINED = Explanation((), 1.0)
"""Of what no cause is known."""


@dataclass(frozen=True, eq=False)
class _Proven:
    suspect: Suspect
    effect: float


def explain_all(wrong: Sequence[Judgement], clock: Clock = UNTIMED) -> list[tuple[Judgement, Explanation]]:
    """Explain wrong gradients.

    A parameter of torch that reaches Warp through torch's own operations is wrong by what is wrong of the arrays that
    Warp got: where those are explained, so is it.

    Args:
        wrong: What is to be explained.
        clock: When the search for causes must be over.
    """
    found: list[tuple[Judgement, Explanation]] = []
    for number, j in enumerate(wrong):
        own = clock.share(max(_FIRST, 1.0 / (len(wrong) - number)))
        found.append((j, explain(replace(j, case=j.case.timed(own)))))
    if not any(e.findings for j, e in found if j.case.life.nested):
        return found
    return [(j, Explanation((), 0.0) if _is_upstream(j) and not e.findings else e) for j, e in found]


def _is_upstream(judgement: Judgement) -> bool:
    return judgement.case.life.in_torch and not judgement.case.inner


def explain(judgement: Judgement) -> Explanation:
    """Explain a wrong gradient, as far as the case's time goes."""
    if judgement.case.clock.left <= 0.0 or THE_IDEAL in judgement.cut:
        return Explanation((), 1.0, cut=True)
    findings: list[Finding] = []
    try:
        if judgement.case.life.in_torch:
            return _explain_in_torch(judgement)
        return _explain(judgement, findings)
    except OutOfTimeError:
        return Explanation(tuple(findings), 1.0, cut=True)


def _explain(judgement: Judgement, findings: list[Finding]) -> Explanation:
    """Explain a wrong gradient; findings that hold whatever else will be found are put where they outlast its time."""
    case = judgement.case
    consumed = case.life.consumed
    assert consumed is not None
    suspects, cut = _suspects(judgement)
    in_use = [s for s in suspects if s.repaired is not None]
    on_tape = [s for s in suspects if s.switch_off is not None]
    used, left = _use_faults(judgement, in_use)
    findings += used
    seeded = case.sweep(IDEAL, used_seeds=True)
    error = max(gap(consumed, case.ideal), 1e-300)
    tried = _tried(judgement, on_tape)
    cut = cut or len(tried) < len(on_tape)
    proven = _one_a_site(judgement, _borne_out(judgement, _tape_faults(judgement, tried, seeded), seeded))
    scale = next((f.scale for f in used if f.scale is not None), 1.0)
    remaining = _remaining(judgement, left * scale, proven, tried, seeded)
    reached = 1.0 - _share(remaining, max(gap(left * scale, seeded), 1e-300))
    if cut and reached < _MOST:  # one that was not tried might say more
        proven, remaining = [], gap(left * scale, seeded)
    findings += _report(judgement, proven, seeded, reached)
    if not any(f.scale is not None for f in used):
        findings += _seeds_behind(judgement, in_use, left, proven, seeded)
    if not judgement.ideal_holds:
        return Explanation(tuple(findings), max(_residual(judgement), 0.0 if findings else 1.0), cut)
    remaining /= abs(scale)
    return Explanation(tuple(findings), 0.0 if remaining <= resolution(case) else _share(remaining, error), cut)


def _suspects(judgement: Judgement) -> tuple[list[Suspect], bool]:
    """All suspects, and whether time ran out before all were found."""
    clock = judgement.case.clock.share(_FINDING)
    timed = replace(judgement, case=judgement.case.timed(clock))
    found: list[Suspect] = []
    for find in all_finders():
        try:
            found += find(timed)
        except OutOfTimeError:
            return found, True
    return found, False


def _tried(judgement: Judgement, suspects: Sequence[Suspect]) -> list[Suspect]:
    """Those suspects for which there is time to put their faults back, the first ones."""
    case = judgement.case
    affordable = int(_TRYING * case.clock.left / max(case.seconds, 1e-3)) if np.isfinite(case.clock.left) else None
    return list(suspects[:affordable])


def _explain_in_torch(judgement: Judgement) -> Explanation:
    """Explain a gradient that torch used: by what torch did with it, then by what Warp handed over."""
    case = judgement.case
    consumed = case.life.consumed
    assert consumed is not None
    in_use = [s for find in all_finders() for s in find(judgement) if s.repaired is not None]
    used, left = _use_faults(judgement, in_use)
    fresh = case.handed_over()
    lost = gap(left, fresh)
    unexplained = 0.0 if lost <= resolution(case) else _share(lost, gap(consumed, case.ideal))
    explanations = [Explanation(tuple(used), unexplained)]
    for inner in case.inner:
        assert inner.life.consumed is not None
        if gap(inner.life.consumed, inner.ideal) > resolution(inner):
            explanations.append(explain(replace(judgement, case=inner)))
    found = merge(explanations)
    if judgement.ideal_holds or (found.findings and len(explanations) > 1):
        return found
    return Explanation(found.findings, max(_residual(judgement), 0.0 if found.findings else 1.0), found.cut)


def _remaining(
    judgement: Judgement, left: Float, proven: Sequence[_Proven], suspects: Sequence[Suspect], seeded: Float
) -> float:
    """What the proven faults together do not account for.

    A suspect that does nothing alone may still shape what a proven fault does: overwritten contents matter to
    a wrong adjoint that the right one never reads. So all suspects together are tried as well.
    """
    if not proven:
        return gap(left, seeded)
    remaining = gap(left, _joint(judgement, proven))
    if remaining > resolution(judgement.case) and len(suspects) > len(proven):
        everything = _joint(judgement, [_Proven(s, 0.0) for s in suspects])
        remaining = min(remaining, gap(left, everything))
    return remaining


def _residual(judgement: Judgement) -> float:
    """Share of the measured error that even the ideal gradient has."""
    worst = 0.0
    for d in judgement.case.directions:
        if d.ideal is None or d.consumed is None or not np.isfinite(d.reference):
            continue
        missed, had = abs(d.ideal - d.reference) - d.error, abs(d.consumed - d.reference)
        if missed > 0.0 and had > 0.0:
            worst = max(worst, missed / had)
    return min(1.0, worst)


def _share(part: float, whole: float) -> float:
    if not np.isfinite(part):
        return 1.0
    return 0.0 if not np.isfinite(whole) else float(min(1.0, part / whole))


# -- the use of a gradient -----------------------------------------------------------------------------


def _use_faults(judgement: Judgement, suspects: Sequence[Suspect]) -> tuple[list[Finding], Float]:
    """Faults between the tape's gradient and the optimizer, and what is left once they are repaired.

    They are repaired from the use backwards: first what was read at the wrong time, then what lay in the
    buffer, then the seed.
    """
    case = judgement.case
    current = case.life.consumed
    assert current is not None
    target = case.sweep(IDEAL, used_seeds=True)
    findings: list[Finding] = []
    for suspect in sorted(suspects, key=lambda s: (s.scale is not None, s.follows is not None)):
        assert suspect.repaired is not None
        if suspect.follows is not None and gap(current, suspect.follows) > resolution(case):
            continue
        goal = case.ideal if suspect.scale is not None else target
        before, after = gap(current, goal), gap(suspect.repaired, goal)
        if before <= resolution(case) or (after > 0.5 * before and not _leads_to_tape(judgement, suspect)):
            continue
        findings.append(_finding(suspect, 1.0 - _share(after, before)))
        current = suspect.repaired
    return findings, current


def _seeds_behind(
    judgement: Judgement, suspects: Sequence[Suspect], left: Float, proven: Sequence[_Proven], seeded: Float
) -> list[Finding]:
    """Wrong seeds that other faults hide: what these make of the seeds used is what was used, to an exact factor.

    Alone, taking the factor away need not lead anywhere near the right gradient.
    """
    case = judgement.case
    found: list[Finding] = []
    for suspect in suspects if proven else ():
        if suspect.scale is None:
            continue
        joint = _joint(judgement, proven)
        without = gap(left, joint / suspect.scale)
        if without > resolution(case) and gap(left, joint) <= _ENOUGH * without:
            found.append(_finding(suspect, _share(gap(seeded, case.ideal), gap(left, case.ideal))))
    return found


def _leads_to_tape(judgement: Judgement, suspect: Suspect) -> bool:
    """Whether a repair leads to what this life's tape computed, whatever else may be wrong with that."""
    assert suspect.repaired is not None
    fresh = fresh_gradient(judgement.case.life)
    known = [g for g in (fresh, judgement.case.life.taped) if g is not None]
    return suspect.scale is None and any(gap(suspect.repaired, g) <= resolution(judgement.case) for g in known)


# -- the tape ------------------------------------------------------------------------------------------


def _tape_faults(judgement: Judgement, suspects: Sequence[Suspect], seeded: Float) -> list[_Proven]:
    """Suspects whose fault, put back alone, changes the gradient."""
    noise = resolution(judgement.case)
    policies = [suspect.switch_off(IDEAL) for suspect in suspects if suspect.switch_off is not None]
    effects = [gap(gradient, seeded) for gradient in judgement.case.sweeps(policies, used_seeds=True)]
    proven = [_Proven(s, effect) for s, effect in zip(suspects, effects, strict=True) if effect > noise]
    return sorted(proven, key=lambda p: p.suspect.order)


def _borne_out(judgement: Judgement, proven: Sequence[_Proven], seeded: Float) -> list[_Proven]:
    """Those of the proven that the tape's own gradient shows: put back, they must not lead away from it."""
    taped = fresh_gradient(judgement.case.life)
    if taped is None or not proven:
        return list(proven)
    noise = resolution(judgement.case)
    if gap(taped, seeded) <= noise:
        return []
    kept: list[_Proven] = list(proven)
    distance = gap(_joint(judgement, kept), taped)
    while kept:
        rest: list[list[_Proven]] = [[q for q in kept if q is not p] for p in kept]
        without = [gap(_joint(judgement, others) if others else seeded, taped) for others in rest]
        best = int(np.argmin(without))
        if not without[best] < distance - noise:
            break
        kept, distance = rest[best], without[best]
    return kept


def _one_a_site(judgement: Judgement, proven: Sequence[_Proven]) -> list[_Proven]:
    """Of several faults of one statement those that add something to the others: the rest is the same fault again."""
    kept = list(proven)
    for p in sorted(proven, key=lambda p: p.suspect.code):
        rest = [q for q in kept if q is not p]
        shared = p.suspect.site is not NOWHERE and any(q.suspect.site.key == p.suspect.site.key for q in rest)
        if shared and gap(_joint(judgement, kept), _joint(judgement, rest)) <= resolution(judgement.case):
            kept = rest
    return kept


def _joint(judgement: Judgement, proven: Sequence[_Proven]) -> Float:
    policy = IDEAL
    for p in proven:
        assert p.suspect.switch_off is not None
        policy = p.suspect.switch_off(policy)
    return judgement.case.sweep(policy, used_seeds=True)


def _report(judgement: Judgement, proven: Sequence[_Proven], seeded: Float, reached: float) -> list[Finding]:
    """Findings, each with the share of the user's error that its repair alone takes away.

    Args:
        judgement: What is explained.
        proven: The faults.
        seeded: The gradient without any of them.
        reached: Share of the user's error that all of them together give back.
    """
    if not proven:
        return []
    joint = _joint(judgement, proven)
    whole = max(gap(joint, seeded), 1e-300)
    enough = [p for p in proven if gap(_joint(judgement, [p]), joint) <= _ENOUGH * whole]
    if len(enough) > 1:
        first, *others = enough
        alternatives = tuple(_named(p.suspect) for p in others)
        return [replace(_finding(first.suspect, reached), alternatives=alternatives)]
    kept: list[Finding] = []
    for p in proven:
        others = [q for q in proven if q is not p]
        without = gap(_joint(judgement, others), seeded) if others else 0.0
        share = 1.0 - _share(without, whole) if np.isfinite(whole) else 1.0
        if share <= 0.0:
            share = _share(p.effect, whole)
        kept.append(_finding(p.suspect, share * reached))
    return kept


def _named(suspect: Suspect) -> str:
    """A suspect in a few words: its code, name and place."""
    cause = find_cause(suspect.code)
    assert cause is not None
    file, line = place(suspect.site)
    where = "" if file is None else f" at {os.path.basename(file)}:{line}"
    return f"{cause.code} {cause.name}{where}"


def _finding(suspect: Suspect, explains: float) -> Finding:
    cause = find_cause(suspect.code)
    assert cause is not None
    file, line = place(suspect.site)
    return Finding(
        code=cause.code,
        name=cause.name,
        message=suspect.message,
        file=file,
        line=line,
        array=suspect.array,
        route=suspect.route,
        explains=float(np.clip(explains, 0.0, 1.0)),
        scale=suspect.scale,
        evidence=suspect.evidence,
        fix=suspect.fix,
        doc=_doc(cause.references),
    )


def _doc(references: tuple[str, ...]) -> str:
    return references[0] if references else _DOCS


def merge(explanations: Sequence[Explanation]) -> Explanation:
    """One explanation for several wrong gradients: each cause and line once, with its largest share."""
    found: dict[tuple[str, str | None, int | None], Finding] = {}
    for explanation in explanations:
        for finding in explanation.findings:
            key = (finding.code, finding.file, finding.line)
            known = found.get(key)
            if known is None or (finding.explains or 0.0) > (known.explains or 0.0):
                found[key] = finding
    unexplained = max((e.unexplained for e in explanations), default=0.0)
    return Explanation(tuple(found.values()), unexplained, any(e.cut for e in explanations))


def remarks_on(judgements: Sequence[Judgement], clock: Clock = UNTIMED) -> tuple[tuple[Finding, ...], bool]:
    """What explains a complaint although the gradient is right, or why it cannot be judged; whether time ran out."""
    found: list[Finding] = []
    timed = [replace(j, case=j.case.timed(clock)) for j in judgements]
    for remark in all_remarkers():
        try:
            found += [replace(_finding(s, 0.0), explains=None) for s in remark(timed)]
        except OutOfTimeError:
            return tuple(found), True
    return tuple(found), False
