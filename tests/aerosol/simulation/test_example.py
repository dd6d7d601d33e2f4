"""The story of the tutorial, run as its readers run it, and the figures that it draws."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.plots import plot_sensitivity, plot_spectra, plot_totals
from retrograde.aerosol.processes import Dilution
from retrograde.aerosol.simulation import Simulation, Trajectory
from retrograde.aerosol.states import SectionalState

mpl.use("Agg")
from matplotlib import pyplot as plt

ROOT = Path(__file__).parents[3]
GRID = SizeGrid.from_ratio(1e-24, 2.0, 12)


def run(number: np.ndarray) -> Trajectory:
    simulation = Simulation(GRID, (Dilution(1e-2),), np.linspace(0.0, 60.0, 9), substeps=4)
    return simulation.run(SectionalState.from_numpy(number, GRID))


def test_the_story_runs_and_says_what_the_tutorial_shows(tmp_path: Path) -> None:
    target = tmp_path / "chamber_afternoon.png"
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "chamber_afternoon.py"), str(target)],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    said = [line for line in done.stdout.splitlines() if re.match("number:|loss |slope |drawn:", line)]
    shown = (ROOT / "docs" / "aerosol" / "tutorial.md").read_text()
    assert len(said) == 4
    assert said[0] in shown
    assert said[1] in shown
    by_gradient, by_differences = (float(x) for x in re.findall(r"-?\d+\.\d{9}", said[2]))
    assert abs(by_gradient / by_differences - 1.0) < 1e-7
    assert abs(by_gradient / -2.639715398 - 1.0) < 1e-8
    assert target.stat().st_size > 10_000


def test_spectra_are_drawn_as_they_are() -> None:
    """In cm^-3 per ln D over nm, the first, the last and some between."""
    number = 1e9 * np.arange(1.0, 13.0)
    trajectory = run(np.stack([number, 2.0 * number]))
    figure, axes = plt.subplots()
    plot_spectra(axes, trajectory, box=1)
    drawn = [patch.get_data() for patch in axes.patches]
    assert len(drawn) == 5
    np.testing.assert_allclose(drawn[0].values, 2e-6 * number / GRID.ln_widths)
    np.testing.assert_allclose(drawn[-1].values, trajectory.final.spectrum()[1] * 1e-6)
    np.testing.assert_allclose(drawn[0].edges, GRID.diameter_edges * 1e9)
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["0 min", "0.25 min", "0.5 min", "0.75 min", "1 min"]
    plt.close(figure)


def test_totals_and_sensitivities_are_drawn_as_they_are() -> None:
    trajectory = run(np.full((1, 12), 1e9))
    figure, (totals, sensitivity) = plt.subplots(1, 2)
    plot_totals(totals, trajectory)
    number, volume = (line.get_ydata() for line in totals.lines)
    np.testing.assert_allclose(number, np.exp(-1e-2 * trajectory.times), rtol=1e-4)
    np.testing.assert_allclose(volume, number)
    plot_sensitivity(sensitivity, GRID, np.arange(12.0), label="now")
    assert np.array_equal(sensitivity.patches[0].get_data().values, np.arange(12.0))
    plt.close(figure)


def test_what_cannot_be_drawn_is_refused() -> None:
    figure, axes = plt.subplots()
    with pytest.raises(ValueError, match="box: expected 0 to 0, got 1"):
        plot_spectra(axes, run(np.ones((1, 12))), box=1)
    with pytest.raises(ValueError, match=r"gradient: expected shape \[bins\] with 12 bins, got \[3\]"):
        plot_sensitivity(axes, GRID, np.ones(3))
    with pytest.raises(ValueError, match="no particles at the start"):
        plot_totals(axes, run(np.zeros((1, 12))))
    plt.close(figure)
