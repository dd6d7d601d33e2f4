"""RG306: a horizon split by hand is not the gradient of the whole."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.gradients.judge import Judgement
from retrograde.gradients.ladder import Case
from retrograde.gradients.policy import Policy
from retrograde.gradients.segments import (
    Cut,
    first_readings,
    is_carried,
    is_split,
    leaves_of,
    lost_with,
    other_start,
    rebuilt_by_host,
    repeated_launches,
)
from retrograde.trace.callsite import CallSite
from retrograde.trace.operations import Operation

CAUSE = Cause(
    code="RG306",
    name="broken-checkpoint",
    group="bookkeeping",
    summary="Checkpointing written by hand does not give the gradient of the whole horizon.",
    finds=(
        "Segments with a tape each, run backward one after the other, each seeded with the gradient of the next one's "
        "start. Looked for: states of a segment's start whose gradient no earlier segment is seeded with, and segments "
        "that are run again from other contents than the forward pass had there. Proven by losing that gradient, or "
        "by taking those contents, in a sweep over the whole forward pass: the gradient must change as the user's did."
    ),
    why=(
        "The gradient passes from segment to segment through all that the state consists of. If the velocity's part is "
        "not handed on, or a segment is linearised about another trajectory, each segment alone is still right, and "
        "the whole is not."
    ),
    fix=(
        "Seed every segment with the gradients of all arrays that the next one starts from; keep a copy of each start, "
        "not a reference to memory that is used again."
    ),
    example_wrong="""
tape.backward(grads={x_end: x_next.grad})                        # v_end gets none
""",
    example_right="""
tape.backward(grads={x_end: x_next.grad, v_end: v_next.grad})
""",
    known_problems=(
        "A gradient that is changed on its way from one segment to the next, on the host, is taken for a seed of its "
        "own. Segments none of which is seeded by the next are RG307."
    ),
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """States that are not carried across a seam, and segments that start elsewhere."""
    case = judgement.case
    if not is_split(case):
        return []
    return [*_lost(case), *_elsewhere(case)]


def _lost(case: Case) -> list[Suspect]:
    """Arrays of the state whose gradient no other segment is seeded with."""
    groups: dict[tuple[object, ...], list[tuple[Operation, str, list[Cut]]]] = {}
    for backward in case.life.backwards:
        for reader, ref, path in leaves_of(case, backward):
            if is_carried(case, backward, ref) or rebuilt_by_host(case, backward, reader, ref) is not None:
                continue
            cuts = [cut for cut in lost_with(case, backward, reader, ref) if cut[0] >= case.window.first]
            if cuts:
                role = (reader.label, path)
                groups.setdefault(role, []).append((backward, case.recording.name(ref), cuts))
    return [_suspect_of_lost(case, members) for members in groups.values()]


def _suspect_of_lost(case: Case, members: list[tuple[Operation, str, list[Cut]]]) -> Suspect:
    cuts = frozenset(cut for _, _, found in members for cut in found)
    backward, name, _ = members[0]
    following = [o for o in case.life.backwards if o.index > backward.index]
    continuing = [o for o in following if o.backward is not None and o.backward.continues]
    site = next((o.site for o in (*continuing, *following)), backward.site)

    def switch_off(policy: Policy) -> Policy:
        return policy.without(cuts=policy.cuts | cuts)

    return Suspect(
        code=CAUSE.code,
        site=site,
        order=backward.index,
        message=(
            f"The backward pass of a segment leaves a gradient for {name}, which the segment starts from, and no "
            f"earlier segment is seeded with it: this part of the state is not carried across "
            f"{len(members)} seam{'s' if len(members) > 1 else ''}."
        ),
        fix=f"Seed the array that the segment before ends with by the gradient of {name}.",
        array=name,
        route="gradient not carried",
        switch_off=switch_off,
        evidence={"seams": len(members), "backward_line": backward.site.line},
    )


def _elsewhere(case: Case) -> list[Suspect]:
    """Segments that are run again from other contents than those of the forward pass."""
    lent: set[tuple[int, int]] = set()
    starts: list[tuple[tuple[int, int], float]] = []
    for pairs in repeated_launches(case).values():
        found = ((pair, other_start(case, pair)) for pair in first_readings(case, pairs))
        parting = next((f for f in found if f[1] > 1e-6), None)
        if parting is not None:
            lent |= set(pairs)
            starts.append(parting)
    if not starts:
        return []
    (again, first), distance = max(starts, key=lambda s: s[1])
    operation, forward = case.recording.operations[again], case.recording.operations[first]
    pairs = frozenset(lent)

    def switch_off(policy: Policy) -> Policy:
        return policy.without(lent=policy.lent | pairs)

    return [
        Suspect(
            code=CAUSE.code,
            site=_parting(operation.site, forward.site),
            order=operation.index,
            message=(
                f"A segment is run again from another start than its own: what {operation.label} at line "
                f"{operation.site.line} reads differs by {distance:.2g} of its size from what it read in the forward "
                f"pass ({len(starts)} segment{'s' if len(starts) > 1 else ''})."
            ),
            fix="Keep a copy of each segment's start in the forward pass, and begin from it.",
            array=case.recording.name(operation.accesses[0].ref),
            route="another start",
            switch_off=switch_off,
            evidence={"segments": len(starts), "distance": distance, "forward_line": forward.site.line},
        )
    ]


def _parting(again: CallSite, first: CallSite) -> CallSite:
    """The innermost line that the repetition does not share with the forward pass."""
    known = set(first.chain)
    for file, line, instruction in again.chain:
        if (file, line, instruction) not in known:
            return CallSite(file, line, again.function)
    return again
