"""How well the unknowns are known: Laplace's approximation, gain, averaging kernels."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from retrograde.aerosol.inversion.errors import MODEL, ErrorModes, Reach
from retrograde.aerosol.inversion.problem import Problem

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Laplace's approximation about a minimum, by the curvature of Gauss and Newton.

    Rodgers (2000), Inverse Methods for Atmospheric Sounding, chapters 2 and 3.

    Attributes:
        fit_covariance: Covariance of the unknowns by noise and prior, (J'W'WJ + s D'D)^-1 [1], shape
            [knots, knots].
        gain: Change of the unknowns by a change of the data [m^3], shape [knots, channels].
        averaging_kernel: Change of the recovered unknowns by a change of the true ones [1], shape
            [knots, knots]: row k says which true sizes the recovered spectrum at knot k consists of.
        modes: Errors shared by the channels, the prescribed processes' included.
        response: Change of the unknowns by one standard deviation of each of them [1], shape [knots, modes].
    """

    fit_covariance: Floats
    gain: Floats
    averaging_kernel: Floats
    modes: ErrorModes
    response: Floats

    @classmethod
    def at_minimum(cls, problem: Problem, jacobian: Floats, strength: float, modes: ErrorModes) -> Uncertainty:
        """The approximation at a minimum.

        Args:
            problem: The problem.
            jacobian: Whitened Jacobian there [1], shape [channels, knots].
            strength: Strength of the prior [1].
            modes: Errors shared by the channels that are not in the problem's covariance.
        """
        data = jacobian.T @ jacobian
        covariance = np.linalg.inv(data + strength * problem.roughness.T @ problem.roughness)
        covariance = 0.5 * (covariance + covariance.T)
        gain = covariance @ jacobian.T @ problem.whitening
        return cls(covariance, gain, covariance @ data, modes, gain @ modes.values)

    def with_model_error(self, factor: float) -> Uncertainty:
        """The same with the error of what the model leaves out `factor` times as large."""
        modes = self.modes.scaled(MODEL, factor)
        return replace(self, modes=modes, response=self.gain @ modes.values)

    def covariance(self, *, true: bool) -> Floats:
        """Covariance of the unknowns [1], shape [knots, knots]: noise, prior, model, and the instrument's if `true`.

        Args:
            true: Whether the unknowns are the true aerosol's, or those of what the instrument would have shown,
                in which errors that are the same in all its scans cancel.
        """
        wanted = [k for k, reach in enumerate(self.modes.reaches) if true or reach is not Reach.INSTRUMENT]
        shared = self.response[:, wanted]
        return self.fit_covariance + shared @ shared.T

    @property
    def degrees_of_freedom(self) -> float:
        """Degrees of freedom for signal [1]: how many numbers about the past the data determine."""
        return float(np.trace(self.averaging_kernel))


def interval_factor(level: float) -> float:
    """Half width of an interval of a normal variable that holds `level` of it, in standard deviations."""
    return float(ndtri(0.5 + 0.5 * level))
