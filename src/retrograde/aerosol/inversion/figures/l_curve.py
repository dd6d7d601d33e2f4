"""Misfit against roughness over the strength of the prior, and the choice."""

# Matplotlib's annotations leave keyword arguments unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrograde.aerosol.inversion.figures._style import BLACK, BLUE, ORANGE, plain
from retrograde.aerosol.inversion.recovering import Recovery

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_l_curve(axes: Axes, recovery: Recovery) -> None:
    """Draw the L-curve with the strength that was chosen, and generalised cross-validation beside it.

    Args:
        axes: Axes to draw on.
        recovery: The answer.
    """
    curve = recovery.minimum.curve
    channels = recovery.problem.channels
    axes.loglog(curve.misfit / channels, curve.roughness, color=BLUE, marker=".", markersize=3, linewidth=1.0)
    chosen = int(np.argmin(np.abs(np.log(curve.strengths / curve.strength))))
    axes.plot(
        curve.misfit[chosen] / channels,
        curve.roughness[chosen],
        color=ORANGE,
        marker="o",
        markersize=8,
        fillstyle="none",
        linestyle="none",
        label=f"strength {curve.strength:.3g}, {curve.rule}",
    )
    for k in range(0, len(curve.strengths), 12):
        axes.annotate(
            f"{curve.strengths[k]:.0e}",
            (curve.misfit[k] / channels, curve.roughness[k]),
            (4, 4),
            textcoords="offset points",
            fontsize="x-small",
            color=BLACK,
        )
    plain(axes.xaxis)
    axes.set_xlabel("misfit / number of values")
    axes.set_ylabel("roughness")
    axes.legend(frameon=False, fontsize="small")
