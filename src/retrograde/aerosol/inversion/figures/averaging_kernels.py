"""Which true sizes each recovered size consists of."""

# Matplotlib's annotations leave keyword arguments unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrograde.aerosol.inversion.figures._style import NANOMETRES, size_axis
from retrograde.aerosol.inversion.recovering import Recovery

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROWS = 7
_DASHES = ("-", "--", "-.", ":")


def draw_averaging_kernels(axes: Axes, recovery: Recovery) -> None:
    """Draw some rows of the averaging kernel, and the share of each unknown that the data determine.

    Args:
        axes: Axes to draw on.
        recovery: The answer.
    """
    kernel = recovery.state.uncertainty.averaging_kernel
    diameters = recovery.state.unknown.diameters * NANOMETRES
    rows = np.unique(np.linspace(0, len(kernel) - 1, _ROWS).round().astype(int))
    for n, (row, shade) in enumerate(zip(rows, np.linspace(0.0, 0.6, len(rows)), strict=True)):
        axes.plot(diameters, kernel[row], color=str(shade), linestyle=_DASHES[n % 4], linewidth=1.1)
        axes.plot(diameters[row], kernel[row, row], color=str(shade), marker="v", markersize=5)
    axes.plot(diameters, np.diagonal(kernel), color="#0072b2", linewidth=2.0, alpha=0.6, label="determined by the data")
    axes.axhline(0.0, color="0.8", linewidth=0.8)
    size_axis(axes)
    axes.set_ylabel("averaging kernel")
    axes.set_ylim(-0.7, 1.1)
    signal = recovery.state.uncertainty.degrees_of_freedom
    axes.legend(
        frameon=False,
        fontsize="small",
        loc="lower right",
        title=f"{signal:.1f} degrees of freedom of {len(kernel)}",
        title_fontsize="small",
    )
