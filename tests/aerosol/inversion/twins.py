"""Chambers with a known start, seen by an instrument that counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from retrograde.aerosol import Environment, SectionalState, SizeGrid
from retrograde.aerosol.formats.observations import Observations
from retrograde.aerosol.inversion.case import Case
from retrograde.aerosol.inversion.loss_laws import CalibratedLoss
from retrograde.aerosol.inversion.prescribed import Prescribed
from retrograde.aerosol.inversion.settings import ErrorSizes, Settings

HOUR = 3600.0
START = np.datetime64("2020-05-04T10:00:00", "ns")
EXACT = ErrorSizes(channel=1e-3, scan=1e-3, sizing=1e-4, response=1e-4, kernel=1e-4, model=1e-3, model_limit=2e-3)
"""A perfect instrument and a perfect model: what is left is counting."""

LOSS = CalibratedLoss("power-law", {"rate": 1.5 / HOUR, "slope": 0.5 / HOUR, "exponent": -1.0})


@dataclass(frozen=True, eq=False)
class Twin:
    """Attributes: scans with counting noise; the true state at every scan's start [scans, bins of `grid`]."""

    observations: Observations
    grid: SizeGrid
    truth: np.ndarray

    @property
    def instrument_bins(self) -> int:
        return self.observations.bins

    def case(
        self, seen: list[int], watched: list[int] = (), *, loss: CalibratedLoss | None = LOSS, **settings: object
    ) -> Case:
        made = Settings(**{"errors": EXACT, "starts": 1, "ensemble": 0, "density": 1000.0, **settings})
        air = Prescribed(298.15, 101325.0, 1000.0, loss)
        return Case(self.observations, START, np.array(seen), made, air, np.array(watched, dtype=np.intp))


def twin(
    *,
    scans: int = 5,
    every: float = 150.0,
    loss: CalibratedLoss | None = LOSS,
    number: float = 4e11,
    factor: float = 1.0,
    single: float = 2e5,
    per_decade: int = 24,
    seed: int = 1,
) -> Twin:
    """A bimodal aerosol, coagulating and lost; channels sample one after another within 0.8 of a scan.

    Args:
        factor: Factor on the kernel of what really happens.
        single: Number concentration that one count stands for [m^-3]; zero for no noise.
    """
    grid = SizeGrid.geometric(20e-9, 800e-9, bins_per_decade=per_decade)
    model = grid.extended_upward(1.5 * grid.diameter_edges[-1])
    first = np.zeros(model.bins)
    for share, median, width in ((0.7, 60e-9, 1.5), (0.3, 150e-9, 1.6)):
        first[: grid.bins] += share * np.exp(-0.5 * (np.log(grid.diameters / median) / np.log(width)) ** 2)
    first[: grid.bins] += 1e-7
    first *= number / first.sum()
    nodes = np.arange(0.0, scans * every + 7.5, 7.5)
    air = Prescribed(298.15, 101325.0, 1000.0, loss, kernel_factor=factor)
    run = air.simulation(model, nodes, 1).run(SectionalState.from_numpy(first, model)).numpy()[:, 0]
    offsets = np.linspace(0.0, 0.8 * every, grid.bins)
    seconds = every * np.arange(scans)[:, None] + offsets
    mean = np.array([[np.interp(t, nodes, run[:, i]) for i, t in enumerate(row)] for row in seconds])
    measured = mean
    if single > 0.0:
        measured = np.random.default_rng(seed).poisson(mean / single) * single
    start = START + (every * np.arange(scans) * 1e9).astype("timedelta64[ns]")
    observations = Observations(
        start=start,
        times=START + (seconds * 1e9).astype("timedelta64[ns]"),
        diameters=grid.diameters,
        edges=grid.diameter_edges,
        number=measured,
        uncertainty=np.sqrt(np.maximum(mean, 1e-3 * single) * single) if single > 0.0 else None,
        temperature=np.full(scans, 298.15),
        pressure=np.full(scans, 101325.0),
        density=1000.0,
        corrected_for=frozenset({"multiple charge", "diffusion loss"}),
        source="a twin",
    )
    return Twin(observations, model, run[:: int(every / 7.5)])


def uniform_air() -> Environment:
    return Environment.uniform(1, 298.15, 101325.0)
