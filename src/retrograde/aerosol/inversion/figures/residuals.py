"""What was measured less what is predicted, by scan and size."""

# Matplotlib's annotations leave keyword arguments unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrograde.aerosol.inversion.figures._style import by_scan, vertical_size_axis
from retrograde.aerosol.inversion.recovering import Recovery

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LIMIT = 0.5


def draw_residuals(axes: Axes, recovery: Recovery) -> None:
    """Draw measured over predicted, less one, of all scans of the time span.

    Sizes with less than a thousandth of the largest predicted spectrum are left white.

    Args:
        axes: Axes to draw on.
        recovery: The answer.
    """
    scans, minutes, edges, measured, predicted = by_scan(recovery)
    enough = predicted > 1e-3 * np.nanmax(predicted)
    relative = np.where(enough, measured / np.where(enough, predicted, 1.0) - 1.0, np.nan)
    length = float(np.median(np.diff(minutes))) if minutes.size > 1 else 1.0
    times = np.append(minutes, minutes[-1] + length)
    mesh = axes.pcolormesh(times, edges, relative.T, cmap="PuOr", vmin=-_LIMIT, vmax=_LIMIT, shading="flat")
    for scan, minute in zip(scans, minutes, strict=True):
        if scan in recovery.case.seen:
            axes.plot(minute + 0.5 * length, edges[-1], marker="v", color="black", clip_on=False, markersize=4)
    vertical_size_axis(axes)
    axes.set_xlabel("minutes (marked scans were used)")
    bar = axes.figure.colorbar(mesh, ax=axes, extend="both")
    bar.set_label("measured / predicted - 1")
