"""Stochastic problems whose mean and whose gradients are known exactly, with few particles a box."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from retrograde.aerosol.exact import additive_number, constant_number, constant_square, product_number
from retrograde.aerosol.particles import ParticleSimulation
from retrograde.aerosol.particles.estimators import Parameter, StochasticProblem
from retrograde.aerosol.particles.losses import ParticleMoment
from retrograde.aerosol.particles.start import PoissonStart
from retrograde.aerosol.physics import AdditiveKernel, CoagulationKernel, ConstantKernel, ProductKernel

N0, V0, RHO = 1e12, 1e-21, 1000.0
INTENSITY, VOLUMES = np.array([6.0, 4.0]), np.array([1.0, 2.0])
AIR = float(INTENSITY.sum()) / N0


@dataclass(frozen=True)
class Known:
    """A problem with its exact mean and gradients."""

    problem: StochasticProblem
    value: float
    gradients: dict[Parameter, np.ndarray]


def _problem(kernel: CoagulationKernel, tau: float, order: float, start: PoissonStart) -> StochasticProblem:
    simulation = ParticleSimulation([0.0, tau], kernel=kernel, margin=1.3)
    return StochasticProblem(start, simulation, ParticleMoment(order, V0))


def _known(problem: StochasticProblem, exact) -> Known:
    gradients = {Parameter.INTENSITY: exact.by_intensity, Parameter.LOG_MASS: exact.by_log_volume}
    return Known(problem, exact.value, gradients)


def start(spread: float = 0.0) -> PoissonStart:
    return PoissonStart(INTENSITY, VOLUMES * V0 * RHO, AIR, RHO, spread)


def constant(tau: float = 2.0) -> Known:
    kernel = ConstantKernel(1.0 / N0)
    return _known(_problem(kernel, tau, 0.0, start()), constant_number(INTENSITY, tau / INTENSITY.sum()))


def square(tau: float = 2.0) -> Known:
    kernel = ConstantKernel(1.0 / N0)
    return _known(_problem(kernel, tau, 2.0, start()), constant_square(INTENSITY, VOLUMES, tau / INTENSITY.sum()))


def spread_square(tau: float = 2.0, spread: float = 0.4) -> Known:
    """Sum of squares from log-normal sizes: the sums of powers have their factors exp(p^2 spread^2 / 2)."""
    grown = -np.expm1(-tau / INTENSITY.sum())
    first = INTENSITY @ VOLUMES * np.exp(0.5 * spread**2)
    each_first = INTENSITY * VOLUMES * np.exp(0.5 * spread**2)
    each_second = INTENSITY * VOLUMES**2 * np.exp(2.0 * spread**2)
    gradients = {
        Parameter.INTENSITY: (each_second + 2.0 * grown * first * each_first) / INTENSITY,
        Parameter.LOG_MASS: 2.0 * each_second + 2.0 * grown * first * each_first,
        Parameter.SPREAD: np.array([spread * (4.0 * each_second.sum() + 2.0 * grown * first**2)]),
    }
    problem = _problem(ConstantKernel(1.0 / N0), tau, 2.0, start(spread))
    return Known(problem, float(each_second.sum() + grown * first**2), gradients)


def additive(eta: float = 0.7) -> Known:
    kernel = AdditiveKernel(1.0 / N0 / V0)
    return _known(_problem(kernel, eta, 0.0, start()), additive_number(INTENSITY, VOLUMES, eta / INTENSITY.sum()))


def product(progress: float = 0.5) -> Known:
    """Equal particles, half way to gelling."""
    kernel = ProductKernel(1.0 / N0 / V0**2)
    begin = PoissonStart([10.0], [V0 * RHO], 10.0 / N0)
    return _known(_problem(kernel, progress, 0.0, begin), product_number(10.0, progress / 10.0))
