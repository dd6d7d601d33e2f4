from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
import pytest
import warp as wp
from tests.gradients.kernels import squared
from tests.trace.recording import record

from retrograde.gradients.choice import Choice
from retrograde.gradients.clock import UNTIMED, Clock, OutOfTimeError
from retrograde.gradients.execution import Snapshots
from retrograde.gradients.judge import _measured
from retrograde.gradients.ladder import Case, frame, opened
from retrograde.gradients.lives import find_lives
from retrograde.gradients.means import Means
from retrograde.gradients.objective import objective_of
from retrograde.gradients.rungs import How
from retrograde.gradients.source import Source

OVER = Clock(0.0)


def test_shares_of_the_time_left_add_up_to_it() -> None:
    clock = Clock(time.monotonic() + 1000.0)
    half = clock.share(0.5)
    assert half.left == pytest.approx(500.0, abs=1.0)
    assert clock.share(1.0).left == pytest.approx(1000.0, abs=1.0)
    assert UNTIMED.share(0.1) is UNTIMED
    assert math.isinf(UNTIMED.left)
    assert OVER.share(0.5).left == 0.0


def test_what_runs_out_of_time_is_noted_and_the_rest_holds() -> None:
    def fails() -> int:
        OVER.check()
        return 1

    cut: list[str] = []
    assert OVER.within(fails, 7, "counting", cut) == 7
    assert OVER.within(lambda: 3, 7, "nothing", cut) == 3
    assert cut == ["counting"]
    UNTIMED.check()
    with pytest.raises(OutOfTimeError):
        OVER.check()


def test_an_audit_without_time_for_a_single_slope_has_none_and_says_so() -> None:
    def late(_: object) -> Callable[[], list[float]]:
        raise OutOfTimeError

    case = _case(UNTIMED)
    means = Means(Snapshots(), np.random.default_rng(0), math.inf, lambda _: None)
    cut: list[str] = []
    measured = _measured(case, Choice(Source(How.REPLAY, late, cost=1.0, evaluations=1), ""), means, cut)
    assert measured.directions == ()
    assert len(cut) == 1


def test_an_ideal_gradient_that_there_is_no_time_for_is_not_finite() -> None:
    np.testing.assert_allclose(_case(UNTIMED).ideal, [1.0, -4.0])
    assert np.isnan(_case(OVER).ideal).all()


def _case(clock: Clock) -> Case:
    def program() -> None:
        x = wp.array([0.5, -1.0], dtype=wp.float64, requires_grad=True)
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        tape = wp.Tape()
        with tape:
            wp.launch(squared, 2, [x, loss])
        tape.backward(loss)
        x.grad.numpy()

    with wp.ScopedDevice("cpu"):
        recording = record(program)
        (life,) = find_lives(recording)
        return opened(frame(recording, life, objective_of(recording, life)).timed(clock), np.random.default_rng(0))
