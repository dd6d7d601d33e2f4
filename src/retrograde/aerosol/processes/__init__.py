"""Processes that change a sectional state, differentiable in the state."""

from retrograde.aerosol.processes.coagulation import CoagulationCellAverage, CoagulationFixedPivot
from retrograde.aerosol.processes.integration import Integration
from retrograde.aerosol.processes.removal import Dilution, FirstOrderLoss
from retrograde.aerosol.processes.terms import Method, Process, Terms

__all__ = [
    "CoagulationCellAverage",
    "CoagulationFixedPivot",
    "Dilution",
    "FirstOrderLoss",
    "Integration",
    "Method",
    "Process",
    "Terms",
]
