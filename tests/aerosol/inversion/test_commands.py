"""`retrograde calibrate`, `simulate` and `invert`: their files, their exit statuses, and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from tests.aerosol.inversion.twins import LOSS, START, twin

from retrograde.aerosol.formats.observations import Observations
from retrograde.aerosol.inversion.errors import ErrorSizes
from retrograde.aerosol.inversion.settings import Settings
from retrograde.cli.invert import make_case
from retrograde.cli.main import run

FAST = "[solver]\nstarts = 1\nensemble = 0\n[sizes]\nknots_per_decade = 10\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Scans of a chamber, of one that coagulates faster than prescribed, and quick settings."""
    place = tmp_path_factory.mktemp("chamber")
    for name, factor in (("scans", 1.0), ("faster", 5.0)):
        dataset = twin(scans=9, number=1e12, factor=factor).observations.dataset()
        dataset.to_netcdf(place / f"{name}.nc", engine="h5netcdf")
    (place / "fast.toml").write_text(FAST)
    return place


def retrograde(folder: Path, *arguments: str) -> int:
    return run([a.replace("@", f"{folder}/") for a in arguments])


def test_a_past_is_recovered_from_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = ("@scans.nc", "--problem", "@fast.toml")
    window = ("--window", "10:10..10:20", "--law", "power-law", "--out", "@loss.toml")
    assert retrograde(folder, "calibrate", *common, *window) == 0
    assert "scans, 2020-05-04T10:10:00 to" in capsys.readouterr().out
    invert = ("--at", "10:00", "--from", "10:05", "--loss", "@loss.toml", "--no-audit", "--verify-particles")
    assert retrograde(folder, "invert", *common, *invert, "--out", "@results/new") == 0
    out = capsys.readouterr().out
    assert out.startswith("RECOVERED")
    assert "1000 boxes of particles" in out
    results = folder / "results" / "new"
    names = ["recovery.nc", "recovery.png", "recovery.svg", "summary.json"]
    assert sorted(p.name for p in results.iterdir()) == names
    summary = json.loads((results / "summary.json").read_text())
    keys = {"at", "from", "number", "number_interval", "mean_diameter", "degrees_of_freedom"}
    assert keys | {"model", "gradient", "assumptions", "held_out"} <= set(summary)
    assert summary["at"] == "2020-05-04T10:00:00"
    assert summary["from"] == ["2020-05-04T10:05:00"]
    assert summary["model"]["adequate"] is True
    truth = twin(scans=9, number=1e12).observations.number[0].sum() * 1e-6
    assert abs(summary["number"] / truth - 1.0) < 0.02
    assert summary["number_interval"][0] < truth < summary["number_interval"][1]
    assert summary["held_out"]["number"] == pytest.approx(truth)
    assert summary["held_out"]["shape_l1"] < 0.05
    assert summary["held_out"]["coverage"] > 0.85
    (scan,) = summary["particles"]["scans"]
    difference = scan["number_particles"] - scan["number_sectional"]
    assert abs(difference) < 4.0 * scan["number_standard_error"] + 2e-3 * scan["number_sectional"]
    assert scan["number_standard_error"] < 5e-3 * scan["number_particles"]
    assert scan["shape_l1"] < 0.02
    simulate = ("--from", "10:00", "--to", "10:05", "--loss", "@loss.toml", "--out", "@results")
    assert retrograde(folder, "simulate", *common, *simulate) == 0
    table = capsys.readouterr().out.splitlines()
    assert len(table) == 3
    assert abs(float(table[2].split()[3])) < 2.0
    with xr.open_dataset(folder / "results" / "simulation.nc", engine="h5netcdf", decode_times=False) as dataset:
        assert dataset["number_concentration"].dims == ("time", "size")


def test_a_model_that_does_not_hold_is_said_first(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    invert = ("--at", "10:00", "--from", "10:20", "--no-audit", "--problem", "@fast.toml", "--out", "@rejected")
    assert retrograde(folder, "invert", "@faster.nc", *invert) == 2
    assert capsys.readouterr().out.startswith("MODEL REJECTED")
    summary = json.loads((folder / "rejected" / "summary.json").read_text())
    assert summary["model"]["adequate"] is False
    assert summary["number_interval"] is None
    assert summary["held_out"]["coverage"] is None
    with xr.open_dataset(folder / "rejected" / "recovery.nc", engine="h5netcdf", decode_times=False) as dataset:
        assert "number_concentration_interval" not in dataset


@pytest.mark.programs
def test_the_gradient_of_the_very_problem_is_certified(folder: Path) -> None:
    invert = ("--at", "10:00", "--from", "10:05", "--problem", "@fast.toml", "--out", "@audited")
    assert retrograde(folder, "invert", "@scans.nc", *invert) in (0, 2)
    gradient = json.loads((folder / "audited" / "summary.json").read_text())["gradient"]
    assert gradient["verdict"] == "right"
    assert gradient["error"] < 1e-3


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("invert", "@none.nc", "--at", "10:00", "--from", "10:05", "--out", "@x"), 3, "no such file"),
        (("invert", "@fast.toml", "--at", "10:00", "--from", "10:05", "--out", "@x"), 3, "fast.toml"),
        (("invert", "@scans.nc", "--at", "10:00", "--from", "10:05", "--loss", "@fast.toml", "--out", "@x"), 3, "key"),
        (
            ("invert", "@scans.nc", "--at", "10:00", "--from", "10:05", "--problem", "@no.toml", "--out", "@x"),
            3,
            "No such",
        ),
        (("invert", "@scans.nc", "--at", "10:00", "--from", "18:00", "--out", "@x"), 64, "No scan starts"),
        (("invert", "@scans.nc", "--at", "ten", "--from", "10:05", "--out", "@x"), 64, "is no time"),
        (("invert", "@scans.nc", "--at", "10:00", "--out", "@x"), 64, "Missing option"),
        (("invert", "@scans.nc", "--at", "10:19", "--from", "10:19..10:19:30", "--out", "@x"), 64, "No scan"),
        (("invert", "@scans.nc", "--at", "10:00", "--from", "10:05", "--out", "@scans.nc/x"), 64, "cannot be made"),
        (("calibrate", "@scans.nc", "--window", "10:05", "--law", "constant", "--out", "@l.toml"), 3, "at least 3"),
        (("calibrate", "@scans.nc", "--window", "10:05..", "--law", "constant", "--out", "@l.toml"), 64, "no window"),
        (("simulate", "@scans.nc", "--from", "10:20", "--to", "10:20"), 64, "No scan follows"),
    ],
)
def test_bad_input_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], status: int, message: str
) -> None:
    assert retrograde(folder, *arguments) == status
    assert message in capsys.readouterr().err


def test_a_single_time_takes_the_nearest_scan_and_overlap_widens(folder: Path) -> None:
    known = twin(scans=6)
    observations: Observations = known.observations
    minute = np.timedelta64(60, "s")
    window = (str(observations.start[3].astype("datetime64[s]")), str(observations.start[5].astype("datetime64[s]")))
    from dataclasses import replace

    loss = replace(LOSS, names=("rate",), covariance=np.array([[0.01]]), window=window)
    at = START + 8 * minute - np.timedelta64(29, "s")
    case, held_out, remarks = make_case(observations, START, at, at, loss, Settings(errors=ErrorSizes()))
    assert case.seen.tolist() == [3]
    assert case.watched.tolist() == [0, 1, 2]
    assert held_out == 0
    assert case.prescribed.loss is not None
    assert case.prescribed.loss.covariance[0, 0] == pytest.approx(0.04)
    assert any("is taken" in r for r in remarks)
    assert any("standard deviations are doubled" in r for r in remarks)
