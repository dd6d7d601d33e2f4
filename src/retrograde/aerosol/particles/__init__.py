"""The particle-resolved stochastic model, and the estimators that differentiate it."""

from retrograde.aerosol.particles.condensation import Condensation
from retrograde.aerosol.particles.events import EventRecord, Record
from retrograde.aerosol.particles.forecast import Comparison, ParticleForecast, forecast_by_particles
from retrograde.aerosol.particles.losses import ParticleLoss, ParticleMoment, SquaredDeviation
from retrograde.aerosol.particles.replay import EventScore, pullback, replay, replay_with_gas
from retrograde.aerosol.particles.simulation import ParticleSimulation, ParticleTrajectory
from retrograde.aerosol.particles.start import PoissonSample, PoissonStart
from retrograde.aerosol.particles.state import ParticleState

__all__ = [
    "Comparison",
    "Condensation",
    "EventRecord",
    "EventScore",
    "ParticleForecast",
    "ParticleLoss",
    "ParticleMoment",
    "ParticleSimulation",
    "ParticleState",
    "ParticleTrajectory",
    "PoissonSample",
    "PoissonStart",
    "Record",
    "SquaredDeviation",
    "forecast_by_particles",
    "pullback",
    "replay",
    "replay_with_gas",
]
