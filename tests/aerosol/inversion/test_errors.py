"""What is known of the instrument's errors, against tables and exact limits."""

from __future__ import annotations

import numpy as np
import pytest
from tests.aerosol.inversion.twins import START, twin

from retrograde.aerosol.formats.observations import Observations
from retrograde.aerosol.inversion.channels import single_counts
from retrograde.aerosol.inversion.charging import charged_fraction, doubly_charged_share
from retrograde.aerosol.inversion.disturbances import disturbed_scans
from retrograde.aerosol.inversion.errors import ErrorModes, ErrorSizes, Reach
from retrograde.aerosol.inversion.penetration import pipe_penetration


def test_charged_fractions_are_those_of_the_literature() -> None:
    """Wiedensohler (1988): at 100 nm 27.9 % carry one negative charge, 5.6 % two; at 20 nm 11 % and 0.02 %."""
    diameters = np.array([20e-9, 100e-9, 500e-9])
    np.testing.assert_allclose(charged_fraction(diameters, 1), [0.110, 0.279, 0.182], rtol=5e-3)
    np.testing.assert_allclose(charged_fraction(diameters, 2), [2.0e-4, 0.0561, 0.149], rtol=5e-3)


def test_double_charges_come_from_larger_particles() -> None:
    """Of a narrow mode at 200 nm, two charges look like one at about 127 nm."""
    diameters = np.geomspace(20e-9, 900e-9, 300)
    spectrum = np.exp(-0.5 * (np.log(diameters / 200e-9) / 0.03) ** 2)
    added = doubly_charged_share(diameters, spectrum, 296.0, 101325.0) * np.maximum(spectrum, 1e-6)
    assert 120e-9 < diameters[np.argmax(added)] < 135e-9
    peak = diameters[np.argmax(added)]
    ratio = charged_fraction(np.array([200e-9]), 2) / charged_fraction(np.array([peak]), 1)
    # Channels a hundredth apart sample a mode three hundredths wide.
    assert added.max() == pytest.approx(ratio[0], rel=0.06)


def test_penetration_goes_from_all_to_nothing() -> None:
    """No loss without a pipe; exp(-3.66 xi) in long ones; the two series meet at xi = 0.02."""
    d = np.array([5e-9])
    assert pipe_penetration(d, 1e-9, 1e-5, 296.0, 101325.0)[0] == pytest.approx(1.0, abs=1e-5)
    one, two = (pipe_penetration(d, length, 1e-5, 296.0, 101325.0)[0] for length in (20.0, 40.0))
    assert two == pytest.approx(one**2 / 0.819, rel=2e-3)
    sizes = np.geomspace(1e-9, 1e-6, 400)
    passed = pipe_penetration(sizes, 7.1, 5e-6, 296.0, 101325.0)
    assert np.all(np.diff(passed) > -1e-3)


def test_a_single_count_is_found_in_the_scatter() -> None:
    """Without counts or uncertainties, the scatter between neighbouring sizes tells what one count stands for."""
    seen = twin(scans=12, single=2e5, per_decade=64).observations
    bare = Observations(seen.start, seen.times, seen.diameters, seen.edges, seen.number)
    found = single_counts(bare)
    often = seen.number.mean(axis=0) > 40 * 2e5
    assert np.mean(np.abs(np.log(found[often] / 2e5)) < 0.4) > 0.8
    assert abs(np.log(np.median(found[often]) / 2e5)) < 0.15
    np.testing.assert_allclose(single_counts(seen)[often], 2e5, rtol=0.15)


def test_scans_that_rise_are_set_aside() -> None:
    number = np.tile(1e9 * np.exp(-0.02 * np.arange(30))[:, None] / 10, (1, 10))
    number *= np.random.default_rng(3).normal(1.0, 0.01, (30, 1))
    number[12:16] *= 1.3
    number[20] *= 0.5
    start = START + np.arange(30) * np.timedelta64(180, "s")
    edges = np.geomspace(20e-9, 500e-9, 11)
    times = np.repeat(start[:, None], 10, axis=1)
    observations = Observations(start, times, np.sqrt(edges[1:] * edges[:-1]), edges, number)
    assert disturbed_scans(observations, np.arange(30)).tolist() == [12, 13, 14, 15]


def test_modes_are_told_apart_by_their_reach() -> None:
    first = ErrorModes.of("a", np.ones((3, 2)), Reach.SCAN)
    both = first.joined(ErrorModes.of("b", 2.0 * np.ones((3, 1)), Reach.MODEL))
    assert both.reaching(Reach.MODEL).names == ("b",)
    np.testing.assert_allclose(both.scaled("b", 3.0).values[0], [1.0, 1.0, 6.0])
    with pytest.raises(ValueError, match="model_limit"):
        ErrorSizes(model=0.2, model_limit=0.1)
