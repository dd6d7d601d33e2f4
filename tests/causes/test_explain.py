from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import warp as wp
from tests.gradients.kernels import advance, cubed, squared
from tests.trace.recording import record

from retrograde.causes.explain import Explanation, explain, merge
from retrograde.causes.finding import Finding
from retrograde.causes.intervention import gap, resolution
from retrograde.gradients.clock import Clock
from retrograde.gradients.judge import Judgement, Opinion
from retrograde.gradients.ladder import frame, opened
from retrograde.gradients.lives import find_lives
from retrograde.gradients.objective import objective_of

_START = np.array([0.7, -0.4, 1.1, 0.25])


def _array(values: object = 0.0, shape: int = 4, gradient: bool = True) -> wp.array:
    return wp.array(np.broadcast_to(np.asarray(values, dtype=np.float64), shape).copy(), requires_grad=gradient)


def _train(*, two_buffers: bool, cleared: bool, changed_after: bool) -> Callable[[], None]:
    """Two iterations of a training with up to three faults."""

    def program() -> None:
        x = _array(_START)
        for _ in range(2):
            a, b, c = _array(), _array(), _array()
            loss = _array(shape=1)
            tape = wp.Tape()
            with tape:
                wp.launch(cubed, 4, [x, a])
                wp.launch(advance, 4, [a, b])
                if two_buffers:
                    wp.launch(advance, 4, [b, a])  # overwrites a
                    wp.launch(squared, 4, [a, loss])
                else:
                    wp.launch(advance, 4, [b, c])
                    wp.launch(squared, 4, [c, loss])
            if changed_after:
                b.fill_(0.3)
            tape.backward(loss)
            x.assign(x.numpy() - 1e-3 * x.grad.numpy())
            if cleared:
                tape.zero()

    return program


def _judgement(program: Callable[[], None], iteration: int) -> Judgement:
    with wp.ScopedDevice("cpu"):
        recording = record(program)
        life = next(found for found in find_lives(recording) if found.iteration == iteration)
        case = opened(frame(recording, life, objective_of(recording, life)), np.random.default_rng(0))
    return Judgement(case, Opinion.WRONG, "planted", ideal_holds=True)


_FAULTS = {
    "overwritten": ({"two_buffers": True, "cleared": True, "changed_after": False}, {"RG101"}),
    "not cleared": ({"two_buffers": False, "cleared": False, "changed_after": False}, {"RG301"}),
    "changed after": ({"two_buffers": False, "cleared": True, "changed_after": True}, {"RG103"}),
    "overwritten, not cleared": ({"two_buffers": True, "cleared": False, "changed_after": False}, {"RG101", "RG301"}),
    "changed after, not cleared": ({"two_buffers": False, "cleared": False, "changed_after": True}, {"RG103", "RG301"}),
    "overwritten, changed after": ({"two_buffers": True, "cleared": True, "changed_after": True}, {"RG101", "RG103"}),
}


@pytest.mark.parametrize("name", list(_FAULTS))
def test_every_planted_fault_is_found_and_nothing_else(name: str) -> None:
    faults, codes = _FAULTS[name]
    explanation = explain(_judgement(_train(**faults), iteration=1))
    assert {f.code for f in explanation.findings} == codes
    assert explanation.unexplained == pytest.approx(0.0, abs=1e-6)
    for finding in explanation.findings:
        assert finding.file == __file__
        assert finding.explains is not None
        assert 0.0 < finding.explains <= 1.0
    if len(codes) == 1:
        assert explanation.findings[0].explains == pytest.approx(1.0, abs=1e-6)


@wp.kernel
def miss(a: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    loss[i] = a[i] * a[i]


def test_a_wrong_seed_is_found_behind_a_fault_that_turns_the_gradient_round() -> None:
    """The sum is differentiated, the mean reported; divided by four, the gradient is no nearer to the right one."""

    def program() -> None:
        x = _array(_START)
        for _ in range(2):
            a, loss = _array(), _array()
            with wp.Tape() as tape:
                wp.launch(cubed, 4, [x, a])
                wp.launch(miss, 4, [a, loss])
                a.fill_(-2.0)
            tape.backward(grads={loss: _array(1.0)})
            print(float(loss.numpy().mean()))
            x.assign(x.numpy() - 1e-3 * x.grad.numpy())
            tape.zero()

    explanation = explain(_judgement(program, 0))
    assert {f.code for f in explanation.findings} == {"RG101", "RG305"}
    assert explanation.unexplained < 1e-6
    assert [f.scale for f in explanation.findings if f.code == "RG305"] == pytest.approx([4.0])


def test_the_overwriting_line_is_named() -> None:
    (finding,) = explain(_judgement(_train(**_FAULTS["overwritten"][0]), iteration=1)).findings
    assert finding.line is not None
    with open(__file__, encoding="utf-8") as source:
        assert "# overwrites a" in source.readlines()[finding.line - 1]
    assert finding.array == "a"


def test_an_error_without_a_fault_is_left_unexplained() -> None:
    judgement = _judgement(_train(two_buffers=False, cleared=True, changed_after=False), iteration=1)
    life = judgement.case.life
    assert life.consumed is not None
    tampered = replace(judgement.case, life=replace(life, consumed=life.consumed * 1.5, taped=life.consumed * 1.5))
    explanation = explain(replace(judgement, case=tampered))
    assert explanation.findings == ()
    assert explanation.unexplained == pytest.approx(1.0)


def test_without_time_nothing_is_claimed() -> None:
    judgement = _judgement(_train(**_FAULTS["overwritten"][0]), iteration=1)
    explanation = explain(replace(judgement, case=judgement.case.timed(Clock(0.0))))
    assert explanation.findings == ()
    assert explanation.unexplained == 1.0
    assert explanation.cut


def test_what_there_is_no_time_to_try_is_neither_claimed_nor_called_explained() -> None:
    judgement = _judgement(_train(**_FAULTS["overwritten, not cleared"][0]), iteration=1)
    whole = explain(judgement)
    slow = replace(judgement.case, seconds=1e9, clock=Clock(time.monotonic() + 1e3))
    explanation = explain(replace(judgement, case=slow))
    assert {f.code for f in explanation.findings} == {"RG301"}
    assert explanation.cut
    assert whole.unexplained < 1e-6 < explanation.unexplained


def test_gap_is_infinite_where_only_one_is_finite() -> None:
    finite, broken = np.array([1.0, 2.0]), np.array([1.0, np.nan])
    assert gap(finite, broken) == np.inf
    assert gap(broken, broken) == 0.0
    assert gap(finite, np.array([4.0, 6.0])) == 5.0


def test_resolution_scales_with_the_gradient_and_its_type() -> None:
    case = _judgement(_train(two_buffers=False, cleared=True, changed_after=False), iteration=0).case
    size = float(np.linalg.norm(case.ideal))
    assert resolution(case) == pytest.approx(256.0 * np.finfo(np.float64).eps * size, rel=1e-6)


def test_one_cause_at_one_line_is_one_finding_with_its_largest_share() -> None:
    def finding(line: int, share: float) -> Finding:
        return Finding("RG101", "overwritten-input", "", "train.py", line, explains=share)

    merged = merge(
        [
            Explanation((finding(3, 0.5), finding(7, 0.2)), 0.1),
            Explanation((finding(3, 0.9),), 0.3),
        ]
    )
    assert [(f.line, f.explains) for f in merged.findings] == [(3, 0.9), (7, 0.2)]
    assert merged.unexplained == 0.3
    assert merge([]).findings == ()
