"""Plain tables as text and in pandas: what they state, the PNSD convention, times, refusals."""

import numpy as np
import pandas as pd
import pytest

from retrograde.aerosol.formats import FormatError, Observations, SpectrumKind, read

DIAMETERS = np.geomspace(10.0, 300.0, 9)  # [nm]
RATIO = DIAMETERS[1] / DIAMETERS[0]
NUMBER = np.random.default_rng(4).uniform(1.0, 500.0, size=(3, 9))  # in each bin [cm^-3]
TIMES = ["2024-03-31 00:30:00", "2024-03-31 00:40:00", "2024-03-31 00:50:00"]
PER_LOG10, PER_LN = NUMBER / np.log10(RATIO), NUMBER / np.log(RATIO)


def table(values: np.ndarray, labels: list[str], head: str = "", first: str = "time", delimiter: str = ",") -> str:
    rows = [[first, *labels], *([time, *(f"{v:.8g}" for v in row)] for time, row in zip(TIMES, values, strict=True))]
    return head + "\n".join(delimiter.join(row) for row in rows) + "\n"


@pytest.fixture
def load(tmp_path):
    def written(text: str, **stated: object) -> Observations:
        (tmp_path / "table.csv").write_text(text)
        return read(tmp_path / "table.csv", **stated)

    return written


def check(observations: Observations) -> None:
    np.testing.assert_allclose(observations.number, NUMBER * 1e6, rtol=1e-6)
    np.testing.assert_allclose(observations.diameters, DIAMETERS * 1e-9, rtol=1e-7)
    np.testing.assert_allclose(observations.edges[1:-1] ** 2, np.prod([DIAMETERS[1:], DIAMETERS[:-1]], axis=0) * 1e-18)
    np.testing.assert_array_equal(observations.start, np.array(TIMES, dtype="datetime64[ns]"))
    np.testing.assert_array_equal(observations.times, np.repeat(observations.start[:, None], 9, axis=1))


def test_size_distributions_in_metres_follow_their_convention(load):
    """Index of times, Dp in metres as columns, dN/dlog10 Dp in cm^-3; nothing else stated."""
    text = table(PER_LOG10, [f"{d * 1e-9:.10g}" for d in DIAMETERS], first="")
    observations = load(text)
    check(observations)
    assert any("dN/dlog10 D in cm^-3" in note for note in observations.notes)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (PER_LOG10, "dN/dlogDp"),
        (PER_LOG10, "dN/dlog10 D"),
        (PER_LN, "dN/dlnD"),
        (NUMBER, "number in each bin"),
        (NUMBER, "per_bin"),
    ],
)
def test_tables_state_what_they_hold(load, values, kind):
    head = f"# kind: {kind}\n# concentration_unit = cm-3\n# Diameter unit: nm\n# diameter kind: optical\n\n"
    observations = load(table(values, [f"{d:.10g}" for d in DIAMETERS], head))
    check(observations)
    assert observations.diameter_kind == "optical"


def test_the_ln10_factor_goes_both_ways(load):
    labels = [f"{d:.10g} nm" for d in DIAMETERS]
    for values, kind in ((PER_LOG10, SpectrumKind.PER_LOG10_DIAMETER), (PER_LN, SpectrumKind.PER_LN_DIAMETER)):
        observations = load(table(values, labels), kind=kind, concentration_unit="cm-3")
        check(observations)
        np.testing.assert_allclose(observations.spectrum(), PER_LN * 1e6, rtol=1e-6)
    np.testing.assert_allclose(observations.spectrum() * np.log(10.0), PER_LOG10 * 1e6, rtol=1e-6)


@pytest.mark.parametrize(
    "form", ["{:.10g}nm", "{:.10g} nm", "Dp_{:.10g} [nm]", "dN/dlogDp {:.10g} nm", "d={:.10g}(nm)"]
)
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_labels_carry_their_unit_in_many_ways(load, form, delimiter):
    text = table(NUMBER, [form.format(d) for d in DIAMETERS], delimiter=delimiter)
    check(load(text, kind=SpectrumKind.PER_BIN, concentration_unit="#/cm3"))


def test_decimal_commas_are_read(load):
    text = table(NUMBER, [f"{d:.10g} nm" for d in DIAMETERS], delimiter=";").replace(".", ",")
    check(load(text, kind=SpectrumKind.PER_BIN, concentration_unit="cm-3"))


def test_air_and_totals_beside_the_sizes_are_read(load):
    rows = table(NUMBER, [f"{d:.10g} nm" for d in DIAMETERS]).splitlines()
    ends = [",temperature [C],pressure (hPa),total [cm-3],humidity [%]"]
    ends += [f",{20 + i},{990 + i},{NUMBER[i].sum():.8g},50" for i in range(3)]
    text = "\n".join(row + end for row, end in zip(rows, ends, strict=True))
    observations = load("# density: 1.4 g/cm3\n" + text, kind=SpectrumKind.PER_BIN, concentration_unit="cm-3")
    check(observations)
    np.testing.assert_allclose(observations.temperature, [293.15, 294.15, 295.15])
    np.testing.assert_allclose(observations.pressure, [99000.0, 99100.0, 99200.0])
    np.testing.assert_allclose(observations.total, NUMBER.sum(axis=1) * 1e6, rtol=1e-6)
    assert observations.density == pytest.approx(1400.0)
    assert "Not read: humidity [%]." in observations.notes
    with pytest.raises(FormatError, match=r"add up to 0\.1"):
        load(text, kind=SpectrumKind.PER_LOG10_DIAMETER, concentration_unit="cm-3")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2024-03-31T00:30:00Z", "2024-03-31T00:30"),
        ("2024-03-31T02:30:00+02:00", "2024-03-31T00:30"),
        ("2024-03-30 19:30:00.0-05:00", "2024-03-31T00:30"),
        ("2024-03-31 00:30 UTC", "2024-03-31T00:30"),
    ],
)
def test_times_with_a_zone_become_utc(load, written, meant):
    zone = "Z" if "Z" in written else " UTC" if "UTC" in written else written[-6:]
    text = table(NUMBER, [f"{d:.10g} nm" for d in DIAMETERS])
    text = text.replace(TIMES[0], written).replace(TIMES[1], f"2024-04-01 00:00{zone}")
    text = text.replace(TIMES[2], f"2024-04-02 00:00{zone}")
    observations = load(text, kind=SpectrumKind.PER_BIN, concentration_unit="cm-3")
    assert observations.start[0] == np.datetime64(meant)
    assert "Times are in UTC." in observations.notes
    with pytest.raises(FormatError, match="line 4, column 1: some times have a zone and some have none"):
        load(
            text.replace(f"2024-04-02 00:00{zone}", "2024-04-02 00:00"),
            kind=SpectrumKind.PER_BIN,
            concentration_unit="cm-3",
        )


def test_missing_and_negative_values_are_told_apart(load):
    values = NUMBER.copy()
    values[0, 1], values[2, 2] = -0.5, -9999.0
    text = table(values, [f"{d:.10g} nm" for d in DIAMETERS]).replace("\n2024-03-31 00:40", "\n\n2024-03-31 00:40")
    text = text.replace(f"{values[1, 3]:.8g}", "NaN")
    observations = load(text, kind=SpectrumKind.PER_BIN, concentration_unit="cm-3")
    assert np.argwhere(np.isnan(observations.number)).tolist() == [[1, 3], [2, 2]]
    assert observations.number[0, 1] == pytest.approx(-5e5)
    assert "1 numbers are negative, and were left so." in observations.notes


@pytest.mark.parametrize(
    ("change", "stated", "message"),
    [
        (lambda t: t, {}, "line 1: kind, concentration_unit: not stated in the table, and none is guessed"),
        (lambda t: t.replace(" nm", ""), {}, "line 1: diameter_unit, kind, concentration_unit: not stated"),
        (lambda t: t.replace(" nm", " um", 1), {"kind": 1}, "some diameters have a unit and some another"),
        (lambda t: "# kind: mass\n" + t, {"kind": 1}, "line 2: kind 'mass': expected one of"),
        (lambda t: "# concentration unit: ppm\n" + t, {"kind": 1}, "'ppm' is no known unit of number concentration"),
        (lambda t: t.splitlines()[0], {"kind": 1}, "no scans follow"),
        (lambda t: t.replace(TIMES[1], "noon"), {"kind": 1}, "line 3, column 1: 'noon' is no date"),
        (lambda t: t.replace(TIMES[1], "2024-02-30 10:00"), {"kind": 1}, "line 3, column 1: .*day is out of range"),
        (lambda t: t.replace(TIMES[1], "9999-01-01"), {"kind": 1}, "the year 9999 lies outside"),
        (lambda t: t[:-30], {"kind": 1}, "line 4, column 7: 7 cells under 10 labels"),
        (lambda t: t.replace(f"{NUMBER[1, 2]:.8g}", "0x1F"), {"kind": 1}, "line 3, column 4: '0x1F' is no number"),
        (lambda t: t.replace(f"{NUMBER[1, 2]:.8g}", "inf"), {"kind": 1}, "line 3, column 4: 'inf' is no number"),
        (lambda t: t.replace("10 nm", "500 nm"), {"kind": 1}, "strictly increasing"),
        (lambda _: "a,b\n1,2\n", {}, "no diameters among the labels of columns"),
        (lambda _: "# nothing\n\n", {}, "holds no table"),
        (lambda _: "", {}, "holds no table"),
    ],
)
def test_bad_tables_are_refused(load, change, stated, message):
    given = {"kind": SpectrumKind.PER_BIN, "concentration_unit": "cm-3"} if stated else {}
    if "ppm" in message:
        del given["concentration_unit"]
    with pytest.raises(FormatError, match=message):
        load(change(table(NUMBER, [f"{d:.10g} nm" for d in DIAMETERS])), **given)


def test_pandas_tables_are_read_as_text_is():
    index = pd.DatetimeIndex(TIMES)
    check(read(pd.DataFrame(PER_LOG10, index=index, columns=DIAMETERS * 1e-9)))
    frame = pd.DataFrame(PER_LN, index=index, columns=DIAMETERS)
    frame["site"] = "A"
    frame.attrs.update(kind="PER_LN_DIAMETER", concentration_unit="cm-3", diameter_unit="nm")
    check(read(frame))
    zoned = read(frame.tz_localize("Europe/Berlin"))
    assert zoned.start[0] == np.datetime64("2024-03-30T23:30")
    with pytest.raises(FormatError, match="index: expected times"):
        read(frame.reset_index(drop=True))
    with pytest.raises(FormatError, match="kind, concentration_unit"):
        read(pd.DataFrame(PER_LN, index=index, columns=[f"{d} nm" for d in DIAMETERS]))
