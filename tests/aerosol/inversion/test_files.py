"""Files of an inversion: loss laws, settings, recoveries, unfinished work."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from tests.aerosol.inversion.twins import twin

from retrograde.aerosol.inversion.certificate import read_certificate_input, write_certificate_input
from retrograde.aerosol.inversion.figures import write_page
from retrograde.aerosol.inversion.loss_file import LossFileError, read_loss, write_loss
from retrograde.aerosol.inversion.loss_laws import CalibratedLoss
from retrograde.aerosol.inversion.recovering import Recovery, recover
from retrograde.aerosol.inversion.recovery_file import read_recovery, write_recovery
from retrograde.aerosol.inversion.settings import SettingsError, read_settings
from retrograde.aerosol.inversion.stages import Stages
from retrograde.aerosol.inversion.summary import Report, render_summary, summarise


@pytest.fixture(scope="module")
def recovery() -> Recovery:
    return recover(twin(scans=4).case([3], [0, 1, 2], ensemble=8, knots_per_decade=10.0), held_out=0)


def test_a_law_survives_its_file(tmp_path: Path) -> None:
    values = {"dilution": 1e-4, "eddy_coefficient": 0.05, "radius": 0.3, "enhancement": 1.4}
    names = ("dilution", "eddy_coefficient", "enhancement")
    loss = CalibratedLoss("eddy", values, names, np.diag([0.1, 0.2, 0.3]), ("2020-01-01T10:00:00", "x"), 'a "file"\n')
    write_loss(tmp_path / "loss.toml", loss)
    read = read_loss(tmp_path / "loss.toml")
    assert (read.law, read.values, read.names, read.window) == (loss.law, values, names, loss.window)
    np.testing.assert_array_equal(read.covariance, loss.covariance)
    moved = read.variations(0.5)
    assert len(moved) == 3
    assert max(m.values["enhancement"] for m in moved) == pytest.approx(1.4 * np.exp(0.5 * np.sqrt(0.3)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("law = 3", "expected law"),
        ('law = "cubic"\n[parameters]', "expected one of constant, power-law, eddy"),
        ('law = "constant"\n[parameters]\nslope = 1.0', "rate is missing; slope is none"),
        ('law = "constant"\n[parameters]\nrate = "fast"', r"\[parameters\] rate: expected a number"),
        ('law = "constant"\n[parameters]\nrate = -1.0', "not negative"),
        ('law = "constant"\n[parameters]\nrate = nan', "finite"),
        ('law = "constant"\nrates = 1\n[parameters]\nrate = 1.0', "no such key"),
        ("law = ", "not TOML"),
        (
            'law = "constant"\n[parameters]\nrate = 1.0\n[calibration]\nnames = ["rate"]\ncovariance = [[1.0, 2.0]]',
            "expected shape",
        ),
    ],
)
def test_a_loss_file_that_is_none_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "loss.toml").write_text(text)
    with pytest.raises(LossFileError, match=message):
        read_loss(tmp_path / "loss.toml")
    with pytest.raises(LossFileError, match="No such file"):
        read_loss(tmp_path / "other.toml")


def test_settings_are_read_and_wrong_ones_refused(tmp_path: Path) -> None:
    path = tmp_path / "problem.toml"
    path.write_text(
        '[particles]\ndensity = 1500\n[prior]\nstrength = "l-curve"\n[solver]\nmethod = "l-bfgs-b"\nstarts = 2\n'
        "[errors]\nkernel = 0.2\n"
    )
    settings = read_settings(path)
    assert (settings.density, settings.strength, settings.solver, settings.starts) == (1500.0, "l-curve", "l-bfgs-b", 2)
    assert settings.errors.kernel == 0.2
    for text, message in (
        ("[soup]\n", "no such section"),
        ("[particles]\nmass = 1\n", "no such key"),
        ("[particles]\ndensity = true\n", "expected a number"),
        ("[particles]\ndensity = -1\n", "finite positive"),
        ("[solver]\nstarts = 1.5\n", "expected a whole number"),
        ('[prior]\nstrength = "weak"\n', "strength"),
        ("particles = 3\n", "expected a section"),
        ("[errors]\nmodel = 0.5\n", "model_limit"),
    ):
        path.write_text(text)
        with pytest.raises(SettingsError, match=message):
            read_settings(path)


def test_a_recovery_survives_its_file(tmp_path: Path, recovery: Recovery) -> None:
    write_recovery(tmp_path / "recovery.nc", recovery)
    state = read_recovery(tmp_path / "recovery.nc")
    assert state.grid == recovery.state.grid
    np.testing.assert_array_equal(state.x, recovery.state.x)
    np.testing.assert_array_equal(state.number, recovery.state.number)
    np.testing.assert_allclose(state.interval(true=True), recovery.state.interval(true=True), rtol=1e-12)
    np.testing.assert_array_equal(state.uncertainty.averaging_kernel, recovery.state.uncertainty.averaging_kernel)
    with xr.open_dataset(tmp_path / "recovery.nc", engine="h5netcdf", decode_times=False) as dataset:
        assert dataset.attrs["Conventions"].startswith("CF")
        assert dataset["number_concentration"].attrs["units"] == "m-3"
        assert dataset["scan_start"].attrs["units"] == "seconds since 2020-05-04 10:00:00"
        assert int(dataset["channel_was_used"].sum()) == recovery.case.channels(recovery.case.seen).count
    xr.Dataset({"a": 1}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(ValueError, match="not a recovery"):
        read_recovery(tmp_path / "other.nc")


def test_figures_and_words_say_the_same(tmp_path: Path, recovery: Recovery) -> None:
    write_page(recovery, [tmp_path / "recovery.png", tmp_path / "recovery.svg"])
    assert (tmp_path / "recovery.png").stat().st_size > 30_000
    assert "<svg" in (tmp_path / "recovery.svg").read_text()[:2000]
    report = Report(recovery, None, ("A remark.",))
    document, text = summarise(report), render_summary(report)
    assert text.startswith("RECOVERED")
    assert f"{float(format(document['number'], '.4g')):,.0f} cm^-3" in text
    assert document["number_interval"][0] < document["number"] < document["number_interval"][1]
    assert document["assumptions"][0] == "A remark."
    assert any("volume diameter" in sentence for sentence in document["assumptions"])
    assert document["gradient"] == {"verdict": "not-audited", "error": None}
    assert document["held_out"]["number"] == pytest.approx(recovery.held_out.measured.sum() * 1e-6)


def test_unfinished_work_is_taken_up(tmp_path: Path, recovery: Recovery) -> None:
    """A second run takes finished stages from the file; another problem's file is ignored, and so is a broken one."""
    path = tmp_path / "unfinished.npz"
    case = recovery.case

    def never() -> None:
        raise AssertionError("computed again")

    first = Stages(path, recovery.problem, case.settings)
    first.minimum(lambda: recovery.minimum)
    first.ensemble(lambda: recovery.ensemble)
    again = Stages(path, recovery.problem, case.settings)
    minimum = again.minimum(never)
    np.testing.assert_array_equal(minimum.x, recovery.minimum.x)
    assert minimum.stopping is recovery.minimum.stopping
    assert minimum.curve.strength == recovery.minimum.curve.strength
    assert again.ensemble(never).ratio == recovery.ensemble.ratio
    resumed = recover(case, resume=path)
    np.testing.assert_array_equal(resumed.minimum.x, recovery.minimum.x)
    other = twin(scans=4, seed=9).case([3], knots_per_decade=10.0)
    with pytest.raises(AssertionError, match="computed again"):
        Stages(path, other.problem(), other.settings).minimum(never)
    path.write_bytes(b"PK\x03\x04 no archive")
    with pytest.raises(AssertionError, match="computed again"):
        Stages(path, recovery.problem, case.settings).minimum(never)


def test_the_audited_problem_is_the_one_that_was_solved(tmp_path: Path, recovery: Recovery) -> None:
    path = tmp_path / "problem.npz"
    write_certificate_input(path, recovery.problem, recovery.minimum.x, recovery.minimum.curve.strength)
    problem, x, strength = read_certificate_input(path)
    assert strength == recovery.minimum.curve.strength
    assert np.all(np.abs(np.abs(x - recovery.minimum.x) - 0.1) < 1e-12)
    from retrograde.aerosol.inversion.evaluation import Evaluation

    for made in (problem, recovery.problem):
        predicted, valid = Evaluation(made, 1).predict(recovery.minimum.x[None])
        assert valid.all()
        np.testing.assert_allclose(predicted[0], recovery.minimum.predicted, rtol=1e-12)


def test_missing_channels_are_left_out_and_drawn_white(tmp_path: Path) -> None:
    """Sizes that no scan gives, and one value that is missing, are no reason to fail."""
    known = twin(scans=3)
    number = known.observations.number.copy()
    number[:, :3] = np.nan
    number[2, 20] = np.nan
    broken = replace(known, observations=replace(known.observations, number=number))
    result = recover(broken.case([2], [0, 1], knots_per_decade=10.0), held_out=0)
    assert result.case.channels(result.case.seen).count == known.observations.bins - 4
    assert abs(result.held_out.recovered.number_error) < 0.02
    write_page(result, [tmp_path / "recovery.png"])
