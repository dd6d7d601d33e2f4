"""RG102: one kernel reads an element and then changes it."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.gradients.judge import Judgement
from retrograde.gradients.launch_test import multiplies, rewritten_paths
from retrograde.gradients.sweep import Moment, Policy, Treatment
from retrograde.trace.callsite import CallSite, Key
from retrograde.trace.operations import Operation

CAUSE = Cause(
    code="RG102",
    name="overwritten-in-kernel",
    group="contents",
    summary="One kernel reads an array element and then overwrites it.",
    finds=(
        "Launches whose own derivative test fails on the contents from after the launch. Proven by giving the "
        "launch's adjoint the contents from before it (or, where neither will do, by the derivative of the launch "
        "itself): the gradient must change, and the launch's test must pass."
    ),
    why=(
        "The adjoint of a launch repeats its loads but not its stores, so a load that came before the store sees what "
        "the store left. An in-place clamp, for instance, decides its branch again from the clamped value."
    ),
    fix="Write the new value to another array.",
    example_wrong="""
@wp.kernel
def wear(force: wp.array(dtype=float), pad: wp.array(dtype=float), heat: wp.array(dtype=float)):
    i = wp.tid()
    heat[i] = force[i] * pad[i]
    pad[i] = 0.9 * pad[i]
""",
    example_right="""
@wp.kernel
def wear(force: wp.array(dtype=float), pad: wp.array(dtype=float), worn: wp.array(dtype=float),
         heat: wp.array(dtype=float)):
    i = wp.tid()
    heat[i] = force[i] * pad[i]
    worn[i] = 0.9 * pad[i]
""",
    known_problems="A kernel that reads back what it has just written is right, and passes its launch test as it is.",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html#array-overwrites",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Launches that need contents from before themselves."""
    found: dict[Key, Suspect] = {}
    for operation in judgement.case.window.launches:
        treatment = judgement.case.treatments.get(operation.index)
        if treatment is None or not _needs_before(operation, treatment) or operation.site.key in found:
            continue
        found[operation.site.key] = _suspect(judgement, operation, treatment)
    return list(found.values())


def _needs_before(operation: Operation, treatment: Treatment) -> bool:
    if Moment.BEFORE in treatment.by_array.values():
        return True
    return treatment.vjp is not None and bool(rewritten_paths(operation)) and not multiplies(operation)


def _suspect(judgement: Judgement, operation: Operation, treatment: Treatment) -> Suspect:
    call = operation.launch
    assert call is not None
    recording = judgement.case.recording
    paths = [p for p, m in treatment.by_array.items() if m is Moment.BEFORE] or rewritten_paths(operation)
    accesses = [a for a in operation.accesses if a.path in paths]
    if any(a.usage.over for a in accesses):
        accesses = [a for a in accesses if a.usage.over]
        paths = [a.path for a in accesses]
    names = ", ".join(dict.fromkeys(recording.name(a.ref) for a in accesses))
    fields = ", ".join(".".join(p) for p in paths)
    lines = sorted({line for a in accesses for line in (a.usage.over or a.usage.lines)})
    sites = {o.site.key for o in judgement.case.window.launches if o.launch and o.launch.kernel is call.kernel}

    def switch_off(policy: Policy) -> Policy:
        return policy.without(stale=policy.stale | sites, stale_own=policy.stale_own | sites)

    site = operation.site
    if lines:
        site = CallSite(call.kernel.adj.filename, lines[0], call.kernel.key)
    return Suspect(
        code=CAUSE.code,
        site=site,
        order=operation.index,
        message=(
            f"Kernel {call.kernel.key} reads {fields} and then overwrites it; backward re-reads the new value. "
            f"Launched at line {operation.site.line}, its own derivative test was off by {treatment.discrepancy:.2g}."
        ),
        fix=f"Write the new value of {fields} to another array.",
        array=names or None,
        route="field of a struct" if any(len(p) > 1 for p in paths) else "same array",
        switch_off=switch_off,
        evidence={"launch_line": operation.site.line, "launch_test": treatment.discrepancy, "proof": treatment.route},
    )
