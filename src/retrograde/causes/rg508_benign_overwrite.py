"""RG508: an overwrite that changes no gradient."""

from __future__ import annotations

from collections.abc import Sequence

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect, gap, resolution
from retrograde.causes.overwrites import overwrites, route_of
from retrograde.gradients.judge import Judgement, Opinion
from retrograde.gradients.ladder import Case
from retrograde.gradients.policy import IDEAL
from retrograde.trace.callsite import Key

CAUSE = Cause(
    code="RG508",
    name="benign-overwrite",
    group="remarks",
    summary="Something overwrites what the tape had read, and the gradient does not mind.",
    finds=(
        "Overwrites as in RG101 and RG103 whose contents, put back for the adjoint of the earlier operation, leave the "
        "gradient as it was: the same values were written, or the adjoint never needed them."
    ),
    why=(
        "Warp's overwrite tracker warns of them. The adjoint of a linear kernel does not read its input, and writing "
        "the same values back changes nothing. The next change of the kernel may make it a fault."
    ),
    fix="None needed.",
    example_wrong="wp.launch(diffuse, dim=n, inputs=[a, b]); a, b = b, a     # diffuse is linear",
    example_right="wp.launch(diffuse, dim=n, inputs=[states[k], states[k + 1]])",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html#array-overwrite-tracking",),
)


def remark(judgements: Sequence[Judgement]) -> list[Suspect]:
    """Overwrites that were put back and made no difference, one an array."""
    if any(j.opinion is Opinion.WRONG for j in judgements):
        return []
    found: dict[int, Suspect] = {}
    looked_at: set[Key] = set()
    for judgement in judgements:
        case = judgement.case
        fresh = [o for o in overwrites(case) if o.site.key not in looked_at]
        if not fresh:
            continue
        together = _benign(case, frozenset(o.site.key for o in fresh))
        for overwrite in fresh:
            key = overwrite.site.key
            if key in looked_at or overwrite.access.ref.pointer in found:
                continue
            looked_at.add(key)
            if not together and not _benign(case, frozenset({key})):
                continue
            name = case.recording.name(overwrite.access.ref)
            what = "values that backward does not need" if overwrite.changed else "the same values again"
            found[overwrite.access.ref.pointer] = Suspect(
                code=CAUSE.code,
                site=overwrite.site,
                order=overwrite.writer.index,
                message=(
                    f"This {overwrite.writer.label} overwrites {name}, which the {overwrite.reader.label} at line "
                    f"{overwrite.reader.site.line} had read: {what}. Putting the old contents back changes nothing."
                ),
                fix=CAUSE.fix,
                array=name,
                route=route_of(overwrite),
            )
    return list(found.values())


def _benign(case: Case, keys: frozenset[Key]) -> bool:
    """Whether the gradient stays the same when some overwrites are not undone."""
    return gap(case.sweep(IDEAL.without(stale=keys)), case.ideal) <= resolution(case)
