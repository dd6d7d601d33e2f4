"""What a recovered state predicts of scans, and how far measurements may differ from it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.inversion.case import Case
from retrograde.aerosol.inversion.channels import Channels
from retrograde.aerosol.inversion.errors import MODEL, ErrorModes, Reach, independent_variance
from retrograde.aerosol.inversion.evaluation import Evaluation
from retrograde.aerosol.inversion.jacobian import STEP
from retrograde.aerosol.inversion.prescribed import Prescribed
from retrograde.aerosol.inversion.problem import Problem
from retrograde.aerosol.inversion.uncertainty import Uncertainty
from retrograde.aerosol.simulation import Simulation
from retrograde.aerosol.states import SectionalState

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_SHARE = 0.1
"""Part of a standard deviation by which what is prescribed is varied; the effect is scaled up."""


@dataclass(frozen=True, eq=False)
class Forecast:
    """Predictions of scans, seen ones or others, with the linear map of all errors to the residuals.

    Attributes:
        channels: Channels of the scans.
        predicted: Predicted numbers [m^-3], shape [channels].
        jacobian: Their derivatives to the unknowns [m^-3], shape [channels, knots].
        modes: Shared errors of the channels, the prescribed processes' included.
        variance: Variance of what no channels share [m^-6], shape [channels].
        gain: Change of the unknowns by a change of the channels that were seen [m^3], shape
            [knots, channels]; zero for the others.
        fit_spread: Change of the unknowns by the prior, one column an independent cause [1].
    """

    channels: Channels
    predicted: Floats
    jacobian: Floats
    modes: ErrorModes
    variance: Floats
    gain: Floats
    fit_spread: Floats

    @property
    def residual(self) -> Floats:
        """Measured less predicted [m^-3], shape [channels]."""
        return self.channels.number - self.predicted

    def covariance(self, weights: Floats) -> Floats:
        """Covariance of weighted sums of the residuals [m^-6].

        Args:
            weights: Weights of the channels, shape [sums, channels].
        """
        # Residual = (1 - J G) errors - J (prior's part of x); what was seen appears on both sides.
        through = weights - (weights @ self.jacobian) @ self.gain
        shared = through @ self.modes.values
        prior = (weights @ self.jacobian) @ self.fit_spread
        return (through * self.variance) @ through.T + shared @ shared.T + prior @ prior.T

    def with_model_error(self, factor: float) -> Forecast:
        """The same with the error of what the model leaves out `factor` times as large."""
        return replace(self, modes=self.modes.scaled(MODEL, factor))

    def deviations(self, chosen: Ints) -> Floats:
        """Standard deviation of the residuals of the `chosen` channels [m^-3]."""
        rows = np.zeros((len(chosen), self.channels.count))
        rows[np.arange(len(chosen)), chosen] = 1.0
        return np.sqrt(np.diagonal(self.covariance(rows)))


def process_modes(case: Case, simulation: Simulation, x: Floats, channels: Channels) -> ErrorModes:
    """Change of predictions by one standard deviation of what is prescribed: kernel, loss law.

    Args:
        case: The case.
        simulation: Its simulation.
        x: Unknowns [1], shape [knots].
        channels: Channels predicted.
    """
    unknown = case.unknown
    number = unknown.number(x)
    variations = case.prescribed.variations(case.settings.errors.kernel, _SHARE)
    runs = [case.prescribed, *(varied for _, varied in variations)]
    predictions = [_run(case, prescribed, simulation, number, channels) for prescribed in runs]
    values = (
        np.array([(p - predictions[0]) / _SHARE for p in predictions[1:]]).reshape(len(variations), channels.count).T
    )
    return ErrorModes(values, tuple(name for name, _ in variations), (Reach.MODEL,) * len(variations))


def _run(case: Case, prescribed: Prescribed, simulation: Simulation, number: Floats, channels: Channels) -> Floats:
    run = prescribed.simulation(case.grid, simulation.times, None)
    trajectory = run.run(SectionalState.from_numpy(number, case.grid))
    return case.operator(simulation, channels).apply(trajectory.numpy())[0]


def forecast(case: Case, problem: Problem, x: Floats, strength: float, known: Uncertainty, scans: Ints) -> Forecast:
    """Forecast of some scans, and of those that were seen, from a minimum.

    Args:
        case: The case.
        problem: Its problem.
        x: The minimum [1], shape [knots].
        strength: Strength of the prior [1].
        known: Uncertainty there.
        scans: Indices of the scans.
    """
    simulation = problem.simulation
    channels = case.channels(np.union1d(scans, case.seen))
    operator = case.operator(simulation, channels)
    knots = problem.knots
    steps = STEP * np.concatenate([np.zeros((1, knots)), np.eye(knots), -np.eye(knots)])
    states = Evaluation(problem, len(steps)).trajectory(x + steps)
    predicted = operator.apply(states)
    jacobian = (predicted[1 : knots + 1] - predicted[knots + 1 :]).T / (2.0 * STEP)
    modes = case.modes(channels).joined(process_modes(case, simulation, x, channels))
    gain = np.zeros((knots, channels.count))
    seen = case.channels(case.seen)
    by_channel = known.gain @ case.joining(seen)
    key, seen_key = (c.scans * case.observations.bins + c.bins for c in (channels, seen))
    order = np.argsort(seen_key)
    place = np.minimum(np.searchsorted(seen_key[order], key), seen_key.size - 1)
    matches = seen_key[order][place] == key
    gain[:, matches] = by_channel[:, order[place[matches]]]
    spread = known.fit_covariance @ (np.sqrt(strength) * problem.roughness.T)
    return Forecast(
        channels,
        predicted[0],
        jacobian,
        modes,
        independent_variance(channels, case.settings.errors),
        gain,
        spread,
    )
