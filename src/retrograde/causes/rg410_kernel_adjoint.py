"""RG410: a launch whose adjoint is not its derivative."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect, kernel_site
from retrograde.gradients.judge import Judgement
from retrograde.gradients.policy import Policy

CAUSE = Cause(
    code="RG410",
    name="kernel-adjoint",
    group="kernels",
    summary="The adjoint of one launch is not the derivative of that launch.",
    finds=(
        "Launches whose own derivative test fails with the contents that ran, and that no twin of their kernel cures "
        "(see the other causes of this group). Proven by putting the derivative of the "
        "launch, by differences, in place of its adjoint: the gradient must change."
    ),
    why=(
        "Warp generates an adjoint for each kernel. Some constructs (a product accumulated in a loop with a run-time "
        "bound, `*=` on an array element, a custom gradient that is not the derivative, a singular point) make it "
        "something else than the derivative, silently."
    ),
    fix="Rewrite the construct; see the section on limitations in Warp's documentation.",
    example_wrong="""
phase = wp.mod(t[i], period[0])          # Warp gives the divisor no adjoint
""",
    example_right="""
phase = t[i] - wp.trunc(t[i] / period[0]) * period[0]
""",
    known_problems=(
        "The launch is named, and no line inside the kernel. Launches that touch more than about a thousand scalars "
        "are not differenced whole; their fault stays unexplained."
    ),
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html#limitations-and-workarounds",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Kernels whose launches failed their own test."""
    found: dict[str, Suspect] = {}
    for operation in judgement.case.window.launches:
        treatment = judgement.case.treatments.get(operation.index)
        call = operation.launch
        if treatment is None or treatment.vjp is None or treatment.reasons or call is None:
            continue
        if treatment.hinges:
            continue
        if call.kernel.key in found:
            continue
        key = call.kernel.key

        def switch_off(policy: Policy, key: str = key) -> Policy:
            return policy.without(plain_adjoint=policy.plain_adjoint | {key})

        found[key] = Suspect(
            code=CAUSE.code,
            site=kernel_site(operation),
            order=operation.index,
            message=(
                f"The adjoint of kernel {key}, launched at line {operation.site.line}, is not its derivative: tested "
                f"alone it is off by {treatment.discrepancy:.2g} of the size of its terms."
            ),
            fix=f"Rewrite what Warp cannot differentiate in {key}.",
            array=None,
            route="launch test",
            switch_off=switch_off,
            evidence={"launch_line": operation.site.line, "launch_test": treatment.discrepancy},
        )
    return list(found.values())
