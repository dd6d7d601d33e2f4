"""Measured chambers: one that is recovered, one whose first hours the model does not explain, and its night."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from retrograde.cli.main import run

DATA = Path(__file__).parents[4] / "shared" / "data"
FLUSHED = DATA / "py_smps_mit_chamber_sample_column.txt"
LEAKING = DATA / "particula_beta_chamber_2023-09-25_SMPS.csv"
EXAMPLE = Path(__file__).parents[3] / "examples" / "flushed_chamber.csv"

needs = {path: pytest.mark.skipif(not path.exists(), reason=f"{path.name} is not here") for path in (FLUSHED, LEAKING)}


def invert(folder: Path, scans: Path, *arguments: str) -> tuple[int, dict]:
    (folder / "fast.toml").write_text("[solver]\nstarts = 1\nensemble = 0\n")
    options = ("--no-audit", "--problem", str(folder / "fast.toml"), "--out", str(folder / "out"))
    status = run(["invert", str(scans), *arguments, *options])
    return status, json.loads((folder / "out" / "summary.json").read_text())


def calibrate(folder: Path, scans: Path, window: str, law: str) -> str:
    path = folder / "loss.toml"
    assert run(["calibrate", str(scans), "--window", window, "--law", law, "--out", str(path)]) == 0
    return str(path)


@pytest.mark.parametrize("scans", [pytest.param(FLUSHED, marks=needs[FLUSHED]), EXAMPLE], ids=["whole", "example"])
def test_a_flushed_chamber_is_recovered_7_minutes_back(tmp_path: Path, scans: Path) -> None:
    """The headline: shape L1 to 0.07, number to 3 %, at most half the error of doing without coagulation."""
    loss = calibrate(tmp_path, scans, "14:22:20..14:44:50", "power-law")
    status, summary = invert(tmp_path, scans, "--at", "14:12:20", "--from", "14:19:50", "--loss", loss)
    held_out = summary["held_out"]
    assert status == 0
    assert held_out["number"] == pytest.approx(482232, rel=1e-4)
    assert abs(held_out["number_error"]) < 0.03
    assert held_out["shape_l1"] < 0.07
    assert 0.85 < held_out["coverage"] <= 1.0
    assert summary["number_interval"][0] < held_out["number"] < summary["number_interval"][1]
    without = held_out["baselines"][0]
    assert without["name"] == "inversion without coagulation"
    assert held_out["shape_l1"] < 0.5 * without["shape_l1"]
    assert abs(held_out["number_error"]) < 0.5 * abs(without["number_error"])
    assert any("were not corrected" in sentence for sentence in summary["assumptions"])
    assert any("volume diameter" in sentence for sentence in summary["assumptions"])


@needs[LEAKING]
def test_a_night_is_recovered_and_the_hours_before_it_are_not(tmp_path: Path) -> None:
    """A constant loss explains the night from 20:00 on; nothing prescribed explains the first two hours."""
    loss = calibrate(tmp_path, LEAKING, "23:00..01:00", "constant")
    status, night = invert(tmp_path, LEAKING, "--at", "20:00", "--from", "20:30", "--loss", loss)
    assert status == 0
    assert abs(night["held_out"]["number_error"]) < 0.06
    assert night["number_interval"][0] < night["held_out"]["number"] < night["number_interval"][1]
    status, day = invert(tmp_path, LEAKING, "--at", "16:05", "--from", "17:05", "--loss", loss)
    assert status == 2
    assert day["model"]["adequate"] is False
    assert day["number_interval"] is None
    assert abs(day["held_out"]["number_error"]) > 0.15
