"""RG310: a tape is entered again without a reset, so that it replays earlier launches too."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.gradients.judge import Judgement
from retrograde.gradients.policy import Policy
from retrograde.trace.operations import Kind, Operation

CAUSE = Cause(
    code="RG310",
    name="reused-tape",
    group="bookkeeping",
    summary="A tape was entered again without `reset()`: backward replays earlier iterations' launches too.",
    finds=(
        "Tapes that hold operations which an earlier `backward()` has been through already. Proven by running these "
        "once more in the sweep, as the tape does, on present contents: the gradient must change as the user's did."
    ),
    why=(
        "Entering a tape appends to what it holds. `backward()` goes through all of it: the launches of this "
        "iteration, then those of every earlier one, with the gradients that are in the buffers by then and the "
        "contents that the arrays have now. Gradients grow with the number of iterations, and so does the time of each."
    ),
    fix="Make a new tape in each iteration, or call `tape.reset()` before entering it again.",
    example_wrong="""
tape = wp.Tape()
for iteration in range(n):
    with tape:
        wp.launch(energy, dim=n, inputs=[x, loss])
    tape.backward(loss)
    optimizer.step([x.grad])
    tape.zero()                          # clears gradients, keeps launches
""",
    example_right="""
for iteration in range(n):
    tape = wp.Tape()
    with tape:
        wp.launch(energy, dim=n, inputs=[x, loss])
    tape.backward(loss)
    optimizer.step([x.grad])
    tape.zero()
""",
    known_problems=(
        "Where every iteration uses arrays of its own and all gradients are cleared, the earlier launches pass nothing "
        "on: the gradient is right, and only time and memory grow."
    ),
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Tapes of this life's backward passes that hold what an earlier backward pass went through."""
    found = [(o, old) for o in judgement.case.life.backwards if (old := _gone_through(judgement, o))]
    if not found:
        return []
    tapes = frozenset(o.tape for o, _ in found if o.tape is not None)
    return [_suspect(judgement, *found[0], tapes)]


def _gone_through(judgement: Judgement, backward: Operation) -> list[Operation]:
    """Operations on a pass's tape from before this life, with a backward pass of the same tape after them."""
    case = judgement.case
    operations = case.recording.operations
    passes = [o.index for o in operations if o.kind is Kind.BACKWARD and o.tape == backward.tape]
    earlier = max((i for i in passes if i < case.window.first), default=-1)
    return [o for o in operations[: earlier + 1] if o.tape == backward.tape and o.kind in (Kind.LAUNCH, Kind.COPY)]


def _suspect(judgement: Judgement, backward: Operation, old: list[Operation], tapes: frozenset[int]) -> Suspect:
    recording, tape = judgement.case.recording, backward.tape
    mine = [o for o in judgement.case.window.operations if o.tape == tape and o.kind in (Kind.LAUNCH, Kind.COPY)]
    passes = len([o for o in recording.operations[: backward.index] if o.kind is Kind.BACKWARD and o.tape == tape])

    def switch_off(policy: Policy) -> Policy:
        return policy.without(again=policy.again | tapes)

    return Suspect(
        code=CAUSE.code,
        site=backward.site,
        order=old[0].index,
        message=(
            f"This tape was entered {passes} time{'s' if passes > 1 else ''} before without reset(): backward goes "
            f"through {len(old)} earlier operations besides the {len(mine)} of this iteration."
        ),
        fix="Make a new tape for each iteration, or call tape.reset() before entering it again.",
        array=judgement.case.life.name,
        route="tape entered again",
        switch_off=switch_off,
        evidence={"earlier_operations": len(old), "earlier_passes": passes, "first_line": old[0].site.line},
    )
