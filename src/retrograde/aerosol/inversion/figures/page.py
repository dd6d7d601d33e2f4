"""All figures of an inversion on one page."""

# Matplotlib's annotations leave keyword arguments unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retrograde.aerosol.inversion.figures.averaging_kernels import draw_averaging_kernels
from retrograde.aerosol.inversion.figures.banana import draw_banana
from retrograde.aerosol.inversion.figures.l_curve import draw_l_curve
from retrograde.aerosol.inversion.figures.residuals import draw_residuals
from retrograde.aerosol.inversion.figures.spectra import draw_spectra
from retrograde.aerosol.inversion.recovering import Recovery

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DPI = 110
_UPPER: dict[str, Any] = {"left": 0.078, "right": 0.995, "bottom": 0.57, "wspace": 0.15, "width_ratios": (1.0, 1.22)}
_LOWER: dict[str, Any] = {
    "left": 0.055,
    "right": 0.965,
    "bottom": 0.072,
    "top": 0.478,
    "wspace": 0.3,
    "width_ratios": (1.0, 1.22, 0.94),
}
_TOP, _BELOW_TITLE = 0.965, 0.925
"""Places of the panels, in parts of the page. To find them anew for every page takes as long as to draw it."""


def write_page(recovery: Recovery, paths: Sequence[Path]) -> None:
    """Write the figures as one page, in the format that the suffix of each path names.

    Args:
        recovery: The answer.
        paths: Files, of the suffixes ".png" and ".svg".

    Raises:
        OSError: A file cannot be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12.5, 7.6), dpi=_DPI)
    is_rejected = recovery.adequacy.is_rejected
    upper = figure.add_gridspec(1, 2, **_UPPER, top=_BELOW_TITLE if is_rejected else _TOP)
    lower = figure.add_gridspec(1, 3, **_LOWER)
    spectra, banana = (figure.add_subplot(upper[0, n]) for n in range(2))
    kernels, residuals, curve = (figure.add_subplot(lower[0, n]) for n in range(3))
    draw_spectra(spectra, recovery)
    draw_banana(banana, recovery)
    draw_averaging_kernels(kernels, recovery)
    draw_residuals(residuals, recovery)
    draw_l_curve(curve, recovery)
    if is_rejected:
        figure.suptitle("Model rejected: best fit of a wrong model, without intervals", color="#d55e00")
    for path in paths:
        _print(figure, path)


def _print(figure: Figure, path: Path) -> None:
    """Write a figure."""
    if path.suffix == ".svg":
        from matplotlib.backends.backend_svg import FigureCanvasSVG

        FigureCanvasSVG(figure).print_svg(path, metadata={"Date": None})
    else:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        FigureCanvasAgg(figure).print_png(path)
