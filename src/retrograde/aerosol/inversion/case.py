"""An inverse problem from a file's scans: grid, times, channels, errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from retrograde.aerosol.formats.observations import Observations
from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.inversion.channels import Channels, single_counts
from retrograde.aerosol.inversion.errors import (
    ErrorModes,
    Reach,
    independent_variance,
    instrument_modes,
    model_modes,
)
from retrograde.aerosol.inversion.guess import guess_start
from retrograde.aerosol.inversion.observation import ObservationOperator
from retrograde.aerosol.inversion.parametrisation import LogKnots
from retrograde.aerosol.inversion.prescribed import Prescribed
from retrograde.aerosol.inversion.problem import Problem
from retrograde.aerosol.inversion.settings import Settings
from retrograde.aerosol.simulation import Simulation
from retrograde.aerosol.states import SectionalState

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

DEFAULT_TEMPERATURE, DEFAULT_PRESSURE = 296.0, 101325.0
"""Air where neither file nor user says [K], [Pa]."""

_FINEST = 64.5
"""Bins per decade of the model's grid at most; finer channels are seen through it."""

_HEADROOM = 1.5
"""The grid reaches this much above the largest observed diameter, for what coagulation makes."""

_STEP_SHARE = 0.15
"""Longest step times the largest rate at which a bin is emptied."""

_LONGEST_STEP = 300.0
_MOST_VALUES = 1000
_TURNS = 6
_FEWEST_STEPS = 8


@dataclass(frozen=True, eq=False)
class Case:
    """Scans of one file, the time to recover, and what happened between.

    Attributes:
        observations: The file.
        at: Time whose state is unknown.
        seen: Scans that the inversion uses, indices.
        settings: What the user set.
        prescribed: What happened to the particles.
        watched: Further scans that predictions are wanted for, indices.
    """

    observations: Observations
    at: np.datetime64
    seen: Ints
    settings: Settings
    prescribed: Prescribed
    watched: Ints

    def __post_init__(self) -> None:
        if self.seen.size == 0:
            raise ValueError("seen: expected at least one scan")
        if self.bins.size < 4:
            raise ValueError(f"sizes: expected at least 4 size bins to use, got {self.bins.size}")
        early = [i for i in self.seen if self.observations.times[i].max() <= self.at]
        if early:
            raise ValueError(
                f"seen: the scan of {self.observations.start[early[0]]} does not lie after the time to recover"
            )

    @cached_property
    def grid(self) -> SizeGrid:
        """Size bins of the model."""
        return _grid(self.observations, self.bins)

    @cached_property
    def single_counts(self) -> Floats:
        """Number that one counted particle stands for in each bin of the file [m^-3], shape [bins]."""
        return single_counts(self.observations)

    @cached_property
    def bins(self) -> Ints:
        """Size bins of the file that are used."""
        d, settings = self.observations.diameters, self.settings
        low = -np.inf if settings.smallest is None else settings.smallest
        high = np.inf if settings.largest is None else settings.largest
        return np.flatnonzero((d >= low * (1 - 1e-9)) & (d <= high * (1 + 1e-9)))

    def channels(self, scans: Ints) -> Channels:
        """Channels of some scans."""
        return Channels.of(self.observations, self.at, scans, self.bins, self.single_counts)

    def modes(self, channels: Channels) -> ErrorModes:
        """Shared errors of some channels: of the measurement, and of what the model leaves out."""
        air, errors = self.prescribed, self.settings.errors
        measured = instrument_modes(self.observations, channels, errors, air.temperature, air.pressure)
        return measured.joined(model_modes(self.observations, channels, errors, self.turns))

    @property
    def turns(self) -> list[Ints]:
        """The scans in a few turns of consecutive ones."""
        scans = np.union1d(self.seen, self.watched)
        return [turn.astype(np.intp) for turn in np.array_split(scans, min(_TURNS, len(scans)))]

    @cached_property
    def unknown(self) -> LogKnots:
        """Parametrisation of the initial spectrum."""
        d = self.observations.diameters[self.bins]
        return LogKnots.even(self.grid, d[0], d[-1], self.settings.knots_per_decade)

    def simulation(self) -> Simulation:
        """Simulation to the last channel, its steps short enough for the start that the scans suggest."""
        everything = np.union1d(self.seen, self.watched)
        last = float(self.channels(everything).times.max())
        guess = self.first_guess(last)
        coarse = self.prescribed.simulation(self.grid, np.array([0.0, last]), None)
        rate = float(coarse.peak_rate(SectionalState.from_numpy(guess, self.grid)).max())
        step = min(_STEP_SHARE / max(rate, 1e-12), _LONGEST_STEP)
        nodes = max(int(np.ceil(last / step)), _FEWEST_STEPS)
        return self.prescribed.simulation(self.grid, np.linspace(0.0, last, nodes + 1), 1)

    def first_guess(self, last: float | None = None) -> Floats:
        """Initial numbers whose simulation comes near the first seen scan [m^-3], shape [bins]."""
        channels = self.channels(self.seen[:1])
        target = np.maximum(
            np.interp(
                self.grid.ln_diameters,
                np.log(channels.diameters),
                channels.smoothed / channels.ln_widths,
                right=0.0,
                left=0.0,
            )
            * self.grid.ln_widths,
            1e-6,
        )
        until = max(float(np.median(channels.times)), 1.0)
        simulation = self.prescribed.simulation(self.grid, np.array([0.0, until]), None)
        return guess_start(simulation, target, self.unknown.inside)

    def operator(self, simulation: Simulation, channels: Channels) -> ObservationOperator:
        """Observation operator of some channels."""
        return ObservationOperator.build(
            self.grid, simulation.times, channels.times, channels.diameters, channels.ln_widths
        )

    def problem(self, simulation: Simulation | None = None) -> Problem:
        """The inverse problem.

        Its covariance holds what differs from scan to scan and from channel to channel. Errors that
        are the same in all scans cannot be told from the aerosol; they do not enter the fit, and
        widen the intervals afterwards. Many scans are averaged in turns, and fine channels joined,
        to at most a thousand values.
        """
        simulation = simulation or self.simulation()
        channels = self.channels(self.seen)
        modes = self.modes(channels)
        joined = self.joining(channels)
        own = modes.reaching(Reach.SCAN).summed(joined).values
        variance = joined.power(2) @ independent_variance(channels, self.settings.errors)
        operator = self.operator(simulation, channels).combined(joined)
        measured = joined @ channels.number
        return Problem(self.unknown, simulation, operator, measured, np.diag(variance) + own @ own.T)

    def joining(self, channels: Channels) -> Any:
        """Matrix of the means that the problem takes of channels, sparse, shape [values, channels]."""
        bins = np.searchsorted(self.grid.diameter_edges, channels.diameters) - 1
        scans = np.unique(channels.scans)
        turns = min(max(_MOST_VALUES // max(len(np.unique(bins)), 1), 1), len(scans))
        turn = (np.searchsorted(scans, channels.scans) * turns) // len(scans)
        _, value = np.unique(turn * self.grid.bins + bins, return_inverse=True)
        counts = np.bincount(value)
        return sparse.csr_matrix((1.0 / counts[value], (value, np.arange(channels.count))))

    def with_prescribed(self, prescribed: Prescribed) -> Case:
        """The same scans under other processes."""
        return replace(self, prescribed=prescribed)


def air_of(observations: Observations, scans: Ints, settings: Settings) -> tuple[float, float]:
    """Temperature [K] and pressure [Pa]: the user's, the scans' mean, or the defaults."""
    temperature = settings.temperature or _mean(observations.temperature, scans) or DEFAULT_TEMPERATURE
    pressure = settings.pressure or _mean(observations.pressure, scans) or DEFAULT_PRESSURE
    return temperature, pressure


def _mean(values: Any, scans: Ints) -> float | None:
    if values is None or not np.any(np.isfinite(values[scans])):
        return None
    return float(np.nanmean(np.asarray(values[scans], dtype=np.float64)))


def _grid(observations: Observations, bins: Ints) -> SizeGrid:
    """The file's bins, several joined where they are finer than the model needs, extended upward."""
    first, last = int(bins[0]), int(bins[-1])
    edges = observations.edges[first : last + 2]
    per_decade = (len(edges) - 1) / np.log10(edges[-1] / edges[0])
    joined = max(int(np.ceil(per_decade / _FINEST)), 1)
    if joined == 1:
        grid = SizeGrid.from_diameters(observations.diameters[first : last + 1], edges)
    else:
        coarse = np.append(edges[:-1:joined], edges[-1])
        if len(coarse) > 2 and np.log(coarse[-1] / coarse[-2]) < 0.6 * np.log(coarse[-2] / coarse[-3]):
            coarse = np.delete(coarse, -2)
        grid = SizeGrid.from_diameters(np.sqrt(coarse[1:] * coarse[:-1]), coarse)
    return grid.extended_upward(edges[-1] * _HEADROOM)
