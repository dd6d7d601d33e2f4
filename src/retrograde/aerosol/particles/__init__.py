"""The particle-resolved stochastic model, and the estimators that differentiate it."""

from retrograde.aerosol.particles.condensation import Condensation
from retrograde.aerosol.particles.events import EventRecord, Record
from retrograde.aerosol.particles.replay import EventScore, pullback, replay, replay_with_gas
from retrograde.aerosol.particles.simulation import ParticleSimulation, ParticleTrajectory
from retrograde.aerosol.particles.state import ParticleState

__all__ = [
    "Condensation",
    "EventRecord",
    "EventScore",
    "ParticleSimulation",
    "ParticleState",
    "ParticleTrajectory",
    "Record",
    "pullback",
    "replay",
    "replay_with_gas",
]
