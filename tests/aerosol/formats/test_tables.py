"""xarray and pandas: round trips through memory and NetCDF, CF metadata, and refusals."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from retrograde.aerosol import Environment, SectionalState, SizeGrid
from retrograde.aerosol.formats import (
    SpectrumKind,
    environment_from_xarray,
    from_pandas,
    from_xarray,
    series_to_xarray,
    to_pandas,
    to_xarray,
)

GRID = SizeGrid.from_volumes(np.geomspace(1e-24, 1e-20, 9) * np.linspace(1.0, 1.5, 9))
NUMBER = np.random.default_rng(2).lognormal(20.0, 2.0, size=(3, 9))
STATE = SectionalState.from_numpy(NUMBER, GRID)
AIR = Environment(np.array([298.0, 290.0, 280.0]), np.array([1e5, 9e4, 8e4]))


def test_dataset_gives_the_state_back_exactly():
    back = from_xarray(to_xarray(STATE))
    assert back.grid == GRID
    assert np.array_equal(back.numpy(), NUMBER)


def test_netcdf_gives_state_and_environment_back_exactly(tmp_path):
    to_xarray(STATE, AIR).to_netcdf(tmp_path / "state.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "state.nc", engine="h5netcdf") as dataset:
        assert np.array_equal(from_xarray(dataset).numpy(), NUMBER)
        assert from_xarray(dataset).grid == GRID
        air = environment_from_xarray(dataset)
    assert np.array_equal(air.temperature, AIR.temperature)
    assert np.array_equal(air.pressure, AIR.pressure)


def test_dataset_carries_cf_names_units_and_bounds():
    dataset = to_xarray(STATE, AIR)
    number = dataset["number_concentration"]
    assert number.attrs["units"] == "m-3"
    assert number.attrs["standard_name"] == "number_concentration_of_ambient_aerosol_particles_in_air"
    assert dataset.attrs["Conventions"].startswith("CF-")
    bounds = dataset[dataset["particle_volume"].attrs["bounds"]]
    assert bounds.shape == (9, 2)
    assert ((bounds[:, 0] < dataset["particle_volume"]) & (dataset["particle_volume"] < bounds[:, 1])).all()
    assert dataset["air_temperature"].attrs["units"] == "K"


def test_series_has_a_time_and_one_time_of_it_is_a_state():
    series = series_to_xarray(np.stack([NUMBER, 0.5 * NUMBER]), GRID, times=[0.0, 60.0])
    assert series["number_concentration"].dims == ("time", "box", "size")
    assert np.array_equal(from_xarray(series.isel(time=1)).numpy(), 0.5 * NUMBER)
    with pytest.raises(ValueError, match=r"isel\(time"):
        from_xarray(series)


def test_foreign_spectrum_is_read_by_its_units():
    diameters = np.geomspace(10.0, 500.0, 30)
    per_log10 = np.random.default_rng(1).lognormal(5.0, 1.0, size=(30, 2))
    dataset = xr.Dataset(
        {"dN_dlogDp": (("size", "box"), per_log10, {"units": "1/cm^3"})},
        {"diameter": ("size", diameters, {"units": "nm"})},
    )
    state = from_xarray(dataset, "dN_dlogDp", kind=SpectrumKind.PER_LOG10_DIAMETER)
    width = np.log10(diameters[1] / diameters[0])
    np.testing.assert_allclose(state.numpy(), per_log10.T * 1e6 * width, rtol=1e-12)


def test_frame_gives_the_state_back_in_any_units():
    for kind, concentration, diameter in (
        (SpectrumKind.PER_BIN, "m-3", "m"),
        (SpectrumKind.PER_LOG10_DIAMETER, "cm-3", "nm"),
        (SpectrumKind.PER_LN_DIAMETER, "cm^-3", "um"),
    ):
        frame = to_pandas(STATE, kind=kind, concentration_unit=concentration, diameter_unit=diameter)
        assert frame.shape == (3, 9)
        back = from_pandas(frame)
        np.testing.assert_allclose(back.numpy(), NUMBER, rtol=1e-12)
        np.testing.assert_allclose(back.grid.volumes, GRID.volumes, rtol=1e-12)


def test_frame_with_text_labels_and_known_total_is_read():
    frame = pd.DataFrame([[100.0, 200.0, 50.0]], columns=["10.0", "20.0", "40.0"])
    options = {"kind": SpectrumKind.PER_BIN, "concentration_unit": "cm-3", "diameter_unit": "nm"}
    assert from_pandas(frame, **options, total=350.0).total_number()[0] == pytest.approx(350e6)
    with pytest.raises(ValueError, match="adds up to"):
        from_pandas(frame, **options, total=700.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: from_xarray(to_xarray(STATE), "mass"), "mass: no such variable; there are number_concentration"),
        (lambda: from_xarray(to_xarray(STATE).rename(size="bin")), r"expected dimensions \(box, size\)"),
        (lambda: from_xarray(_without_units("number_concentration")), "no units attribute"),
        (lambda: from_xarray(_without_units("particle_volume")), "no units attribute"),
        (lambda: from_xarray(_with_units("number_concentration", "g")), "'g' is no known unit"),
        (lambda: from_xarray(_with_units("particle_volume", "um3")), "expected units m3"),
        (lambda: environment_from_xarray(to_xarray(STATE)), r"air_temperature \[K\]: no such variable"),
        (lambda: environment_from_xarray(_with_units("air_temperature", "degC")), "expected units K, got degC"),
        (lambda: to_xarray(STATE, Environment.uniform(2)), "expected 3 boxes"),
        (lambda: series_to_xarray(NUMBER[0], GRID), "expected shape"),
        (lambda: from_pandas(pd.DataFrame([[1.0, 2.0]], columns=[1e-8, 2e-8])), "kind, concentration_unit"),
        (lambda: from_pandas(to_pandas(STATE).rename(columns=lambda d: f"d{d}")), "columns: expected diameters"),
    ],
)
def test_bad_tables_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def _without_units(name: str) -> xr.Dataset:
    dataset = to_xarray(STATE, AIR)
    del dataset[name].attrs["units"]
    return dataset


def _with_units(name: str, units: str) -> xr.Dataset:
    dataset = to_xarray(STATE, AIR)
    dataset[name].attrs["units"] = units
    return dataset
