"""RG304: part of the gradient is counted more than once."""

from __future__ import annotations

from collections.abc import Iterator

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.gradients.judge import Judgement
from retrograde.gradients.ladder import Case
from retrograde.gradients.leftovers import begun_with_own
from retrograde.gradients.policy import Policy
from retrograde.trace.arrays import ArrayRef, root_of
from retrograde.trace.callsite import Key
from retrograde.trace.extents import Extent
from retrograde.trace.operations import Access, Operation

CAUSE = Cause(
    code="RG304",
    name="double-counted",
    group="bookkeeping",
    summary="A gradient, or a part of it, is counted more than once.",
    finds=(
        "Arrays with `retain_grad` that are written more than once; arrays that share one gradient buffer; backward "
        "passes that begin from a loss, or from gradients in buffers, which an earlier pass of the same iteration has "
        "been through already. Proven by putting each back into the sweep alone: the gradient must change."
    ),
    why=(
        "The adjoint of a write passes the gradient of the written element on and clears it, so that each write gets "
        "its own share. `retain_grad=True` leaves it there, and an earlier write of the element gets it too. Likewise "
        "two arrays with one gradient buffer get each other's gradients, and what a first `backward()` left in a "
        "buffer that nothing clears (a loss that is added to, for one) goes through the tape again in the second."
    ),
    fix=(
        "Drop the flag or write each array once; give every array a gradient of its own; add the losses into one array "
        "and run backward once."
    ),
    example_wrong="""
y = wp.zeros(n, dtype=float, requires_grad=True, retain_grad=True)
with tape:
    wp.launch(guess, dim=n, inputs=[x], outputs=[y])
    wp.launch(correct, dim=n, inputs=[x], outputs=[y])      # overwrites the guess
    wp.launch(score, dim=n, inputs=[y, loss])
""",
    example_right="""
y = wp.zeros(n, dtype=float, requires_grad=True)
with tape:
    wp.launch(guess, dim=n, inputs=[x], outputs=[y])
    wp.launch(correct, dim=n, inputs=[x], outputs=[y])
    wp.launch(score, dim=n, inputs=[y, loss])
""",
    known_problems=(
        "Gradients that earlier iterations left are RG301, launches that an earlier iteration left on the tape RG310."
    ),
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Retained, shared and repeated gradients."""
    case = judgement.case
    return [*_retained(case), *_shared(case), *_repeated(case), *_left_over(case), *_in_place(case)]


def _taped(case: Case) -> Iterator[tuple[Operation, Access]]:
    return ((o, a) for o in case.window.operations if o.tape is not None for a in o.accesses)


# -- retain_grad ---------------------------------------------------------------------------------------


def _retained(case: Case) -> list[Suspect]:
    """Arrays that keep their gradient although they are written several times."""
    groups: dict[Key | int, list[tuple[Operation, Access]]] = {}
    for operation, access in _taped(case):
        if access.ref.retain and access.usage.writes:
            root = root_of(access.ref.array)
            site = case.recording.sites.get(id(root))
            groups.setdefault(id(root) if site is None else site.key, []).append((operation, access))
    return [_suspect_of_retained(case, members) for members in groups.values()]


def _suspect_of_retained(case: Case, members: list[tuple[Operation, Access]]) -> Suspect:
    operation, access = members[0]
    kept = frozenset(id(a.ref.array) for _, a in members)
    root = root_of(access.ref.array)
    name = case.recording.names.get(id(root), case.recording.name(access.ref))
    lines = sorted({o.site.line for o, _ in members})

    def switch_off(policy: Policy) -> Policy:
        return policy.without(kept=policy.kept | kept)

    where = f"lines {', '.join(map(str, lines))}" if len(lines) > 1 else f"line {lines[0]}, more than once"
    return Suspect(
        code=CAUSE.code,
        site=case.recording.sites.get(id(root), operation.site),
        order=operation.index,
        message=f"{name} has retain_grad and is written at {where}: every write gets the gradient of the last one.",
        fix=f"Allocate {name} without retain_grad, or write it once.",
        array=name,
        route="retain_grad",
        switch_off=switch_off,
        evidence={"written_at": [float(line) for line in lines]},
    )


# -- shared buffers ------------------------------------------------------------------------------------


def _shared(case: Case) -> list[Suspect]:
    """Arrays whose gradient buffer is also that of other memory."""
    owners: dict[Extent, tuple[Operation, ArrayRef]] = {}
    joined: dict[tuple[Extent, int], tuple[Operation, ArrayRef, ArrayRef]] = {}
    for operation, access in _taped(case):
        ref, gradient = access.ref, access.ref.gradient_extent
        if gradient is None:
            continue
        owner = next(((o, r) for e, (o, r) in owners.items() if e.contains(gradient)), None)
        if owner is None:
            owners[gradient] = (operation, ref)
            continue
        whole = owner[1].gradient_extent
        assert whole is not None
        low = owner[1].extent.low + gradient.low - whole.low
        if low != ref.extent.low and not ref.extent.overlaps(owner[1].extent):
            joined.setdefault((ref.extent, low), (operation, ref, owner[1]))
    return [_suspect_of_shared(case, pair, *found) for pair, found in joined.items()]


def _suspect_of_shared(
    case: Case, pair: tuple[Extent, int], operation: Operation, ref: ArrayRef, owner: ArrayRef
) -> Suspect:
    first, second = case.recording.name(owner), case.recording.name(ref)

    def switch_off(policy: Policy) -> Policy:
        return policy.without(joined=policy.joined | {pair})

    return Suspect(
        code=CAUSE.code,
        site=case.recording.sites.get(id(root_of(ref.array)), operation.site),
        order=operation.index,
        message=f"{first} and {second} share one gradient buffer: each gets the other's gradient as well.",
        fix=f"Give {second} a gradient of its own (requires_grad=True, without grad=).",
        array=second,
        route="shared gradient buffer",
        switch_off=switch_off,
    )


# -- repeated passes -----------------------------------------------------------------------------------


def _repeated(case: Case) -> list[Suspect]:
    """Backward passes from a loss that an earlier one began with."""
    repeats = case.objective.repeats
    if not repeats:
        return []
    indices = frozenset(r.index for r in repeats)
    operation = case.recording.operations[repeats[0].index]
    first = next(o for o in case.life.backwards if o.tape == operation.tape)
    name = case.recording.name(repeats[0].ref)

    def switch_off(policy: Policy) -> Policy:
        return policy.without(repeats=True, leftovers=policy.leftovers | indices)

    return [
        Suspect(
            code=CAUSE.code,
            site=operation.site,
            order=operation.index,
            message=(
                f"Backward runs from {name} again, after line {first.site.line} and with nothing computed anew in "
                f"between: its gradient is counted {len(repeats) + 1} times."
            ),
            fix="Remove this call.",
            array=name,
            route="backward from one loss twice",
            switch_off=switch_off,
        )
    ]


def _left_over(case: Case) -> list[Suspect]:
    """Passes that begin with gradients which an earlier pass of the same life left in buffers between."""
    repeated = {r.index for r in case.objective.repeats}
    held = [o for o in begun_with_own(case) if o.index not in repeated]
    if not held:
        return []
    indices = frozenset(o.index for o in held)
    operation = held[0]

    def switch_off(policy: Policy) -> Policy:
        return policy.without(leftovers=policy.leftovers | indices)

    return [
        Suspect(
            code=CAUSE.code,
            site=operation.site,
            order=operation.index,
            message=(
                "The gradients of an earlier backward pass of this iteration were still in buffers of this tape (a "
                "loss, or arrays between) when this one began, and were propagated again."
            ),
            fix="Zero the tape between the two backward calls, or add the losses into one array and run backward once.",
            array=None,
            route="buffers between parameter and loss",
            switch_off=switch_off,
        )
    ]


# -- torch ---------------------------------------------------------------------------------------------


def _in_place(case: Case) -> list[Suspect]:
    """Gradients that lay in torch's own buffer when they were returned to torch, which adds them to it."""
    inner = [c for c in case.inner if case.is_in_place(c.life)]
    if not inner:
        return []
    operation = inner[0].life.backwards[-1]
    taken = case.recording.sites.get(id(root_of(inner[0].life.ref.array)), operation.site)
    return [
        Suspect(
            code=CAUSE.code,
            site=taken,
            order=operation.index,
            message=(
                f"Warp's gradient of {case.life.name} lies in the tensor's own .grad, where from_torch puts it for a "
                f"tensor that requires one. Returned to torch, it is added to itself."
            ),
            fix=f"Take {case.life.name}.detach() with from_torch, so that Warp's array gets a gradient of its own.",
            array=case.life.name,
            route="one buffer for torch's gradient and Warp's",
            repaired=case.handed_over(),
        )
    ]
