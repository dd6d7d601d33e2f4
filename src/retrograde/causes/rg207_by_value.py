"""RG207: the parameter reaches kernels as a plain number."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.causes.outside import last_read_before, links_by_site, suspect_of
from retrograde.gradients.judge import Judgement
from retrograde.gradients.ladder import Case
from retrograde.gradients.links import Link, Way

CAUSE = Cause(
    code="RG207",
    name="by-value",
    group="chain",
    summary="A parameter, or what depends on one, reaches a kernel as a plain number.",
    finds=(
        "Numbers, vectors and matrices handed to launches by value, alone or in structs, that change when the "
        "parameter is perturbed and the program run again. Proven by connecting them: the launch is differenced by "
        "the number, and the gradient must change by what passes there."
    ),
    why=(
        "Adjoints travel in arrays. A number is a constant of the launch: whatever the loss owes to it has no gradient "
        "anywhere, and an array from which the number was read gets none through it."
    ),
    fix="Hand over the array and index it in the kernel.",
    example_wrong="wp.launch(fall, dim=n, inputs=[t, float(gravity.numpy()[0]), height])",
    example_right="wp.launch(fall, dim=n, inputs=[t, gravity, height])      # gravity[0] in the kernel",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Launches that were given numbers which depend on the parameter."""
    return [_suspect(judgement.case, members) for _, members in links_by_site(judgement.case, Way.NUMBER)]


def _suspect(case: Case, members: tuple[Link, ...]) -> Suspect:
    link = members[0]
    operation = link.operation
    labels = ", ".join(dict.fromkeys(label for m in members for label in m.labels))
    read = last_read_before(case, operation)
    origin = f" (read on the host at line {read.site.line})" if read is not None else ""
    message = (
        f"This {operation.label} is given {labels} as a plain number{origin}. It depends on {case.life.name}, and no "
        f"gradient passes back through a number."
    )
    return suspect_of(case, link, CAUSE.code, message, f"Hand over an array in place of {labels}.", case.life.name)
