"""Functions of `Tape.record_func` that are not the adjoint of the work that they stand for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from retrograde.causes.intervention import Suspect
from retrograde.gradients.callbacks import line_that_sets
from retrograde.gradients.judge import Judgement
from retrograde.gradients.ladder import Case
from retrograde.gradients.policy import IDEAL, Policy
from retrograde.gradients.slices import stood_for
from retrograde.gradients.twins.alone import in_words
from retrograde.trace.arrays import ArrayRef
from retrograde.trace.callsite import CallSite
from retrograde.trace.operations import Operation

Float = npt.NDArray[np.float64]
_CODE = "RG404"


def recorded_functions(judgement: Judgement) -> list[Suspect]:
    """Suspects: recorded functions without which, and with what they stand for followed, the gradient is right.

    Put back, the function runs in the sweep, and nothing is followed through what it stands for.
    """
    case = judgement.case
    found: dict[str, Suspect] = {}
    for operation in case.window.operations:
        treatment = case.treatments.get(operation.index)
        function = case.recording.callbacks.get(operation.index)
        if treatment is None or function is None or not treatment.disbelieved or treatment.label in found:
            continue
        found[treatment.label] = _suspect(case, operation, function, treatment.label)
    return list(found.values())


def _suspect(case: Case, operation: Operation, function: Callable[[], None], label: str) -> Suspect:
    mine = frozenset(i for i, t in case.treatments.items() if t.label == label)
    work = stood_for(case.window.operations, case.window.disbelieved - mine) - case.window.stood_for

    def switch_off(policy: Policy) -> Policy:
        return policy.without(faults=policy.faults | {label}, omitted=policy.omitted | work)

    words = _words(case, switch_off, work)
    changed = _changed(case, operation)
    names = ", ".join(dict.fromkeys(case.recording.name(ref) for ref in changed))
    return Suspect(
        code=_CODE,
        site=_line(case, operation, function, changed),
        order=operation.index,
        message=(
            f"The function recorded at line {operation.site.line} is not the adjoint of the work that it stands for: "
            f"compared with differences of that work, the gradient of {case.life.name} that comes through it {words}."
        ),
        fix=f"Correct what the function adds to the gradient of {names or 'its inputs'}.",
        array=names or None,
        route="recorded function",
        switch_off=switch_off,
    )


def _words(case: Case, switch_off: Callable[[Policy], Policy], work: frozenset[int]) -> str:
    """What is wrong with what comes through the function, beside what comes through the work itself."""
    without = case.sweep(IDEAL.without(omitted=work))
    said, measured = case.sweep(switch_off(IDEAL)) - without, case.ideal - without
    telling = np.abs(measured) > 0.01 * np.abs(measured).max(initial=0.0)
    return in_words(said[telling], measured[telling])


def _changed(case: Case, operation: Operation) -> list[ArrayRef]:
    """Arrays of the function that the work starts from: not written by what it stands for."""
    work = [o for o in case.window.operations if o.index in case.window.claimed]
    written = [a.ref.extent for o in work for a in o.accesses if a.usage.writes]
    return [
        a.ref for a in operation.accesses if a.ref.differentiable and not any(a.ref.extent.overlaps(e) for e in written)
    ]


def _line(case: Case, operation: Operation, function: Callable[[], None], wanted: list[ArrayRef]) -> CallSite:
    """The line of the function that changes the gradient of what the work starts from, else where it was recorded."""
    refs = [a.ref for o in case.window.operations for a in o.accesses]
    contents = case.window.contents_before(operation.index)
    for ref in wanted:
        found = line_that_sets(function, refs, contents, ref)
        if found is not None:
            return found
    return operation.site
