"""RG205: work on the path from parameter to loss that no tape recorded."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.causes.off_tape import unrecorded, writes_seed
from retrograde.causes.outside import links_by_site, suspect_of
from retrograde.gradients.judge import Judgement
from retrograde.gradients.ladder import Case
from retrograde.gradients.links import Link, Way
from retrograde.gradients.policy import Policy
from retrograde.gradients.segments import carried_by_segments, forerunners
from retrograde.trace.callsite import Key
from retrograde.trace.operations import Kind, Operation

CAUSE = Cause(
    code="RG205",
    name="unrecorded-operation",
    group="chain",
    summary="Work on the path from parameter to loss ran without being recorded.",
    finds=(
        "Launches and copies outside `with tape`, with `record_tape=False`, or of recorded commands "
        "(`wp.launch(..., record_cmd=True)`, then `.launch()`), and library routines without an adjoint (scans, "
        "sorts, reductions). Proven by taking them into the sweep (routines: by running the program again and "
        "measuring what they pass on): the gradient must change."
    ),
    why=(
        "A tape knows only the launches and copies that Warp records. What else ran between parameter and loss is "
        "a constant to it: gradients lack that path's share, silently."
    ),
    fix="Move the work inside `with tape:` as plain launches, or give it an adjoint with `Tape.record_func`.",
    example_wrong="""
command = wp.launch(advance, dim=n, inputs=[x, y], record_cmd=True)
with tape:
    command.launch()                     # runs, but is not recorded
    wp.launch(score, dim=n, inputs=[y, loss])
""",
    example_right="""
with tape:
    wp.launch(advance, dim=n, inputs=[x, y])
    wp.launch(score, dim=n, inputs=[y, loss])
""",
    known_problems=(
        "Work that a function recorded with `Tape.record_func` stands for is not reported. Where the last step to the "
        "loss is what ran outside, the finding is RG203."
    ),
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Call sites of unrecorded launches, copies and routines that lie between the parameter and a loss."""
    case = judgement.case
    found: dict[Key, Suspect] = {}
    made_good = carried_by_segments(case)
    for operation in unrecorded(case):
        if operation.site.key in found or operation.index in made_good or not _is_missed(case, operation):
            continue
        found[operation.site.key] = _suspect(case, operation)
    return [*found.values(), *(_routine(case, link) for link, _ in links_by_site(case, Way.ROUTINE))]


def _routine(case: Case, link: Link) -> Suspect:
    name = case.recording.name(link.operation.accesses[0].ref)
    message = (
        f"A library routine computes {name} here. Routines are not recorded and have no adjoint: nothing passes back "
        f"through it to {case.life.name}."
    )
    fix = "Use a kernel of its own, or record the routine's adjoint with `Tape.record_func`."
    return suspect_of(case, link, CAUSE.code, message, fix, name)


def _is_missed(case: Case, operation: Operation) -> bool:
    """Whether a tape should have recorded an operation, and nothing stands for it."""
    index = operation.index
    if index not in case.window.upstream or index in case.window.claimed or writes_seed(case, operation):
        return False
    lacks_flag = operation.kind is Kind.COPY and any(a.ref.gradient is None for a in operation.accesses)
    return not (lacks_flag and operation.within is not None)


def _suspect(case: Case, operation: Operation) -> Suspect:
    key = operation.site.key
    first = forerunners(case)
    forward = frozenset(first[o.index] for o in unrecorded(case) if o.site.key == key and o.index in first)
    written = next((a.ref for a in operation.accesses if a.usage.writes), operation.accesses[0].ref)
    name = case.recording.name(written)
    why = "no tape was open" if operation.within is None else "this way of running it is not recorded"

    def switch_off(policy: Policy) -> Policy:
        return policy.without(unrecorded=policy.unrecorded | {key}, omitted=policy.omitted | forward)

    return Suspect(
        code=CAUSE.code,
        site=operation.site,
        order=operation.index,
        message=(
            f"This {operation.label} computes {name}, on which the loss depends, but no tape recorded it ({why}): "
            f"nothing passes back through it to {case.life.name}."
        ),
        fix="Make it a plain launch inside `with tape:`.",
        array=name,
        route="outside the tape" if operation.within is None else "unrecorded inside the tape",
        switch_off=switch_off,
    )
