"""The particle-resolved stochastic model, and the estimators that differentiate it."""

from retrograde.aerosol.particles.events import EventRecord, Record
from retrograde.aerosol.particles.replay import EventScore, pullback, replay
from retrograde.aerosol.particles.simulation import ParticleSimulation, ParticleTrajectory
from retrograde.aerosol.particles.state import ParticleState

__all__ = [
    "EventRecord",
    "EventScore",
    "ParticleSimulation",
    "ParticleState",
    "ParticleTrajectory",
    "Record",
    "pullback",
    "replay",
]
