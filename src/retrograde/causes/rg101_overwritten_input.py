"""RG101: an operation overwrote what an earlier operation on the tape had read."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.causes.overwrites import SAME_OBJECT, Overwrite, overwrites, route_of
from retrograde.gradients.judge import Judgement
from retrograde.gradients.policy import Policy
from retrograde.gradients.segments import forerunners
from retrograde.trace.crossings import FROM_OUTSIDE
from retrograde.trace.operations import BUILT

CAUSE = Cause(
    code="RG101",
    name="overwritten-input",
    group="contents",
    summary="An operation changed values that an earlier operation on the tape had read.",
    finds=(
        "Writes (launches, copies, assignments, fills, writes through views, slices, struct fields or NumPy) to "
        "memory that an earlier taped operation had read. Proven by restoring those contents, and only those, for "
        "the adjoint of the earlier operation: the gradient must change."
    ),
    why=(
        "A tape keeps references, not contents. The adjoint of a kernel evaluates the kernel's arithmetic again from "
        "what its arrays hold when `backward()` runs. If they were overwritten meanwhile, it differentiates at the "
        "wrong point, and nothing says so: the forward result is untouched."
    ),
    fix="Write the new values to an array of their own; for a loop of N steps, allocate N + 1 states.",
    example_wrong="""
with tape:
    for step in range(steps):
        wp.launch(advance, dim=n, inputs=[a], outputs=[b])
        a, b = b, a                      # step 2 overwrites what step 1 read
""",
    example_right="""
states = [wp.zeros(n, dtype=float, requires_grad=True) for _ in range(steps + 1)]
with tape:
    for step in range(steps):
        wp.launch(advance, dim=n, inputs=[states[step]], outputs=[states[step + 1]])
""",
    known_problems=(
        "An overwrite that changes no value the adjoint needs (a linear kernel, the same numbers again) is harmless "
        "and is reported as RG508 instead."
    ),
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html#array-overwrites",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Call sites that overwrite what earlier operations had read, while the tape was open."""
    return [suspect_of(judgement, o, CAUSE.code) for o in overwrites(judgement.case) if not o.after_tape]


def suspect_of(judgement: Judgement, overwrite: Overwrite, code: str) -> Suspect:
    """The suspect for one overwriting call site."""
    recording = judgement.case.recording
    name = recording.name(overwrite.access.ref)
    read = recording.name(overwrite.read.ref)
    route = route_of(overwrite)
    known = name if name == read else f"{name} (the memory of {read})"
    when = "after the tape was closed, before backward," if overwrite.after_tape else ""
    # A write from outside also ends the adjoint of what was there before, which the tape does not know.
    from_outside = overwrite.writer.tape is None and overwrite.writer.kind in FROM_OUTSIDE
    key, echoed = overwrite.site.key, frozenset(forerunners(judgement.case).items())

    def switch_off(policy: Policy) -> Policy:
        changed = policy.without(stale=policy.stale | {key}, echoed=policy.echoed | echoed)
        return changed.without(uncleared=policy.uncleared | {key}) if from_outside else changed

    return Suspect(
        code=code,
        site=overwrite.site,
        order=overwrite.writer.index,
        message=(
            f"This {overwrite.writer.label} {when} overwrites {known}, which the {overwrite.reader.label} at line "
            f"{overwrite.reader.site.line} had read and needs again in backward."
        ).replace("  ", " "),
        fix=(
            f"Write to an {'object' if route == SAME_OBJECT else 'array'} of its own instead of {name}."
            if overwrite.writer.route != BUILT
            else f"Build an object of its own instead of {name}, or build {name} again only after backward."
        ),
        array=name,
        route=route,
        switch_off=switch_off,
        evidence={"reader_line": overwrite.reader.site.line, "reader": overwrite.reader.label},
    )
