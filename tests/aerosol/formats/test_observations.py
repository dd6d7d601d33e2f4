"""The container of measurements: round trips, selection, the ln 10 factor, refusals."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from retrograde.aerosol.formats import Observations
from retrograde.aerosol.formats.observations import OBSERVATION_FIELDS

SCANS, BINS = 5, 7
EDGES = np.geomspace(20e-9, 640e-9, BINS + 1)
START = np.datetime64("2017-06-12T14:12:20", "ns") + np.arange(SCANS) * np.timedelta64(150, "s")


def full() -> Observations:
    """Observations with every field set to something that can be told apart."""
    random = np.random.default_rng(5)
    number = random.lognormal(20.0, 1.0, size=(SCANS, BINS))
    number[2, 3] = np.nan
    offsets = np.round(random.uniform(0.0, 120.0, size=(SCANS, BINS)), 6)
    return Observations(
        start=START,
        times=START[:, None] + (offsets * 1e6).astype("timedelta64[us]"),
        diameters=np.sqrt(EDGES[1:] * EDGES[:-1]),
        edges=EDGES,
        number=number,
        uncertainty=0.1 * number,
        counts=np.floor(random.uniform(0.0, 900.0, size=(SCANS, BINS))),
        flow=5e-6,
        temperature=np.linspace(295.0, 297.0, SCANS),
        pressure=np.full(SCANS, 79100.0),
        total=np.array([1e11, np.nan, 3e11, 4e11, 5e11]),
        density=1200.0,
        diameter_kind="mobility",
        corrected_for=frozenset({"multiple charge"}),
        not_corrected_for=frozenset({"diffusion loss", "impactor"}),
        flags=((), ("Incomplete Scan", "Low flow"), (), (), ()),
        source="chamber.txt (AIM)",
        notes=("Dates are month first.", "Density is 1."),
    )


def assert_same(left: Observations, right: Observations) -> None:
    for name in OBSERVATION_FIELDS:
        a, b = getattr(left, name), getattr(right, name)
        if isinstance(a, np.ndarray):
            np.testing.assert_array_equal(a, b, err_msg=name)
        else:
            assert a == b, name


def test_dataset_gives_every_field_back():
    assert_same(Observations.from_dataset(full().dataset()), full())


def test_netcdf_gives_every_field_back(tmp_path):
    full().dataset().to_netcdf(tmp_path / "scans.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "scans.nc", engine="h5netcdf") as dataset:
        assert_same(Observations.from_dataset(dataset), full())


def test_fields_left_out_stay_out():
    bare = Observations(START, full().times, full().diameters, EDGES, full().number)
    assert_same(Observations.from_dataset(bare.dataset()), bare)


def test_dataset_without_channel_times_takes_the_start():
    back = Observations.from_dataset(full().dataset().drop_vars("channel_time"))
    np.testing.assert_array_equal(back.times, np.repeat(START[:, None], BINS, axis=1))


def test_dataset_carries_cf_names_units_and_bounds():
    dataset = full().dataset()
    number = dataset["number_concentration"]
    assert number.attrs["standard_name"] == "number_concentration_of_ambient_aerosol_particles_in_air"
    assert number.attrs["units"] == "m-3"
    assert dataset[dataset["diameter"].attrs["bounds"]].shape == (BINS, 2)
    assert dataset["air_pressure"].attrs == {"units": "Pa", "standard_name": "air_pressure"}


def test_spectrum_is_number_over_the_width_in_ln_diameter():
    observations = full()
    per_log10 = observations.number / (np.log10(EDGES[1]) - np.log10(EDGES[0]))
    np.testing.assert_allclose(observations.spectrum() * np.log(10.0), per_log10, rtol=1e-12)


def test_selection_is_by_start_and_includes_both_ends():
    some = full().select("2017-06-12T14:14:50", np.datetime64("2017-06-12T14:19:50"))
    assert_same(some.select(), some)
    np.testing.assert_array_equal(some.start, START[1:4])
    np.testing.assert_array_equal(some.number, full().number[1:4])
    np.testing.assert_array_equal(some.times, full().times[1:4])
    np.testing.assert_array_equal(some.temperature, full().temperature[1:4])
    assert some.flags == full().flags[1:4]
    assert full().select(end="2017-06-12T14:14:49").scans == 1


def test_arrays_cannot_be_written():
    with pytest.raises(ValueError, match="read-only"):
        full().number[0, 0] = 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"start": START[::-1]}, "order of time"),
        ({"start": START[:0]}, "at least one"),
        ({"start": np.full(SCANS, "NaT", dtype="datetime64[ns]")}, "start: expected a time everywhere"),
        ({"times": full().times[:, 1:]}, r"times: expected shape \[scans, bins\] = \[5, 7\], got \[5, 6\]"),
        ({"number": full().number[0]}, "number: expected shape"),
        ({"number": full().number * np.inf}, r"number \[m\^-3\]: expected finite"),
        ({"uncertainty": -full().number}, r"uncertainty \[m\^-3\]: expected no negative"),
        ({"pressure": np.full(SCANS, -1.0)}, r"pressure \[Pa\]"),
        ({"total": np.ones(2)}, "total: expected shape"),
        ({"edges": EDGES[1:]}, "edges"),
        ({"diameters": EDGES[1:] * 1e9}, "nm or um"),
        ({"flow": 0.0}, r"flow \[m\^3 s\^-1\]"),
        ({"density": float("nan")}, "density"),
        ({"flags": ((),)}, "flags: expected one tuple"),
    ],
)
def test_bad_fields_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        replace(full(), **change)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.drop_vars("number_concentration"), "number_concentration: no such variable"),
        (lambda d: d.drop_vars("diameter_bounds"), "diameter_bounds: no such variable"),
        (lambda d: d.assign(air_pressure=d["air_pressure"].assign_attrs(units="hPa")), "expected units Pa, got hPa"),
        (lambda d: d.assign(counts=d["counts"].isel(time=0)), "counts: expected dimensions"),
        (lambda d: d.assign(channel_time=d["channel_time"].isel(time=0)), "channel_time: expected dimensions"),
        (lambda d: d.assign_coords(time=np.arange(SCANS)), "time: expected decoded times"),
    ],
)
def test_bad_datasets_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Observations.from_dataset(change(full().dataset()))


@pytest.mark.parametrize("times", [("2018-01-01", None), ("noon", None), (None, "NaT")])
def test_selections_without_scans_are_refused(times):
    with pytest.raises(ValueError, match=r"no scan starts|is no time"):
        full().select(*times)
