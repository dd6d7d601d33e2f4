"""RG510: the number reported is not the loss that was differentiated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.gradients.judge import Judgement, Opinion
from retrograde.gradients.ladder import Case
from retrograde.trace.arrays import ArrayRef
from retrograde.trace.operations import Kind, Operation
from retrograde.trace.plan import values_in

CAUSE = Cause(
    code="RG510",
    name="reported-loss",
    group="remarks",
    summary="The number that the program reports is not the loss that it differentiates; the gradient is right.",
    finds=(
        "Losses that are added to what earlier iterations left in them, and losses that the host reads only before "
        "they are computed or after they were replaced. Shown by the contents of the loss: before its first write, and "
        "at each reading."
    ),
    why=(
        "A loss that is never cleared grows although training works: each iteration adds its own, and the gradient of "
        "a sum by its last term is that of the term. A loss read after `zero_()` is always zero."
    ),
    fix="Clear the loss before each iteration (`loss.zero_()`), and read it between computing and clearing it.",
    example_wrong="""
for iteration in range(n):
    with wp.Tape() as tape:
        wp.launch(energy, dim=n, inputs=[x, loss])       # atomic_add to what is there
    tape.backward(loss)
    print(loss.numpy())
""",
    example_right="""
for iteration in range(n):
    loss.zero_()
    with wp.Tape() as tape:
        wp.launch(energy, dim=n, inputs=[x, loss])
    tape.backward(loss)
    print(loss.numpy())
""",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html",),
)


def remark(judgements: Sequence[Judgement]) -> list[Suspect]:
    """Losses that are reported otherwise than they are differentiated, each once."""
    if any(j.opinion is Opinion.WRONG for j in judgements):
        return []
    found: dict[str, Suspect] = {}
    for judgement in judgements:
        case = judgement.case
        for backward in case.life.backwards:
            loss = backward.backward.loss if backward.backward is not None else None
            if loss is not None and case.recording.name(loss) not in found:
                suspect = _running_sum(case, backward, loss) or _read_elsewhere(case, backward, loss)
                if suspect is not None:
                    found[case.recording.name(loss)] = suspect
    return list(found.values())


def _neighbours(case: Case, backward: Operation, loss: ArrayRef) -> tuple[int, int | None]:
    """Where the loss may have been written and read for a pass: after the pass before, until the next of the same."""
    passes = [
        o.index
        for o in case.recording.operations
        if o.backward is not None and o.backward.loss is not None and o.backward.loss.extent == loss.extent
    ]
    before = max((i for i in passes if i < backward.index), default=-1)
    return before, min((i for i in passes if i > backward.index), default=None)


def _readings(case: Case, loss: ArrayRef, begin: int, end: int) -> list[tuple[Operation, float]]:
    return [
        (o, float(values_in(o.data, o.accesses[0].ref.extent, o.accesses[0].ref).sum()))
        for o in case.recording.operations[begin:end]
        if o.kind is Kind.HOST_READ and o.data is not None and o.accesses[0].ref.extent == loss.extent
    ]


def _running_sum(case: Case, backward: Operation, loss: ArrayRef) -> Suspect | None:
    """A loss that began with what the pass of an earlier iteration had begun from."""
    before, after = _neighbours(case, backward, loss)
    writers = [
        (o, a)
        for o in case.recording.operations[before + 1 : backward.index]
        for a in o.accesses
        if a.usage.writes and a.ref.extent.overlaps(loss.extent)
    ]
    if before < case.window.first and before >= 0 and writers and all(a.usage.accumulate for _, a in writers):
        first = writers[0][0]
        kept = [u for u in case.recording.undo.get(first.index, ()) if u.extent == loss.extent]
        old = float(values_in(kept[0].data, loss.extent, loss).sum()) if kept else 0.0
        earlier = case.recording.operations[before].backward
        readings = _readings(case, loss, backward.index, len(case.recording.operations) if after is None else after)
        known = earlier is not None and earlier.value is not None and np.isclose(old, earlier.value, rtol=1e-6)
        if old != 0.0 and known and readings:
            name = case.recording.name(loss)
            return _suspect(
                case,
                first,
                loss,
                f"{name} still holds {old:.6g} of earlier iterations when this {first.label} adds to it: what is "
                f"reported at line {readings[0][0].site.line} is the sum of all iterations so far, and the gradient is "
                f"that of the last one, as it should be.",
                "never cleared",
            )
    return None


def _read_elsewhere(case: Case, backward: Operation, loss: ArrayRef) -> Suspect | None:
    """A loss that is read, and never when it held what was differentiated."""
    before, after = _neighbours(case, backward, loss)
    value = case.objective.value if len(case.life.backwards) == 1 else None
    if after is None or value is None:
        return None
    readings = _readings(case, loss, before + 1, after)
    if not readings or any(np.isclose(read, value, rtol=1e-6, atol=0.0) for _, read in readings):
        return None
    late = [r for r in readings if r[0].index > backward.index]
    operation, read = late[0] if late else readings[-1]
    name = case.recording.name(loss)
    when = "after it was replaced" if late else "before it is computed"
    return _suspect(
        case,
        operation,
        loss,
        f"{name} is read here {when}: it holds {read:.6g}, while backward began from {value:.6g}.",
        "read too late" if late else "read too early",
    )


def _suspect(case: Case, operation: Operation, loss: ArrayRef, message: str, route: str) -> Suspect:
    return Suspect(
        code=CAUSE.code,
        site=operation.site,
        order=operation.index,
        message=message,
        fix=CAUSE.fix,
        array=case.recording.name(loss),
        route=route,
    )
