"""RG405: a custom adjoint assigns where it should add."""

from __future__ import annotations

from collections.abc import Callable

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.causes.kernel_faults import cured
from retrograde.gradients.callbacks import line_that_sets
from retrograde.gradients.judge import Judgement
from retrograde.gradients.ladder import Case
from retrograde.gradients.policy import Policy
from retrograde.trace.callsite import CallSite
from retrograde.trace.operations import Operation

CAUSE = Cause(
    code="RG405",
    name="custom-adjoint-assigns",
    group="kernels",
    summary="A custom adjoint assigns a gradient instead of adding to it.",
    finds=(
        "Assignments to `wp.adjoint[...]` in functions of `@wp.func_grad`. Proven by a twin with `+=` in place of `=`: "
        "it must pass the launch's derivative test, and the assignment put back must change the gradient. Likewise "
        "functions of `Tape.record_func` that set a gradient to the same value whatever was there before; proven by "
        "adding to what was there."
    ),
    why=(
        "An argument's adjoint is the sum over everything that the argument was used for. An assignment throws away "
        "what other uses, later in the kernel or on the tape, have left there. With a single use it is not noticed."
    ),
    fix="Write `wp.adjoint[x] += ...`.",
    example_wrong="""
@wp.func_grad(push)
def adj_push(depth: float, adj_ret: float):
    wp.adjoint[depth] = 2.0 * depth * adj_ret
""",
    example_right="""
@wp.func_grad(push)
def adj_push(depth: float, adj_ret: float):
    wp.adjoint[depth] += 2.0 * depth * adj_ret
""",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html#custom-gradient-functions",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Assignments that launches cannot do with, and recorded functions that assign."""
    return cured(judgement, CAUSE.code) + _callbacks(judgement)


def _callbacks(judgement: Judgement) -> list[Suspect]:
    case = judgement.case
    found: dict[str, Suspect] = {}
    for operation in case.window.operations:
        treatment = case.treatments.get(operation.index)
        function = case.recording.callbacks.get(operation.index)
        if treatment is None or function is None or not treatment.assigned or treatment.label in found:
            continue
        names = ", ".join(case.recording.name(ref) for ref in treatment.assigned)
        label = treatment.label

        def switch_off(policy: Policy, label: str = label) -> Policy:
            return policy.without(faults=policy.faults | {label})

        found[label] = Suspect(
            code=CAUSE.code,
            site=_assignment(case, operation, function),
            order=operation.index,
            message=(
                f"This function, recorded at line {operation.site.line}, sets the gradient of {names}, whatever other "
                f"uses of {names} have left there."
            ),
            fix=f"Add to the gradient of {names}: what is there, plus the function's own part.",
            array=names,
            route="recorded function",
            switch_off=switch_off,
        )
    return list(found.values())


def _assignment(case: Case, operation: Operation, function: Callable[[], None]) -> CallSite:
    """The line of a recorded function that sets a gradient, else where the function was recorded."""
    refs = [a.ref for o in case.window.operations for a in o.accesses]
    wanted = case.treatments[operation.index].assigned[0]
    contents = case.window.contents_before(operation.index)
    return line_that_sets(function, refs, contents, wanted) or operation.site
