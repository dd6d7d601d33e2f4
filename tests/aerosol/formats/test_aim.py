"""TSI AIM exports: every layout gives the same numbers, times and air; what is wrong is named with its place."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.aerosol.formats.aim_text import COUNTS, DIAMETERS, EDGES, NUMBER, SCANS, Export

from retrograde.aerosol.formats import FormatError, Observations, SpectrumKind, read

START = np.array(["2017-06-13T23:50:00", "2017-06-13T23:52:30", "2017-06-13T23:55:00", "2017-06-13T23:57:30"])


@pytest.fixture
def load(tmp_path):
    def written(export: Export | str, encoding: str = "cp1252", **stated: object) -> Observations:
        path = tmp_path / "export.txt"
        path.write_bytes((export if isinstance(export, str) else export.text()).encode(encoding))
        return read(path, **stated)

    return written


def check(observations: Observations) -> None:
    """Hold everything that an export says against what was written."""
    np.testing.assert_allclose(observations.number, NUMBER * 1e6, rtol=1e-5)
    np.testing.assert_allclose(observations.diameters, DIAMETERS * 1e-9, rtol=1e-12)
    np.testing.assert_allclose(observations.edges, EDGES * 1e-9, rtol=1e-12)
    np.testing.assert_array_equal(observations.start, START.astype("datetime64[ns]"))
    np.testing.assert_allclose(observations.total, NUMBER.sum(axis=1) * 1e6, rtol=1e-5)
    np.testing.assert_allclose(observations.temperature, 294.65)
    np.testing.assert_allclose(observations.pressure, 101300.0)
    assert observations.flow == pytest.approx(5e-6)
    assert observations.density == pytest.approx(1200.0)
    assert observations.diameter_kind == "mobility"
    assert observations.corrected_for == {"multiple charge"}
    assert observations.not_corrected_for == {"diffusion loss"}
    assert observations.counts is None


@pytest.mark.parametrize("by_row", [True, False])
@pytest.mark.parametrize(("delimiter", "decimal"), [(",", "."), ("\t", "."), (";", "."), ("\t", ","), (";", ",")])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
def test_every_layout_reads_the_same(load, by_row, delimiter, decimal, encoding):
    export = Export(by_row=by_row, delimiter=delimiter, decimal=decimal)
    if delimiter == ";":
        export.after["Instrument Errors"][1] = "Low flow"
    check(load(export, encoding))


@pytest.mark.parametrize("units", ["dW/dlogDp", "dw/dlogDp", "Concentration (DW)"])
def test_every_kind_gives_the_number_in_each_bin(load, units):
    check(load(Export(units=units)))


def test_spectrum_by_log10_is_ln10_times_the_one_by_ln(load):
    """The file's dN/dlog10 D and the container's dN/dlnD, both ways."""
    observations = load(Export())
    np.testing.assert_allclose(observations.spectrum() * np.log(10.0), NUMBER * 16 * 1e6, rtol=1e-5)
    again = load(Export(units="Concentration (DW)"))
    np.testing.assert_allclose(again.spectrum(), observations.spectrum(), rtol=1e-5)


def test_a_file_that_misstates_its_kind_is_refused_by_its_total(load):
    """dW/dlogDp called dW is 16 times the total; dN/dlnD called dW/dlogDp is 0.43 times."""
    text = Export().text()
    with pytest.raises(FormatError, match="add up to 16 times"):
        load(text.replace("dW/dlogDp", "dW"))
    per_ln = Export()
    per_ln.values = lambda: NUMBER * 16 / np.log(10.0)
    with pytest.raises(FormatError, match=r"add up to 0\.434 times"):
        load(per_ln)


def test_version_9_columns_read_as_its_header_says(load):
    """AIM 9: no air, units without blanks, radii in metres called cm, "Diameter Midpoint" without unit."""
    header = {
        "Sample File": "x.S80",
        "DMA Inner Radius(cm)": "0.00937",
        "DMA Outer Radius(cm)": "0.01961",
        "DMA Characteristic Length(cm)": "0.44369",
        "Mean Free Path (m)": "6.6e-008",
        "Gas Viscosity (kg/(m*s))": "1.82e-005",
        "Channels/Decade": "16",
        "Multiple Charge Correction": "FALSE",
        "Diffusion Correction": "FALSE",
        "Weight": "Number",
    }
    after = {
        "Scan Up Time(s)": ["120"] * 4,
        "Retrace Time(s)": ["30"] * 4,
        "Down Scan First": ["FALSE"] * 4,
        "Sheath Flow(lpm)": ["3"] * 4,
        "Aerosol Flow(lpm)": ["0.3"] * 4,
        "CPC Sample Flow(lpm)": ["0.3"] * 4,
        "Low Voltage": ["10.6"] * 4,
        "High Voltage": ["9700"] * 4,
        "Density(g/cc)": ["1.2"] * 4,
        "Status Flag": ["Normal Scan"] * 4,
        "tf(s)": ["7.5"] * 4,
    }
    old = load(Export(header, "dw/dlogDp", "Diameter Midpoint", before={}, after=after, by_row=False))
    new = load(Export())
    np.testing.assert_array_equal(old.number, new.number)
    np.testing.assert_array_equal(old.times, new.times)
    assert old.temperature is None
    assert old.pressure is None
    assert old.flow == pytest.approx(5e-6)
    assert old.flags == ((),) * SCANS
    assert old.not_corrected_for == {"multiple charge", "diffusion loss"}
    assert any("taken for metres" in note for note in old.notes)


def test_version_11_reads_a_single_column_of_date_and_time(load):
    times = [f"2017-06-13 {t}" for t in ("23:50:00", "23:52:30", "23:55:00", "23:57:30")]
    check(load(Export(key="Scan Number", dates=[], times=times)))
    times = [f"13/06/2017 {t}" for t in ("11:50:00 PM", "11:52:30 PM", "11:55:00 PM", "11:57:30 PM")]
    check(load(Export(key="Scan Number", dates=[], times=times)))


def test_flags_are_what_is_not_normal(load):
    assert load(Export()).flags == ((), ("Low flow", "Incomplete Scan"), (), ())


def test_channels_of_a_scan_lie_in_the_order_of_their_sizes_within_the_ramp(load):
    offsets = (load(Export()).times - START.astype("datetime64[ns]")[:, None]).astype(float) * 1e-9
    assert np.all(np.diff(offsets, axis=1) > 0.0)
    assert np.all((offsets > 0.0) & (offsets < 112.5))


def test_repeated_and_downward_scans_move_the_channels_by_what_comes_before(load):
    plain, repeated, down = Export(), Export(), Export()
    repeated.after["Scans Per Sample"] = ["3"] * 4
    down.after["Down Scan First"] = ["TRUE"] * 4
    first = load(plain).times
    np.testing.assert_array_equal(load(repeated).times - first, np.timedelta64(150, "s"))
    np.testing.assert_array_equal(load(down).times - first, np.timedelta64(30, "s"))


def test_without_voltages_channels_have_the_scans_start_and_no_uncertainty(load):
    export = Export()
    del export.after["Low Voltage (V)"]
    observations = load(export)
    np.testing.assert_array_equal(observations.times, np.repeat(observations.start[:, None], 12, axis=1))
    assert observations.uncertainty is None
    assert any("scans' starts" in note for note in observations.notes)


def test_one_scan_without_voltage_loses_its_own_channel_times_only(load):
    export = Export()
    export.after["Low Voltage (V)"][2] = ""
    observations, whole = load(export), load(Export())
    np.testing.assert_array_equal(observations.times[[0, 1, 3]], whole.times[[0, 1, 3]])
    assert np.all(observations.times[2] == observations.start[2])
    assert np.isnan(observations.uncertainty).all(axis=1).tolist() == [False, False, True, False]
    assert any("1 scans lack" in note for note in observations.notes)


def test_a_wrongly_decoded_cube_is_still_a_cube(load):
    check(load(Export().text().replace("³", "Â³")))


def test_uncertainty_is_that_of_counts(load):
    """Numbers from counts have 1/sqrt(counts) for relative error, zero counts that of one."""
    observations = load(Export(units="Counts", total=False))
    np.testing.assert_array_equal(observations.counts, COUNTS)
    one = np.nanmax(np.where(COUNTS > 0, observations.number / np.maximum(COUNTS, 1), np.nan), axis=0)
    np.testing.assert_allclose(observations.number, COUNTS * one, rtol=1e-12)
    np.testing.assert_allclose(observations.uncertainty, one * np.sqrt(np.maximum(COUNTS, 1)), rtol=1e-12)
    concentrations = load(Export())
    np.testing.assert_allclose(concentrations.uncertainty, np.sqrt(np.maximum(NUMBER * 1e6, one) * one), rtol=1e-5)


def test_aerodynamic_sizer_reads_counts_by_its_sample_volume(load):
    """APS: micrometres, a bin of all below, units beside the scans, flows and the sample's duration."""
    edges = 10.0 ** ((np.arange(13) - 8) / 32.0)
    centres = np.sqrt(edges[1:] * edges[:-1])
    export = Export(
        header={"Sample File": "x.A21", "Sample Time": "60"},
        units="Counts",
        block="Aerodynamic Diameter",
        before={},
        after={
            "Total Flow (L/min)": ["5.0"] * 4,
            "Sheath Flow (L/min)": ["4.0"] * 4,
            "Status Flags": ["0000 0000 0000 0000"] * 4,
        },
        sizes=["<0.523", *(f"{d:.3f}" for d in centres[1:])],
        total=False,
    )
    observations = load(export)
    assert observations.diameter_kind == "aerodynamic"
    np.testing.assert_allclose(observations.diameters, centres[1:] * 1e-6, rtol=1e-12)
    np.testing.assert_allclose(observations.number, COUNTS[:, 1:] / 1e-3, rtol=1e-12)
    np.testing.assert_allclose(observations.uncertainty, np.sqrt(np.maximum(COUNTS[:, 1:], 1)) / 1e-3, rtol=1e-12)
    np.testing.assert_array_equal(observations.times - observations.start[:, None], np.timedelta64(30, "s"))
    assert observations.flags == ((),) * SCANS
    assert "Numbers below the smallest size are left out." in observations.notes


def test_sizes_that_are_no_even_channels_get_geometric_edges(load):
    export = Export(sizes=[f"{d:.1f}" for d in np.linspace(33.0, 170.0, 12)], units="Concentration (DW)")
    observations = load(export)
    np.testing.assert_allclose(observations.edges[5], np.sqrt(np.prod(observations.diameters[4:6])), rtol=1e-12)
    np.testing.assert_allclose(observations.number, NUMBER * 1e6, rtol=1e-5)


@pytest.mark.parametrize(
    ("dates", "days"),
    [
        (["27/2/2018"] * 4, ["2018-02-27"] * 4),
        (["02/27/2018"] * 4, ["2018-02-27"] * 4),
        (["2018-02-03"] * 4, ["2018-02-03"] * 4),
        (["3.2.2018"] * 4, ["2018-02-03"] * 4),
        (["31/01/2018", "31/01/2018", "01/02/2018", "01/02/2018"], ["2018-01-31"] * 2 + ["2018-02-01"] * 2),
        (["11/10/18", "11/10/18", "12/10/18", "12/10/18"], ["2018-10-11"] * 2 + ["2018-10-12"] * 2),
        (["10/11/18", "10/11/18", "10/12/18", "10/12/18"], ["2018-10-11"] * 2 + ["2018-10-12"] * 2),
    ],
)
def test_order_of_day_and_month_is_found(load, dates, days):
    times = ["10:00:00", "10:05:00", "11:00:00", "11:30:00"]
    starts = load(Export(dates=dates, times=times)).start
    assert [str(day) for day in starts.astype("datetime64[D]")] == days


def test_a_date_in_the_files_name_settles_the_order_and_is_noted(load):
    export = Export(dates=["03/02/18"] * 4)
    assert str(load(export).start[0]) == "2018-03-02T23:50:00.000000000"
    assert any("state date_order" in note for note in load(export).notes)
    assert str(load(export, date_order="day first").start[0]).startswith("2018-02-03")
    export.header["Sample File"] = r"C:\data\20180203_run.S80"
    assert str(load(export).start[0]).startswith("2018-02-03")


def test_missing_cells_are_missing_values(load):
    text = Export().text()
    cell = f"{NUMBER[1, 4] * 16:.6g}"
    assert text.count(f",{cell},") == 1
    observations = load(text.replace(f",{cell},", ",,"))
    assert np.argwhere(np.isnan(observations.number)).tolist() == [[1, 4]]
    assert np.argwhere(np.isnan(observations.uncertainty)).tolist() == [[1, 4]]


def test_scans_out_of_order_are_sorted_and_noted(load):
    export = Export(times=["23:55:00", "23:57:30", "23:50:00", "23:52:30"])
    observations = load(export)
    np.testing.assert_array_equal(observations.start, START.astype("datetime64[ns]"))
    np.testing.assert_allclose(observations.number, NUMBER[[2, 3, 0, 1]] * 1e6, rtol=1e-5)
    assert any("order of time" in note for note in observations.notes)


def _first_scan(text: str, by_row: bool) -> int:
    key = next(i for i, line in enumerate(text.splitlines()) if line.startswith("Sample #"))
    return key + 2 if by_row else key + 1


@pytest.mark.parametrize("by_row", [True, False])
@pytest.mark.parametrize(
    ("old", "new", "field", "message"),
    [
        ("06/13/17", "06-13-2017x", 1, "is no date"),
        ("06/13/17", "02/30/17", 1, "day is out of range"),
        ("23:50:00", "25:50:00", 2, "is no time"),
        ("23:50:00", "", 2, "is no time"),
        (f"{NUMBER[0, 3] * 16:.6g}", "12x", 9, "'12x' is no number"),
        (f"{NUMBER[0, 3] * 16:.6g}", "1e999", 9, "too large"),
        (f"{NUMBER[0, 3] * 16:.6g}", "-4.5", 9, "negative number of particles"),
        ("21.5", "warm", 3, "sample temp: 'warm' is no number"),
    ],
)
def test_errors_name_line_and_column(tmp_path, by_row, old, new, field, message):
    text = Export(by_row=by_row).text()
    first = _first_scan(text, by_row)
    path = tmp_path / "bad.csv"
    path.write_text(text.replace(old, new, 1) if new != "02/30/17" else text.replace(old, new), newline="")
    with pytest.raises(FormatError, match=message) as caught:
        read(path)
    place = (first, field + 1) if by_row else (first + field, 2)
    assert (caught.value.line, caught.value.column) == place
    assert caught.value.path == path
    assert f"line {place[0]}, column {place[1]}" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.replace("Weight,Number", "Weight,Volume"), "line 11, column 2: the file holds volume, not number"),
        (lambda t: t.replace("Units,dW/dlogDp", "Units,Percent"), "line 12: units 'Percent': expected one of"),
        (lambda t: t.replace("Units,dW/dlogDp\r\n", ""), "units '': expected one of"),
        (lambda t: t.replace("Sheath Flow (L/min)", "Sheath Flow (gallons)"), "'gallons' is no known unit of flow"),
        (lambda t: t.replace("Pressure (kPa)", "Pressure (psi)"), "'psi' is no known unit of pressure"),
        (lambda t: t.replace("Temp (C)", "Temp (F)"), "'F' is no known unit of temperature"),
        (lambda t: t.replace("Start Time", "Clock"), "expected labels Date and Start Time"),
        (lambda t: t[: t.index("\r\n1,") + 2], "no scans follow"),
        (lambda t: t[: t.rindex("23:57:30") + 30], "line 17, column 8: the row ends here, before cell 19"),
        (lambda t: t.replace("45.3", "4x.3"), "apart from the others"),
        (lambda t: t.replace("45.3", "30.0"), "sizes do not increase: 30.0 after 39.2"),
        (lambda t: t.replace("\r\n2,", "\r\n,"), "number of the scan is missing"),
        (lambda t: t.replace("06/13/17,23:50", "13/06/17,23:50"), "some dates have the month first"),
        (lambda t: t.replace("Sample File,chamber.S80", 'Sample File,"chamber'), "cannot be told apart"),
    ],
)
def test_bad_exports_are_refused(load, change, message):
    text = Export().text()
    assert change(text) != text
    with pytest.raises(FormatError, match=message):
        load(change(text))


def test_a_kind_that_the_file_leaves_open_may_be_stated(load):
    text = Export().text().replace("Units,dW/dlogDp\r\n", "")
    check(load(text, kind=SpectrumKind.PER_LOG10_DIAMETER))
    with pytest.raises(FormatError, match="not dN/dlnD as stated"):
        load(Export(), kind=SpectrumKind.PER_LN_DIAMETER)


def test_counts_without_flows_are_refused(load):
    export = replace(Export(units="Counts", total=False), after={})
    with pytest.raises(FormatError, match="lacks the flows"):
        load(export)


def test_impossible_air_is_left_out_and_noted(load):
    export = Export()
    export.before["Sample Pressure (kPa)"][2] = "0.0"
    observations = load(export)
    assert np.isnan(observations.pressure[2])
    assert any("pressure of 1 scans" in note for note in observations.notes)


def test_the_source_names_file_and_version(load):
    assert load(Export()).source == "export.txt, exported by TSI AIM 10.1.0.6"
    assert Path(load(Export()).source.split(",")[0]).name == "export.txt"
