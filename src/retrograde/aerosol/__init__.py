"""Differentiable aerosol dynamics: from a loss on what is seen late to the state at the start."""

from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.states import Environment, SectionalState

__all__ = ["Environment", "SectionalState", "SizeGrid"]
