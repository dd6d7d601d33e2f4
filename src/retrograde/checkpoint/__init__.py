"""Gradients through long horizons in bounded memory.

A stepping function of the user's own is run many times on a state of the user's own. Instead of keeping every state
for the backward pass, `advance` keeps a few, and computes the others again when they are needed.
"""

from retrograde.checkpoint.actions import Action, Advance, Record, Restore, Reverse, Schedule
from retrograde.checkpoint.horizon import Advanced, Report, advance
from retrograde.checkpoint.package import Packaged
from retrograde.checkpoint.schedules import Everything, Tapered, Uniform

__all__ = [
    "Action",
    "Advance",
    "Advanced",
    "Everything",
    "Packaged",
    "Record",
    "Report",
    "Restore",
    "Reverse",
    "Schedule",
    "Tapered",
    "Uniform",
    "advance",
]
