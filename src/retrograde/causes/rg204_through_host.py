"""RG204: values leave for the host and come back as other arrays."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.causes.outside import last_read_before, links_by_site, suspect_of
from retrograde.gradients.judge import Judgement
from retrograde.gradients.ladder import Case
from retrograde.gradients.links import Link, Way
from retrograde.trace.crossings import crossing_refs

CAUSE = Cause(
    code="RG204",
    name="through-host",
    group="chain",
    summary="Values on the path from parameter to loss leave for the host and come back as a new array.",
    finds=(
        "Contents that the host writes (`wp.array(...)`, `assign`, `fill_`, writes through `.numpy()`) and that change "
        "when the parameter is perturbed and the program run again. Proven by connecting the link: what the host "
        "computes is differenced, and the gradient must change by what passes there."
    ),
    why=(
        "`.numpy()` ends the chain: what NumPy or SciPy make of the values is unknown to the tape, and an array built "
        "from the result is a constant to it. The loss is right; the gradient lacks that path, or is zero."
    ),
    fix="Do that step in a kernel, or record its adjoint with `Tape.record_func`.",
    example_wrong="""
with tape:
    wp.launch(respond, dim=n, inputs=[x, y])
    clean = wp.array(np.clip(y.numpy(), 0.0, 1.0), dtype=float, requires_grad=True)
    wp.launch(score, dim=n, inputs=[clean, loss])
""",
    example_right="""
with tape:
    wp.launch(respond, dim=n, inputs=[x, y])
    wp.launch(clip, dim=n, inputs=[y, clean])     # wp.clamp(y[i], 0.0, 1.0)
    wp.launch(score, dim=n, inputs=[clean, loss])
""",
    known_problems=(
        "With more than 24 elements in the parameter, what the host computes is measured along the directions that "
        "refuted the gradient, not for each element; plain copies are exact."
    ),
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Call sites where the host writes values that depend on the parameter."""
    return [_suspect(judgement.case, link) for link, _ in links_by_site(judgement.case, Way.HOST)]


def _suspect(case: Case, link: Link) -> Suspect:
    operation = link.operation
    name = case.recording.name(crossing_refs(operation.kind, operation.accesses)[0])
    read = last_read_before(case, operation) if link.copied is None else link.copied
    origin = f", which left for the host at line {read.site.line}" if read is not None else ""
    what = "the same values as were read" if link.copied is not None else "values that the host computed"
    message = (
        f"This {operation.kind.value} gives {name} {what}{origin}. They depend on {case.life.name}; to the tape they "
        f"are constants."
    )
    kernel = "Compute them in a kernel inside `with tape:`."
    fix = "Use wp.copy where they are only passed on." if link.copied is not None else kernel
    return suspect_of(case, link, CAUSE.code, message, fix, name)
