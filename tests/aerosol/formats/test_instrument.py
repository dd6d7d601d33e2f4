"""Instruments' units: the ln 10 factor both ways, known totals, and refusals."""

import numpy as np
import pytest

from retrograde.aerosol import SectionalState, SizeGrid
from retrograde.aerosol.formats import InstrumentSpectrum, SpectrumKind, from_instrument, to_instrument

DIAMETERS = np.geomspace(15.8, 757.0, 108)
TOTAL, MEDIAN, SPREAD = 5.5e5, 83.0, 1.6


def lognormal(kind: SpectrumKind) -> np.ndarray:
    """Spectrum [cm^-3] of a lognormal distribution at the diameters [nm], by its formula."""
    sigma = np.log(SPREAD)
    per_ln = TOTAL / (np.sqrt(2 * np.pi) * sigma) * np.exp(-0.5 * (np.log(DIAMETERS / MEDIAN) / sigma) ** 2)
    width = np.log(DIAMETERS[1] / DIAMETERS[0])
    return {
        SpectrumKind.PER_LN_DIAMETER: per_ln,
        SpectrumKind.PER_LOG10_DIAMETER: per_ln * np.log(10.0),
        SpectrumKind.PER_BIN: per_ln * width,
    }[kind]


@pytest.mark.parametrize("kind", list(SpectrumKind))
def test_each_kind_of_spectrum_gives_the_same_number_of_particles(kind):
    state = from_instrument(InstrumentSpectrum(lognormal(kind), DIAMETERS, kind))
    assert state.total_number()[0] == pytest.approx(TOTAL * 1e6, rel=2e-3)
    assert state.grid.diameters[0] == pytest.approx(15.8e-9, rel=1e-12)


@pytest.mark.parametrize("kind", list(SpectrumKind))
def test_spectra_come_back_as_they_went_in(kind):
    spectrum = InstrumentSpectrum(lognormal(kind), DIAMETERS, kind)
    back = to_instrument(from_instrument(spectrum), kind=kind)
    np.testing.assert_allclose(back.values[0], spectrum.values, rtol=1e-12)
    np.testing.assert_allclose(back.diameters, spectrum.diameters, rtol=1e-12)


def test_log10_spectrum_is_ln10_times_the_models():
    state = SectionalState.from_numpy(np.ones(30), SizeGrid.geometric(1e-8, 1e-6, bins_per_decade=14.5))
    per_log10 = to_instrument(state, concentration_unit="m-3").values
    np.testing.assert_allclose(per_log10, state.spectrum() * np.log(10.0), rtol=1e-14)


@pytest.mark.parametrize(
    ("wrong", "factor"),
    [(SpectrumKind.PER_LN_DIAMETER, "2.30"), (SpectrumKind.PER_LOG10_DIAMETER, "0.43")],
)
def test_a_known_total_tells_the_kinds_apart(wrong, factor):
    """dN/dlog10D read as dN/dlnD has 2.30 times too many particles, the reverse 0.43 times."""
    right = {SpectrumKind.PER_LN_DIAMETER: SpectrumKind.PER_LOG10_DIAMETER}.get(wrong, SpectrumKind.PER_LN_DIAMETER)
    values = lognormal(right)
    from_instrument(InstrumentSpectrum(values, DIAMETERS, right), total=TOTAL)
    with pytest.raises(ValueError, match=rf"adds up to {factor}"):
        from_instrument(InstrumentSpectrum(values, DIAMETERS, wrong), total=TOTAL)


@pytest.mark.parametrize(
    ("spectrum", "message"),
    [
        (InstrumentSpectrum(np.ones(3), np.array([1.0, 3.0, 2.0])), "strictly increasing"),
        (InstrumentSpectrum(np.ones(3), np.array([10.0, 20.0, 30.0]), diameter_unit="m"), "nm or um"),
        (InstrumentSpectrum(np.ones(3), np.array([10.0, 20.0, 30.0]), diameter_unit="furlong"), "furlong.*known are"),
        (InstrumentSpectrum(np.ones(3), np.array([1.0, 2.0, 3.0]), concentration_unit="ppm"), "number concentration"),
        (InstrumentSpectrum(np.ones(4), np.array([10.0, 20.0, 30.0])), r"values \[cm-3\].*3 bins.*\[1, 4\]"),
        (InstrumentSpectrum(np.array([1.0, -2.0, 3.0]), np.array([1.0, 2.0, 3.0])), r"values \[cm-3\].*negative: -2"),
        (InstrumentSpectrum(np.array([1.0, np.nan, 3.0]), np.array([1.0, 2.0, 3.0])), "not finite"),
    ],
)
def test_bad_spectra_are_refused(spectrum, message):
    with pytest.raises(ValueError, match=message):
        from_instrument(spectrum)
