"""RG204: values leave for the host and come back as other arrays."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.causes.outside import last_read_before, links_by_site, suspect_of
from retrograde.gradients.judge import Judgement
from retrograde.gradients.ladder import Case
from retrograde.gradients.links import Link, Way
from retrograde.gradients.policy import Policy
from retrograde.gradients.segments import (
    Argument,
    is_carried,
    is_split,
    leaves_of,
    readings_of,
    rebuilt_by_host,
    same_bytes,
    severed_in_forward,
)
from retrograde.trace.callsite import Key
from retrograde.trace.crossings import crossing_refs
from retrograde.trace.operations import Operation

CAUSE = Cause(
    code="RG204",
    name="through-host",
    group="chain",
    summary="Values on the path from parameter to loss leave for the host and come back as a new array.",
    finds=(
        "Contents that the host writes (`wp.array(...)`, `assign`, `fill_`, writes through `.numpy()`) and that change "
        "when the parameter is perturbed and the program run again. Proven by connecting the link: what the host "
        "computes is differenced, and the gradient must change by what passes there. In a segment that is run again "
        "for its backward pass only gradients pass: there, arrays that the host built from what it read while the tape "
        "was open; proven by losing the gradients of the same arguments in the forward pass."
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
    case = judgement.case
    return [*(_suspect(case, link) for link, _ in links_by_site(case, Way.HOST)), *_in_repetitions(case)]


def _suspect(case: Case, link: Link) -> Suspect:
    operation = link.operation
    read = last_read_before(case, operation) if link.copied is None else link.copied
    message, fix, name = _words(case, operation, read, copied=link.copied is not None)
    return suspect_of(case, link, CAUSE.code, message, fix, name)


def _words(case: Case, operation: Operation, read: Operation | None, copied: bool) -> tuple[str, str, str]:
    """Message, fix and the name of the array."""
    name = case.recording.name(crossing_refs(operation.kind, operation.accesses)[0])
    origin = f", which left for the host at line {read.site.line}" if read is not None else ""
    what = "the same values as were read" if copied else "values that the host computed"
    message = (
        f"This {operation.kind.value} gives {name} {what}{origin}. They depend on {case.life.name}; to the tape they "
        f"are constants."
    )
    fix = "Use wp.copy where they are only passed on." if copied else "Compute them in a kernel inside `with tape:`."
    return message, fix, name


def _in_repetitions(case: Case) -> list[Suspect]:
    """Host writes in segments that are run again: no value of the objective passes there, only gradients should."""
    found: dict[Key, tuple[Operation, set[Argument]]] = {}
    for backward in case.life.backwards if is_split(case) else ():
        for reader, ref, _ in leaves_of(case, backward):
            write = rebuilt_by_host(case, backward, reader, ref)
            if write is not None and not is_carried(case, backward, ref):
                _, severed = found.setdefault(write.site.key, (write, set()))
                severed |= severed_in_forward(case, readings_of(case, backward, ref))
    return [_repeated(case, write, frozenset(severed)) for write, severed in found.values() if severed]


def _repeated(case: Case, write: Operation, severed: frozenset[Argument]) -> Suspect:
    read = last_read_before(case, write)
    copied = read is not None and same_bytes(read.data, write.data)
    message, fix, name = _words(case, write, read, copied)

    def switch_off(policy: Policy) -> Policy:
        return policy.without(severed=policy.severed | severed)

    return Suspect(
        code=CAUSE.code,
        site=write.site,
        order=write.index,
        message=message,
        fix=fix,
        array=name,
        route=f"{Way.HOST.value}, in a segment run again",
        switch_off=switch_off,
        evidence={"read_line": read.site.line if read is not None else None},
    )
