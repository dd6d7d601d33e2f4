"""The recovered spectrum with its bands, beside what was seen and what was held out."""

# Matplotlib's annotations leave keyword arguments unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from retrograde.aerosol.inversion.figures._style import (
    BLACK,
    BLUE,
    GREY,
    NANOMETRES,
    ORANGE,
    PER_CUBIC_CENTIMETRE,
    size_axis,
)
from retrograde.aerosol.inversion.recovering import Recovery

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_spectra(axes: Axes, recovery: Recovery) -> None:
    """Draw the recovered start, the first scan that was used, and the scan that was held out if there is one.

    The band is that of what the instrument would have shown. There is none where the model was rejected.

    Args:
        axes: Axes to draw on.
        recovery: The answer.
    """
    shown, state = recovery.shown, recovery.state
    diameters = shown.diameters * NANOMETRES
    scale = PER_CUBIC_CENTIMETRE / shown.ln_widths
    if not recovery.adequacy.is_rejected:
        low, high = shown.interval()
        axes.fill_between(
            diameters, low * scale, high * scale, color=BLUE, alpha=0.3, linewidth=0, label=f"{100 * state.level:g} %"
        )
    axes.plot(diameters, shown.number * scale, color=BLUE, label="recovered, as a scan")
    inside = state.unknown.inside
    air = state.number[inside] / state.grid.ln_widths[inside] * PER_CUBIC_CENTIMETRE
    axes.plot(
        state.grid.diameters[inside] * NANOMETRES,
        air,
        color=BLACK,
        linestyle=":",
        linewidth=1.0,
        label="recovered, in the air",
    )
    channels = recovery.forecast.channels
    first = channels.scans == recovery.case.seen[0]
    axes.plot(
        channels.diameters[first] * NANOMETRES,
        channels.number[first] / channels.ln_widths[first] * PER_CUBIC_CENTIMETRE,
        color=GREY,
        linestyle="--",
        label="first scan used",
    )
    if recovery.held_out is not None:
        chosen = channels.scans == recovery.held_out.scan
        spectrum = recovery.held_out.measured / channels.ln_widths[chosen] * PER_CUBIC_CENTIMETRE
        axes.plot(
            recovery.held_out.diameters * NANOMETRES,
            spectrum,
            color=ORANGE,
            marker="o",
            markersize=2.5,
            linestyle="none",
            label="measured then, not used",
        )
    top = float(np.max(air))
    axes.set_ylim(0.0, 1.35 * top)
    size_axis(axes)
    axes.set_ylabel("dN/dlnD / cm$^{-3}$")
    axes.legend(frameon=False, fontsize="small")
