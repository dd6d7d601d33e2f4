"""Number by size over time, with the recovered start before what was seen."""

# Matplotlib's annotations leave keyword arguments unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrograde.aerosol.inversion.figures._style import by_scan, vertical_size_axis
from retrograde.aerosol.inversion.recovering import Recovery

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DECADES = 3.0


def draw_banana(axes: Axes, recovery: Recovery) -> None:
    """Draw dN/dlnD over time and size: recovered up to the first scan that was used, measured from there on.

    Args:
        axes: Axes to draw on.
        recovery: The answer.
    """
    from matplotlib.colors import LogNorm

    scans, minutes, edges, measured, predicted = by_scan(recovery)
    seen = np.isin(scans, recovery.case.seen)
    first = int(np.argmax(seen))
    shown = np.where(np.arange(scans.size)[:, None] < first, predicted, measured)
    if first == 0:
        start = recovery.state.number / recovery.state.grid.ln_widths * 1e-6
        recovered = np.interp(
            np.log(np.sqrt(edges[1:] * edges[:-1])), np.log(recovery.state.grid.diameters * 1e9), start
        )
        shown, minutes, first = np.vstack([recovered, shown]), np.concatenate([[0.0], minutes]), 1
    length = float(np.median(np.diff(minutes))) if minutes.size > 1 else 1.0
    times = np.append(minutes, minutes[-1] + length)
    top = float(np.nanmax(shown))
    norm = LogNorm(vmin=top / 10.0**_DECADES, vmax=top, clip=True)
    mesh = axes.pcolormesh(times, edges, np.maximum(shown, 1e-12).T, norm=norm, cmap="cividis", shading="flat")
    axes.axvline(minutes[first], color="white", linewidth=2.5)
    axes.axvline(minutes[first], color="black", linewidth=1.0, linestyle="--")
    axes.annotate(
        "recovered",
        (minutes[first], edges[-1]),
        (-4, -4),
        ha="right",
        va="top",
        color="white",
        textcoords="offset points",
    )
    axes.annotate(
        "measured", (minutes[first], edges[-1]), (4, -4), ha="left", va="top", color="white", textcoords="offset points"
    )
    vertical_size_axis(axes)
    axes.set_xlabel(f"minutes since {str(recovery.case.at.astype('datetime64[s]')).replace('T', ' ')}")
    bar = axes.figure.colorbar(mesh, ax=axes)
    bar.set_label("dN/dlnD / cm$^{-3}$")
