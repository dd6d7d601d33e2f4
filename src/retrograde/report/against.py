"""The gradient that was used beside another implementation's: for machines, and for a person."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from retrograde.gradients.contrast import Against, Contrast, Dispute, Nature
from retrograde.report.figures import share
from retrograde.report.numbers import number

_MOST = 4


def against_document(against: Against) -> dict[str, Any]:
    """The comparison as a part of the JSON report."""
    return {
        "source": against.source,
        "unmatched": list(against.unmatched),
        "gradients": [
            {
                "parameter": contrast.parameter,
                "iteration": contrast.iteration,
                "nature": contrast.nature.value,
                "size": contrast.size,
                "differing": contrast.differing,
                "distance": number(contrast.distance),
                "conclusion": conclusion(contrast),
                "disputes": [_dispute(dispute) for dispute in contrast.disputes],
            }
            for contrast in against.contrasts
        ],
    }


def _dispute(dispute: Dispute) -> dict[str, Any]:
    values = {item.name: getattr(dispute, item.name) for item in fields(dispute)}
    return {name: number(value) if isinstance(value, float) else value for name, value in values.items()}


def against_parts(against: Against) -> list[RenderableType]:
    """The comparison for a terminal, part by part."""
    parts: list[RenderableType] = [Text.assemble(("against ", "dim"), (against.source, "bold"))]
    for contrast in against.contrasts:
        title = f"  {contrast.parameter}, iteration {contrast.iteration}: {_amount(contrast)}"
        parts += [Text(title), Padding(Text(conclusion(contrast)), (0, 0, 0, 4))]
        parts += [Padding(Text(_measured(dispute)), (0, 0, 0, 4)) for dispute in contrast.disputes[:_MOST]]
    if not against.contrasts:
        parts.append(Text("  No gradient in it has the name and the iteration of one that was judged."))
    if against.unmatched:
        parts.append(Text(f"  not compared: {', '.join(against.unmatched)}"))
    return parts


def _amount(contrast: Contrast) -> str:
    if contrast.nature is Nature.OTHER_SHAPE:
        return "another shape"
    if contrast.nature is Nature.AGREES:
        return f"agrees ({share(contrast.distance)} apart)"
    return f"{contrast.differing} of {contrast.size} elements differ, {share(contrast.distance)} apart"


def conclusion(contrast: Contrast) -> str:
    """What a disagreement means, in a sentence."""
    if contrast.nature is Nature.OTHER_SHAPE:
        return "The two cannot be compared."
    if contrast.nature is Nature.AGREES:
        return "Both are the same gradient, to rounding."
    if contrast.nature is Nature.KINKS:
        return "Sparse, at ties and kinks: there every slope between the one-sided ones is a derivative. No fault."
    extent = "Dense" if contrast.nature is Nature.DENSE else "Sparse"
    ours = [d.admits_ours for d in contrast.disputes]
    theirs = [d.admits_theirs for d in contrast.disputes]
    if False in ours and False in theirs:
        return f"{extent}: the measured slopes refute both."
    if False in ours:
        return f"{extent}: the measured slopes refute the gradient used. It is a fault."
    if False in theirs:
        return (
            f"{extent}: the measured slopes admit the gradient used and refute the other. The other implementation has "
            f"a fault, or differentiates another objective or other data."
        )
    return f"{extent}: the measured slopes do not tell which is right."


def _measured(dispute: Dispute) -> str:
    kink = "" if dispute.left is None else f", one-sided {dispute.left:.5g} and {dispute.right:.5g}"
    return (
        f"along {dispute.label}: measured {dispute.reference:.5g} ± {dispute.error:.1g}{kink}; "
        f"used {dispute.ours:.5g}, other {dispute.theirs:.5g}"
    )
