"""Real instruments' files: what they say of themselves is what is read."""

import os
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from tests.aerosol.formats.test_observations import assert_same

from retrograde.aerosol.formats import FormatError, Observations
from retrograde.aerosol.formats import read as read_file
from retrograde.aerosol.formats._aim_fields import Quantities
from retrograde.aerosol.formats._aim_scan import _column, _ramp
from retrograde.aerosol.formats._aim_sheet import key_line, sheet_of
from retrograde.aerosol.formats._classifier import Column, Ramp, inlet_times

ROOT = Path(__file__).parents[3]
DATA = Path(os.environ.get("RETROGRADE_SHARED", ROOT.parent / "shared")) / "data"
CHAMBER = "py_smps_mit_chamber_sample_column.txt"
NIGHT = "particula_beta_chamber_2023-09-25_SMPS.csv"
ROOM = "aerosoltools_Sample_SMPS.txt"
MERGED = "houmergedsmpsapsmlM1.c1.20220801.000000.nc"
COMPOSITION = "sgpaosacsmE13.b2.20230420.000109.nc"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"there are no measurements at {DATA}")


@lru_cache
def read(path: Path, variable: str | None = None) -> Observations:
    """Each file once: observations cannot be changed."""
    return read_file(path, variable=variable)


def at(text: str) -> np.datetime64:
    return np.datetime64(text, "ns")


@pytest.mark.parametrize(
    ("name", "scans", "bins", "smallest", "largest", "first", "last"),
    [
        (CHAMBER, 97, 107, 21.7, 982.2, "2017-06-12T10:44:45", "2017-06-12T14:44:50"),
        (NIGHT, 336, 216, 15.82, 756.67, "2023-09-25T14:59:08", "2023-09-26T07:53:33"),
        (ROOM, 243, 96, 17.5, 532.8, "2018-02-27T10:17:02", "2018-02-27T14:39:07"),
        (MERGED, 24, 212, 10.55512, 20909.38, "2022-07-31T23:30:00", "2022-08-01T22:30:00"),
    ],
)
def test_sizes_times_and_totals_are_the_files_own(name, scans, bins, smallest, largest, first, last):
    observations = read(DATA / name)
    assert (observations.scans, observations.bins) == (scans, bins)
    assert observations.diameters[0] == pytest.approx(smallest * 1e-9, abs=0.05e-9)
    assert observations.diameters[-1] == pytest.approx(largest * 1e-9, rel=1e-4)
    assert observations.start[[0, -1]].tolist() == [at(first).astype(int), at(last).astype(int)]
    assert observations.diameter_kind == "mobility"
    sums = np.nansum(observations.number, axis=1)
    known = observations.total > 0.0
    np.testing.assert_allclose(sums[known], observations.total[known], rtol=1e-5)


def test_chamber_says_what_was_not_corrected_and_which_scan_is_when():
    chamber = read(DATA / CHAMBER)
    assert chamber.not_corrected_for == {"multiple charge", "diffusion loss"}
    assert chamber.density == pytest.approx(1000.0)
    assert chamber.flow == pytest.approx(5e-6)
    assert chamber.temperature is None
    assert chamber.pressure is None
    assert chamber.flags == ((),) * 97
    assert chamber.select("2017-06-12T14:12:20", "2017-06-12T14:12:20").scans == 1


@pytest.mark.parametrize(("name", "label"), [(CHAMBER, "mean"), (NIGHT, "mean"), (ROOM, "mean")])
def test_mean_diameters_are_those_that_the_instrument_computed(name, label):
    observations = read(DATA / name)
    theirs = _quantities(name).plain(label) * 1e-9
    ours = observations.number @ observations.diameters / np.maximum(observations.number.sum(axis=1), 1e-9)
    full = observations.total > 1e8
    np.testing.assert_allclose(ours[full], theirs[full], rtol=2e-3)


def test_air_of_the_nights_chamber_and_its_flags():
    night = read(DATA / NIGHT)
    assert night.temperature[0] == pytest.approx(24.1 + 273.15)
    assert night.pressure[[0, -1]] == pytest.approx([79100.0, 79200.0])
    assert night.corrected_for == {"multiple charge", "diffusion loss"}
    assert night.flags[0] == ("Detector saturator temp error", "Incomplete Scan")
    assert sum("Detector saturator temp error" in flags for flags in night.flags) == 30


def test_room_air_is_dated_day_first_in_latin_text():
    room = read(DATA / ROOM)
    assert room.start[1] == at("2018-02-27T10:18:06")
    assert room.corrected_for == {"diffusion loss"}
    assert room.not_corrected_for == {"multiple charge"}
    assert room.flow == pytest.approx(0.05e-3 / 60.0)
    assert room.pressure[0] == pytest.approx(102600.0)


def test_merged_spectra_have_hours_missing_sizes_and_quality_flags():
    merged = read(DATA / MERGED)
    np.testing.assert_array_equal(merged.times[:, 0] - merged.start, np.timedelta64(1800, "s"))
    assert np.isnan(merged.number).any(axis=0).nonzero()[0].tolist() == list(range(175, 212))
    with xr.open_dataset(DATA / MERGED, engine="scipy") as dataset:
        doubted = (dataset["qc_merged_dN_dlogDp_network"] > 0) | (dataset["qc_merged_dN_dlogDp_ensemble"] > 0)
        assert [bool(flags) for flags in merged.flags] == doubted.values.tolist()
    assert "Times are in UTC." in merged.notes


def test_one_of_several_spectra_may_be_chosen():
    aerodynamic = read(DATA / MERGED, variable="aps_dN_dlogDp")
    assert aerodynamic.diameter_kind == "aerodynamic"
    assert aerodynamic.bins == 52
    with pytest.raises(FormatError, match=r"those are: merged_dN_dlogDp, aps_dN_dlogDp, smps_dN_dlogDp"):
        read(DATA / MERGED, variable="effective_density")


def test_bulk_composition_is_refused_by_what_it_holds():
    with pytest.raises(FormatError, match=r"no size distribution: .*it holds total_organics \[ug/m\^3\], sulfate"):
        read(DATA / COMPOSITION)


def _quantities(name: str) -> Quantities:
    lines = (DATA / name).read_bytes().decode("utf-8" if name == NIGHT else "cp1252").splitlines()
    return Quantities(sheet_of(DATA / name, lines, key_line(lines)))


def _instrument(name: str) -> tuple[Ramp, Column, np.ndarray]:
    quantities = _quantities(name)
    sizes = [quantities.plain("lower size")[0], quantities.plain("upper size")[0]]
    return _ramp(quantities), _column(quantities), np.array(sizes) * 1e-9


@pytest.mark.parametrize("name", [CHAMBER, NIGHT, ROOM])
def test_the_ramp_begins_and_ends_at_the_sizes_that_the_instrument_states(name):
    """Each scan's smallest and largest size enter as the ramp begins, and a transit before it ends."""
    ramp, column, sizes = _instrument(name)
    first, last = inlet_times(sizes, ramp, column)[0]
    assert first == pytest.approx(0.0, abs=0.3)
    assert last == pytest.approx(float(ramp.duration[0, 0] - ramp.transit[0, 0]), abs=0.5)


def test_channels_of_the_chambers_scans_follow_each_other_through_the_ramp():
    """Up in 120 s: the mean size of 90 nm is sampled three quarters of a minute after the smallest."""
    chamber = read(DATA / CHAMBER)
    offsets = (chamber.times - chamber.start[:, None])[50].astype(float) * 1e-9
    assert np.all(np.diff(offsets) > 0.0)
    assert offsets[0] == pytest.approx(0.9, abs=0.5)
    assert offsets[-1] == pytest.approx(107.0, abs=0.5)
    assert offsets[40] == pytest.approx(48.1, abs=0.5)


def test_one_count_is_the_smallest_step_of_the_smallest_sizes():
    """Uncorrected numbers of few counts come in steps; a step is a count, to the counter's efficiency."""
    chamber = read(DATA / CHAMBER)
    for channel in (0, 5):
        number = np.unique(chamber.number[:12, channel])
        step = number[number > 0.0][0]
        assert np.allclose(number[number < 3.5 * step] / step, np.round(number[number < 3.5 * step] / step), atol=0.5)
        scan = int(np.argmax(chamber.number[:, channel]))
        one = chamber.uncertainty[scan, channel] ** 2 / chamber.number[scan, channel]
        assert one == pytest.approx(step, rel=0.05)


def test_scatter_of_a_slow_decay_is_that_of_counting():
    """In the night, second differences in time show the noise alone; sizes corrected little agree with it."""
    night = read(DATA / NIGHT).select("2023-09-25T20:00:00")
    bend = night.number[2:] - 2.0 * night.number[1:-1] + night.number[:-2]
    variance = np.mean(bend**2, axis=0) / 6.0
    expected = np.mean(night.uncertainty**2, axis=0)
    large = (night.diameters > 250e-9) & (night.diameters < 450e-9)
    assert np.mean(variance[large]) / np.mean(expected[large]) == pytest.approx(1.0, abs=0.35)


@pytest.mark.parametrize("name", [CHAMBER, NIGHT, ROOM, MERGED])
def test_own_netcdf_gives_everything_back(name, tmp_path):
    first = read(DATA / name)
    first.dataset().to_netcdf(tmp_path / "scans.nc", engine="h5netcdf")
    assert_same(read_file(tmp_path / "scans.nc"), first)
