"""Figures of an inversion, one a file, readable in print and by the colour-blind. They need Matplotlib."""

from retrograde.aerosol.inversion.figures.averaging_kernels import draw_averaging_kernels
from retrograde.aerosol.inversion.figures.banana import draw_banana
from retrograde.aerosol.inversion.figures.l_curve import draw_l_curve
from retrograde.aerosol.inversion.figures.page import write_page
from retrograde.aerosol.inversion.figures.residuals import draw_residuals
from retrograde.aerosol.inversion.figures.spectra import draw_spectra

__all__ = [
    "draw_averaging_kernels",
    "draw_banana",
    "draw_l_curve",
    "draw_residuals",
    "draw_spectra",
    "write_page",
]
