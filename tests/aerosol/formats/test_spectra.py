"""Size distributions in datasets: found by units, kinds by their names, bounds, quality bits, several variables."""

import numpy as np
import pytest
import xarray as xr

from retrograde.aerosol.formats import FormatError, SpectrumKind, read

EDGES = np.geomspace(10.0, 1000.0, 8)  # [nm]
CENTRES = np.linspace(0.3, 0.7, 7) * EDGES[1:] + np.linspace(0.7, 0.3, 7) * EDGES[:-1]
NUMBER = np.random.default_rng(3).uniform(1.0, 900.0, size=(4, 7))  # in each bin [cm^-3]
TIMES = np.datetime64("2022-08-01T00:30", "ns") + np.arange(4) * np.timedelta64(1, "h")
WIDTH = np.diff(np.log10(EDGES))


def dataset(**attributes: str) -> xr.Dataset:
    """As ARM writes: a spectrum with bounds of time and size, and quality bits."""
    half = np.timedelta64(30, "m")
    bits = np.zeros((4, 7), dtype=np.int32)
    bits[1, 2], bits[2, 3], bits[3, 3] = 1, 2, -9999
    return xr.Dataset(
        {
            "dN_dlogDp": (("time", "size"), NUMBER / WIDTH, {"units": "1/cm^3", **attributes}),
            "qc_dN_dlogDp": (
                ("time", "size"),
                bits,
                {
                    "bit_1_description": "Flow is low.",
                    "bit_1_assessment": "Bad",
                    "bit_2_description": "Flow is odd; maybe",
                    "bit_2_assessment": "Indeterminate",
                },
            ),
            "size_bounds": (("size", "bound"), np.stack([EDGES[:-1], EDGES[1:]], axis=1)),
            "time_bounds": (("time", "bound"), np.stack([TIMES - half, TIMES + half], axis=1)),
            "t_room": ("time", np.full(4, 22.0), {"units": "degC", "standard_name": "air_temperature"}),
            "p_room": ("time", np.full(4, 995.0), {"units": "hPa", "standard_name": "air_pressure"}),
        },
        {
            "time": ("time", TIMES, {"bounds": "time_bounds"}),
            "size": ("size", CENTRES, {"units": "nm", "bounds": "size_bounds", "long_name": "Mobility diameter"}),
        },
    )


def test_number_sizes_times_and_air_are_read():
    observations = read(dataset().drop_vars("qc_dN_dlogDp"))
    np.testing.assert_allclose(observations.number, NUMBER * 1e6, rtol=1e-12)
    np.testing.assert_allclose(observations.edges, EDGES * 1e-9, rtol=1e-12)
    np.testing.assert_allclose(observations.diameters, CENTRES * 1e-9, rtol=1e-12)
    np.testing.assert_array_equal(observations.start, TIMES - np.timedelta64(30, "m"))
    np.testing.assert_array_equal(observations.times, np.repeat(TIMES[:, None], 7, axis=1))
    np.testing.assert_allclose(observations.temperature, 295.15)
    np.testing.assert_allclose(observations.pressure, 99500.0)
    assert observations.diameter_kind == "mobility"


def test_bad_values_are_missing_and_doubtful_ones_are_flagged():
    observations = read(dataset())
    assert np.argwhere(np.isnan(observations.number)).tolist() == [[1, 2]]
    assert observations.flags == (
        (),
        ("qc_dN_dlogDp bad: Flow is low",),
        ("qc_dN_dlogDp indeterminate: Flow is odd, maybe",),
        (),
    )


@pytest.mark.parametrize(
    ("name", "attributes", "factor"),
    [
        ("dNdlogDp", {}, 1.0 / WIDTH),
        ("spectrum", {"long_name": "dN/dlog10 D"}, 1.0 / WIDTH),
        (
            "spectrum",
            {"standard_name": "log10_size_interval_based_number_size_distribution_of_aerosol_particles_in_air"},
            1.0 / WIDTH,
        ),
        ("dN_dlnD", {}, 1.0 / (WIDTH * np.log(10.0))),
        ("spectrum", {"standard_name": "number_concentration_of_ambient_aerosol_particles_in_air"}, 1.0),
    ],
)
def test_kinds_are_told_by_names(name, attributes, factor):
    spectra = dataset().drop_vars(["dN_dlogDp", "qc_dN_dlogDp"])
    spectra[name] = (("size", "time"), (NUMBER * factor).T, {"units": "cm-3", **attributes})
    observations = read(spectra)
    np.testing.assert_allclose(observations.number, NUMBER * 1e6, rtol=1e-12)
    np.testing.assert_allclose(observations.spectrum() * WIDTH * np.log(10.0), NUMBER * 1e6, rtol=1e-12)


def test_an_unnamed_kind_is_asked_for():
    spectra = dataset().rename(dN_dlogDp="spectrum").drop_vars("qc_dN_dlogDp")
    with pytest.raises(FormatError, match="kind: spectrum does not say what it counts"):
        read(spectra)
    observations = read(spectra, kind=SpectrumKind.PER_LOG10_DIAMETER)
    np.testing.assert_allclose(observations.number, NUMBER * 1e6, rtol=1e-12)


def test_sizes_may_fall_and_have_no_bounds():
    spectra = dataset().drop_vars(["size_bounds", "qc_dN_dlogDp"]).isel(size=slice(None, None, -1))
    observations = read(spectra)
    np.testing.assert_allclose(observations.diameters, CENTRES * 1e-9, rtol=1e-12)
    inner = np.sqrt(CENTRES[1:] * CENTRES[:-1]) * 1e-9
    np.testing.assert_allclose(observations.edges[1:-1], inner, rtol=1e-12)
    widths = np.diff(np.log10(observations.edges))
    np.testing.assert_allclose(observations.number, NUMBER / WIDTH * widths * 1e6, rtol=1e-12)


def test_merged_spectra_come_before_their_parts():
    spectra = dataset()
    spectra["merged_dN_dlogDp"] = 2.0 * spectra["dN_dlogDp"].assign_attrs(units="1/cm^3")
    spectra["merged_dN_dlogDp"].attrs["units"] = "1/cm^3"
    np.testing.assert_allclose(read(spectra).number, 2.0 * NUMBER * 1e6, rtol=1e-12)
    assert np.isnan(read(spectra, variable="dN_dlogDp").number[1, 2])


@pytest.mark.parametrize("engine", ["h5netcdf", "scipy"])
def test_both_kinds_of_netcdf_files_are_read(tmp_path, engine):
    written = dataset()
    written["time"].encoding["units"] = "seconds since 2022-08-01 00:00:00"
    written.to_netcdf(tmp_path / "spectra.data", engine=engine)
    observations = read(tmp_path / "spectra.data")
    np.testing.assert_allclose(np.delete(observations.number, 2, 1), np.delete(NUMBER, 2, 1) * 1e6, rtol=1e-12)
    assert observations.flags[1] == ("qc_dN_dlogDp bad: Flow is low",)


def _gap(spectra: xr.Dataset) -> xr.Dataset:
    bounds = spectra["size_bounds"].values.copy()
    bounds[3, 1] *= 0.9
    return spectra.assign(size_bounds=(("size", "bound"), bounds))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.drop_vars("dN_dlogDp"), "no size distribution: .*; it holds t_room"),
        (lambda d: d.assign(dN_dlnD=d["dN_dlogDp"]), "several numbers .*: dN_dlogDp, dN_dlnD; give one as variable"),
        (lambda d: d.drop_vars("time"), "no size distribution"),
        (lambda d: d.assign_coords(size=d["size"].assign_attrs(units="furlong")), "no size distribution"),
        (_gap, "size: the bins leave gaps or overlap"),
        (lambda d: d.assign(p_room=d["p_room"].assign_attrs(units="psi")), "'psi' is no known unit of pressure"),
        (lambda d: d.assign(dN_dlogDp=d["dN_dlogDp"].assign_attrs(units="g")), "no size distribution"),
    ],
)
def test_bad_datasets_are_refused(change, message):
    with pytest.raises(FormatError, match=message):
        read(change(dataset()))


def test_a_total_of_another_kind_is_refused():
    spectra = dataset().drop_vars("qc_dN_dlogDp")
    spectra["total_N_conc"] = ("time", NUMBER.sum(axis=1), {"units": "1/cm^3"})
    np.testing.assert_allclose(read(spectra).total, NUMBER.sum(axis=1) * 1e6)
    spectra["total_N_conc"] = ("time", NUMBER.sum(axis=1) * np.log(10.0), {"units": "1/cm^3"})
    with pytest.raises(FormatError, match=r"0\.434 times the file's own total"):
        read(spectra)
