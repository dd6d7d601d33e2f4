"""The main statements of the page on twin experiments, on fewer and shorter experiments."""

from __future__ import annotations

import numpy as np
import pytest
from examples.twin_experiments import QUICK, TRUTHS, Experiment, Outcome, compare, duration, name, recover, study


def outcome(*arguments: float, **options: object) -> Outcome:
    experiment = Experiment(*arguments, boxes=12, **options)
    return compare(experiment, *recover(experiment, seed=3))


@pytest.fixture(scope="module")
def late() -> Outcome:
    return outcome(10.0)


def test_the_last_scan_gives_the_start_and_intervals_hold_it(late: Outcome) -> None:
    """At tau 10 four in five particles are gone: number to 8 %, shape to 0.1, no bias beyond chance."""
    assert late.converged == 1.0
    assert late.number_error < 0.08
    assert abs(late.number_bias) < 3.0 * late.number_promised / np.sqrt(late.experiment.boxes)
    assert late.shape_l1 < 0.1
    assert late.number_covered > 0.8
    assert late.spectrum_covered > 0.9


def test_errors_grow_with_tau_and_noise_as_promised(late: Outcome) -> None:
    early, noisy = outcome(1.0), outcome(1.0, 0.1)
    assert early.number_error < 0.4 * late.number_error
    assert early.spectrum_error < 0.3 * late.spectrum_error
    assert 2.0 < noisy.spectrum_promised / early.spectrum_promised < 10.0 / 3.0
    for o in (early, noisy):
        assert 0.6 < o.spectrum_error / o.spectrum_promised < 1.2
        assert o.spectrum_covered > 0.9


def test_a_series_of_scans_says_more_than_the_last_one(late: Outcome) -> None:
    series = outcome(10.0, series=True)
    assert series.number_error < 0.3 * late.number_error
    assert series.spectrum_error < 0.3 * late.spectrum_error
    assert series.signal > late.signal


def test_particles_outside_the_sizes_seen_must_be_unknown_and_not_absent() -> None:
    """Taken for absent, they make the number several promised errors too small; as unknowns they do not."""
    absent, unknown = outcome(10.0, part=True), outcome(10.0, part=True, beyond=1.5)
    assert absent.number_bias < -2.0 * absent.number_promised
    assert absent.number_covered < 0.3
    assert abs(unknown.number_bias) < 0.5 * abs(absent.number_bias)
    assert unknown.number_covered > 0.8
    assert unknown.spectrum_covered > 0.9


def test_a_far_guess_leads_to_the_same_starts() -> None:
    near, far = (recover(Experiment(4.0, far=far, boxes=6))[1] for far in (False, True))
    assert near.solution.is_converged.all()
    assert far.solution.is_converged.all()
    # To a hundredth of a standard deviation.
    deviation = np.sqrt(np.einsum("bkk->bk", near.covariance()))
    assert (np.abs(near.x - far.x) / deviation).max() < 0.01


def test_the_questions_are_named_and_tau_is_what_it_says() -> None:
    assert duration(2.0, TRUTHS[0]) == pytest.approx(2.0 * duration(1.0, TRUTHS[0]))
    names = [(name(e), e.tau) for e in study(True)]
    assert len(set(names)) == len(names)
    assert {e.tau for e in study(False)} == set(QUICK)
