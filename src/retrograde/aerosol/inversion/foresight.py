"""One scan carried forward by the model, and compared with those that follow."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from retrograde.aerosol.formats import series_to_xarray
from retrograde.aerosol.inversion.case import Case
from retrograde.aerosol.inversion.evaluation import Evaluation
from retrograde.aerosol.inversion.held_out import Comparison
from retrograde.aerosol.inversion.levenberg_marquardt import Progress
from retrograde.aerosol.inversion.problem import Problem
from retrograde.aerosol.inversion.search import find_minimum

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Foresight:
    """A simulation from one scan, beside later ones.

    Attributes:
        case: The scan as the seen one, the later ones as the watched ones.
        problem: The problem that gave the state at the scan's start.
        states: Numbers at the simulation's times [m^-3], shape [times, 1, bins].
        comparisons: Prediction against measurement, by watched scan.
        numbers: Predicted and measured total number of each [m^-3], shape [scans, 2].
    """

    case: Case
    problem: Problem
    states: Floats
    comparisons: tuple[Comparison, ...]
    numbers: Floats

    def dataset(self) -> xr.Dataset:
        """The simulated states as a CF dataset over time and size."""
        dataset = series_to_xarray(self.states, self.problem.unknown.grid, self.problem.simulation.times)
        start = str(self.case.at.astype("datetime64[s]")).replace("T", " ")
        dataset["time"].attrs["units"] = f"seconds since {start}"
        return dataset.isel(box=0).assign_attrs(source=self.case.observations.source)

    def write(self, path: Path) -> None:
        """Write `dataset` as NetCDF.

        Raises:
            OSError: The file cannot be written.
        """
        dataset: Any = self.dataset()
        dataset.to_netcdf(path, engine="h5netcdf")

    def table(self) -> str:
        """The comparisons as lines of text."""
        lines = ["scan                   predicted   measured [cm^-3]   number  mean diameter  shape L1"]
        starts: Any = self.case.observations.start[self.case.watched]
        for start, c, (predicted, measured) in zip(starts, self.comparisons, self.numbers * 1e-6, strict=True):
            lines.append(
                f"{start.astype('datetime64[s]')!s}  {predicted:11.5g}{measured:11.5g}"
                f"{100 * c.number_error:+16.1f} %{100 * c.mean_diameter_error:+13.1f} %{c.shape_l1:10.3f}"
            )
        return "\n".join(lines) + "\n"


def foresee(case: Case, *, progress: Progress | None = None, device: Any = None) -> Foresight:
    """Simulate from a case's one seen scan through its watched ones.

    The state at the scan's start is the smooth one whose simulation agrees with the scan, each
    channel at its own time.
    """
    problem = case.problem()
    start = problem.unknown.from_spectrum(case.first_guess() / case.grid.ln_widths)
    minimum = find_minimum(problem, start, case.settings, progress=progress, device=device)
    states = Evaluation(problem, 1, device=device).trajectory(minimum.x[None])
    comparisons: list[Comparison] = []
    numbers: list[tuple[float, float]] = []
    for scan in case.watched:
        channels = case.channels(np.array([scan]))
        predicted = case.operator(problem.simulation, channels).apply(states)[0]
        measured = np.maximum(channels.number, 0.0)
        comparisons.append(Comparison.of("simulated", channels.diameters, predicted, measured))
        numbers.append((float(predicted.sum()), float(measured.sum())))
    return Foresight(case, problem, states, tuple(comparisons), np.array(numbers))
