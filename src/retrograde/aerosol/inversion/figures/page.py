"""All figures of an inversion on one page."""

# Matplotlib's annotations leave keyword arguments unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from retrograde.aerosol.inversion.figures.averaging_kernels import draw_averaging_kernels
from retrograde.aerosol.inversion.figures.banana import draw_banana
from retrograde.aerosol.inversion.figures.l_curve import draw_l_curve
from retrograde.aerosol.inversion.figures.residuals import draw_residuals
from retrograde.aerosol.inversion.figures.spectra import draw_spectra
from retrograde.aerosol.inversion.recovering import Recovery


def write_page(recovery: Recovery, paths: Sequence[Path]) -> None:
    """Write the figures as one page, in the format of each path's suffix.

    Args:
        recovery: The answer.
        paths: Files, as "recovery.png", "recovery.svg".

    Raises:
        OSError: A file cannot be written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12.5, 7.6), layout="constrained")
    FigureCanvasAgg(figure)
    halves: Any = figure.subfigures(2, 1)
    spectra, banana = halves[0].subplots(1, 2)
    kernels, residuals, curve = halves[1].subplots(1, 3)
    draw_spectra(spectra, recovery)
    draw_banana(banana, recovery)
    draw_averaging_kernels(kernels, recovery)
    draw_residuals(residuals, recovery)
    draw_l_curve(curve, recovery)
    if recovery.adequacy.is_rejected:
        figure.suptitle("Model rejected: best fit of a wrong model, without intervals", color="#d55e00")
    for path in paths:
        figure.savefig(path, dpi=110, metadata={"Date": None} if path.suffix == ".svg" else None)
        # Laid out once: the places do not depend on the format.
        figure.set_layout_engine("none")
