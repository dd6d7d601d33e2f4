"""RG311 concerns Warp before 1.17: its numbers were measured there, and are what the intervention gives here."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import warp as wp
from tests.trace.recording import record

from retrograde.causes import rg311_copy_overwrites_adjoint as rg311
from retrograde.causes.explain import explain
from retrograde.gradients.judge import Judgement, Opinion
from retrograde.gradients.ladder import frame, opened
from retrograde.gradients.lives import find_lives
from retrograde.gradients.objective import objective_of
from retrograde.gradients.policy import IDEAL

_START = np.array([0.5, 1.0, 2.0])
_RIGHT = 3.0 * _START**2
_BEFORE_1_17 = np.array([0.5, 2.0, 8.0])
"""`x.grad` of the program below under Warp 1.16.0: the copy has wiped out the gradient that the launch left in x."""


@wp.kernel
def coupled(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    wp.atomic_add(loss, 0, x[i] * y[i] * y[i])


def _program(how: str) -> Callable[[], None]:
    def program() -> None:
        x = wp.array(_START, dtype=wp.float64, requires_grad=True)
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        tape = wp.Tape()
        with tape:
            if how == "clone":
                y = wp.clone(x)
            else:
                y = wp.zeros(3, dtype=wp.float64, requires_grad=True)
                wp.copy(y, x)
            wp.launch(coupled, 3, [x, y, loss])
        tape.backward(loss)
        x.assign(x.numpy() - 0.01 * x.grad.numpy())

    return program


def _judgement(how: str) -> Judgement:
    with wp.ScopedDevice("cpu"):
        recording = record(_program(how))
        life = find_lives(recording)[0]
        case = opened(frame(recording, life, objective_of(recording, life)), np.random.default_rng(0))
    return Judgement(case, Opinion.WRONG, "", ideal_holds=True)


@pytest.mark.parametrize("how", ["copy", "clone"])
def test_the_intervention_gives_the_numbers_of_the_versions_that_have_the_fault(how: str) -> None:
    judgement = _judgement(how)
    (suspect,) = rg311.suspects(judgement)
    assert suspect.switch_off is not None
    np.testing.assert_allclose(judgement.case.ideal, _RIGHT, rtol=1e-14)
    np.testing.assert_allclose(judgement.case.sweep(suspect.switch_off(IDEAL)), _BEFORE_1_17, rtol=1e-14)


@pytest.mark.parametrize("how", ["copy", "clone"])
def test_the_installed_version_is_explained_just_where_it_is_wrong(how: str) -> None:
    judgement = _judgement(how)
    taped = judgement.case.life.taped
    assert taped is not None
    wrong = rg311.replaces(wp.__version__)
    np.testing.assert_allclose(taped, _BEFORE_1_17 if wrong else _RIGHT, rtol=1e-14)
    found = [f.code for f in explain(judgement).findings]
    assert found == (["RG311"] if wrong else [])


def test_versions_are_told_apart() -> None:
    assert [rg311.replaces(v) for v in ("1.9.1", "1.12.1", "1.16.0", "1.17.0", "1.19.0", "2.0.0")] == [True] * 3 + [
        False
    ] * 3
