"""Sectional states and environments: round trips, totals and refusals."""

import numpy as np
import pytest
import warp as wp

from retrograde.aerosol import Environment, SectionalState, SizeGrid

GRID = SizeGrid.geometric(1e-8, 1e-6, bins_per_decade=10)
RNG = np.random.default_rng(7)
NUMBER = RNG.lognormal(mean=20.0, size=(3, GRID.bins))


def test_values_come_back_exactly_in_float64_and_rounded_in_float32():
    assert np.array_equal(SectionalState.from_numpy(NUMBER, GRID).numpy(), NUMBER)
    single = SectionalState.from_numpy(NUMBER, GRID, dtype=wp.float32)
    assert single.dtype is wp.float32
    assert np.array_equal(single.numpy(), NUMBER.astype(np.float32).astype(np.float64))


def test_state_shares_no_memory_with_what_it_was_made_from_or_gives_out():
    values = NUMBER.copy()
    state = SectionalState.from_numpy(values, GRID)
    values[:] = 0.0
    state.numpy()[:] = 0.0
    assert np.array_equal(state.numpy(), NUMBER)


def test_one_box_may_be_given_without_its_axis():
    assert SectionalState.from_numpy(NUMBER[0], GRID).numpy().shape == (1, GRID.bins)


def test_totals_are_the_sums_they_say():
    state = SectionalState.from_numpy(NUMBER, GRID)
    np.testing.assert_allclose(state.total_number(), NUMBER.sum(axis=1), rtol=1e-15)
    np.testing.assert_allclose(state.total_volume(), (NUMBER * GRID.volumes).sum(axis=1), rtol=1e-14)
    np.testing.assert_allclose(state.moment(2), (NUMBER * GRID.volumes**2).sum(axis=1), rtol=1e-14)


def test_spectrum_integrates_to_the_number():
    state = SectionalState.from_numpy(NUMBER, GRID)
    np.testing.assert_allclose((state.spectrum() * GRID.ln_widths).sum(axis=1), state.total_number(), rtol=1e-14)
    again = SectionalState.from_spectrum(state.spectrum(), GRID, total=state.total_number())
    np.testing.assert_allclose(again.numpy(), NUMBER, rtol=1e-15)


@pytest.mark.parametrize(
    ("factor", "cause"),
    [(np.log(10), "per log10 D"), (1e-6, "cm.-3"), (1e-6 * np.log(10), "per log10 D and in cm.-3"), (3.7, "times")],
)
def test_spectrum_in_another_unit_is_recognised_by_the_total(factor, cause):
    spectrum = NUMBER / GRID.ln_widths
    with pytest.raises(ValueError, match=rf"number_per_ln_diameter \[m\^-3\].*{cause}"):
        SectionalState.from_spectrum(spectrum * factor, GRID, total=NUMBER.sum(axis=1))


def test_a_spectrum_without_a_known_total_is_taken_as_it_is():
    SectionalState.from_spectrum(NUMBER / GRID.ln_widths * np.log(10), GRID)


def test_device_memory_is_checked_for_shape_and_type_only_until_asked():
    bad = wp.array(-NUMBER, dtype=wp.float64)
    state = SectionalState(bad, GRID)
    with pytest.raises(ValueError, match="negative"):
        state.check_values()
    with pytest.raises(ValueError, match=r"number \[m\^-3\].*21 bins.*\[3, 5\]"):
        SectionalState(wp.zeros((3, 5), dtype=wp.float64), GRID)
    with pytest.raises(ValueError, match="float64 or float32"):
        SectionalState(wp.zeros((3, GRID.bins), dtype=wp.int32), GRID)


@pytest.mark.parametrize(("value", "kind"), [(-1.0, "negative"), (np.nan, "not finite"), (np.inf, "not finite")])
def test_bad_values_are_refused_with_their_place(value, kind):
    values = NUMBER.copy()
    values[2, 4] = value
    with pytest.raises(ValueError, match=rf"number \[m\^-3\]: 1 of 63 .*\[2, 4\] of shape \[3, 21\], is {kind}"):
        SectionalState.from_numpy(values, GRID)


def test_values_too_large_for_float32_are_refused():
    with pytest.raises(ValueError, match="too large for its storage"):
        SectionalState.from_numpy(NUMBER * 1e38, GRID, dtype=wp.float32)


def test_environments_are_shared_where_they_are_equal():
    air = Environment(np.array([298.0, 280.0, 298.0, 298.0]), np.array([1e5, 1e5, 1e5, 9e4]))
    distinct, index = air.distinct()
    assert distinct.boxes == 3
    assert np.array_equal(distinct.temperature[index], air.temperature)
    assert np.array_equal(distinct.pressure[index], air.pressure)


@pytest.mark.parametrize(
    ("temperature", "pressure", "message"),
    [
        (25.0, 101325.0, r"temperature \[K\]"),
        (298.15, 101.325, r"pressure \[Pa\]"),
        (298.15, 791.0, r"pressure \[Pa\]"),
        (np.nan, 101325.0, r"temperature \[K\].*nan"),
    ],
)
def test_environment_in_another_unit_is_refused(temperature, pressure, message):
    with pytest.raises(ValueError, match=message):
        Environment.uniform(2, temperature, pressure)


def test_environment_fields_must_agree_in_shape():
    with pytest.raises(ValueError, match=r"pressure \[Pa\]: expected shape \[boxes\] = \[2\].*\[3\]"):
        Environment(np.full(2, 298.0), np.full(3, 1e5))
