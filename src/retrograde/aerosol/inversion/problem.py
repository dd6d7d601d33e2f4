"""An inverse problem: what is unknown, what happens to it, what was measured and how well."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.inversion.observation import ObservationOperator
from retrograde.aerosol.inversion.parametrisation import LogKnots
from retrograde.aerosol.inversion.prior import roughness_matrix
from retrograde.aerosol.simulation import Simulation

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Problem:
    """Find x whose simulated observations agree with the measured ones and that is smooth.

    The objective is 1/2 |W (H(x) - y)|^2 + s/2 |D x|^2: H takes the unknowns through the
    simulation to the channels, y is measured, W'W is the inverse of the errors' covariance, D x is
    the roughness and s its strength.

    Attributes:
        unknown: Parametrisation of the initial spectrum.
        simulation: Processes and times; its substeps are a number.
        operator: From the trajectory to the channels.
        measured: Measured number in each channel [m^-3], shape [channels].
        covariance: Covariance of the errors of `measured` and of the model there [m^-6], shape
            [channels, channels], positive definite.

    Raises:
        ValueError: Shapes do not fit, or the covariance is not positive definite.
    """

    unknown: LogKnots
    simulation: Simulation
    operator: ObservationOperator
    measured: Floats
    covariance: Floats

    def __post_init__(self) -> None:
        channels = self.operator.channels
        measured = np.array(self.measured, dtype=np.float64)
        covariance = np.array(self.covariance, dtype=np.float64)
        if measured.shape != (channels,) or not np.all(np.isfinite(measured)):
            raise ValueError(f"measured [m^-3]: expected {channels} finite values, one for each channel")
        if covariance.shape != (channels, channels):
            raise ValueError(
                f"covariance [m^-6]: expected shape [{channels}, {channels}], got {list(covariance.shape)}"
            )
        if self.simulation.substeps is None:
            raise ValueError("simulation: expected a number of substeps")
        if self.unknown.grid != self.simulation.grid:
            raise ValueError("unknown: its grid differs from the simulation's")
        scale = np.sqrt(np.abs(np.diagonal(covariance)))
        try:
            factor = np.linalg.cholesky(covariance / np.outer(scale, scale))
        except np.linalg.LinAlgError as error:
            raise ValueError("covariance [m^-6]: expected a positive definite matrix") from error
        whitening = np.linalg.inv(factor) / scale
        roughness = roughness_matrix(self.unknown)
        for name, value in (("measured", measured), ("covariance", covariance)):
            value.flags.writeable = False
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_whitening", whitening)
        object.__setattr__(self, "_roughness", roughness)

    def with_simulation(self, simulation: Simulation) -> Problem:
        """The same data and unknowns under another simulation on the same grid and times."""
        if simulation.grid != self.simulation.grid or not np.array_equal(simulation.times, self.simulation.times):
            raise ValueError("simulation: expected one on the same grid and times")
        other = copy(self)
        object.__setattr__(other, "simulation", simulation)
        return other

    @property
    def whitening(self) -> Floats:
        """Matrix W that makes the errors independent and of size one [m^3], shape [channels, channels]."""
        value: Floats = self.__dict__["_whitening"]
        return value

    @property
    def roughness(self) -> Floats:
        """Matrix D of the smoothness prior [1], shape [knots - 2, knots]."""
        value: Floats = self.__dict__["_roughness"]
        return value

    @property
    def channels(self) -> int:
        """Number of measured values."""
        return int(self.measured.size)

    @property
    def knots(self) -> int:
        """Number of unknowns."""
        return self.unknown.knots
