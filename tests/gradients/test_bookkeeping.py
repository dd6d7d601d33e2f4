"""Gradients that were counted, carried, replaced and used: what the recording makes of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import warp as wp
from tests.gradients import kernels
from tests.gradients.programs import named
from tests.gradients.sweeping import open_program
from tests.trace.recording import record

from retrograde.gradients.ladder import Case, frame, opened
from retrograde.gradients.leftovers import begun_with_earlier, begun_with_own
from retrograde.gradients.lives import find_lives
from retrograde.gradients.objective import objective_of
from retrograde.gradients.policy import IDEAL
from retrograde.gradients.segments import is_split

_START = np.array([0.7, -0.4, 1.1, 0.25])
_N = 4


def _array(values: object = 0.0, shape: int = _N) -> wp.array:
    return wp.array(np.broadcast_to(np.asarray(values, dtype=np.float64), shape).copy(), requires_grad=True)


@wp.kernel
def reset(loss: wp.array(dtype=wp.float64)):
    loss[0] = wp.float64(0.0)


def _case(program: Callable[[], object], name: str = "x", iteration: int = 0) -> Case:
    with wp.ScopedDevice("cpu"):
        recording = record(program)
        life = next(f for f in find_lives(recording) if f.name == name and f.iteration == iteration)
        return opened(frame(recording, life, objective_of(recording, life)), np.random.default_rng(0))


def _taped(case: Case) -> np.ndarray:
    assert case.life.taped is not None
    return case.life.taped


def test_a_retained_array_that_is_written_twice_brings_back_warps_number() -> None:
    opened = open_program(named("retained"))
    kept = frozenset(
        id(a.ref.array) for o in opened.recording.operations for a in o.accesses if a.ref.retain and a.usage.writes
    )
    np.testing.assert_allclose(opened.sweep(IDEAL.without(kept=kept)), opened.taped(), rtol=1e-11)


def test_a_shared_gradient_buffer_brings_back_warps_number() -> None:
    def program() -> None:
        x = _array(_START)
        a = _array()
        b = wp.array(np.zeros(_N), dtype=wp.float64, grad=a.grad)
        loss = _array(shape=1)
        with wp.Tape() as tape:
            wp.launch(kernels.cubed, _N, [x, a])
            wp.launch(kernels.advance, _N, [a, b])
            wp.launch(kernels.squared, _N, [a, loss])
            wp.launch(kernels.squared, _N, [b, loss])
        tape.backward(loss)
        x.assign(x.numpy() - 1e-3 * x.grad.numpy())

    case = _case(program)
    refs = {case.recording.name(a.ref): a.ref for o in case.window.operations for a in o.accesses}
    joined = frozenset({(refs["b"].extent, refs["a"].extent.low)})
    assert np.linalg.norm(case.ideal - _taped(case)) > 0.1
    np.testing.assert_allclose(case.sweep(IDEAL.without(joined=joined)), _taped(case), rtol=1e-12)


@pytest.mark.parametrize("copied_between", [False, True])
def test_a_gradient_that_a_copy_took_along_is_told_by_whose_it_was(copied_between: bool) -> None:
    """Two losses of one parameter, one of them by way of a copy; cleared before each iteration, or never."""

    def program() -> None:
        x = _array(_START)
        for _ in range(2):
            y, first_loss, second_loss = _array(), _array(shape=1), _array(shape=1)
            first, second = wp.Tape(), wp.Tape()
            with first:
                wp.launch(kernels.squared, _N, [x, first_loss])
            if copied_between:
                first.backward(first_loss)
            with second:
                wp.copy(y, x)
                wp.launch(kernels.squared, _N, [y, second_loss])
            if not copied_between:
                first.backward(first_loss)
            second.backward(second_loss)
            x.assign(x.numpy() - 1e-3 * x.grad.numpy())
            if copied_between:
                x.grad.zero_()

    case = _case(program, iteration=1)
    second = [case.life.backwards[1]]
    assert begun_with_own(case) == (second if copied_between else [])
    assert begun_with_earlier(case) == ([] if copied_between else second)


def test_a_tape_entered_again_brings_back_warps_number() -> None:
    def program() -> None:
        x, loss = _array(_START), _array(shape=1)
        y, tape = _array(), wp.Tape()
        for _ in range(3):
            loss.zero_()
            with tape:
                wp.launch(kernels.cubed, _N, [x, y])
                wp.launch(kernels.squared, _N, [y, loss])
            tape.backward(loss)
            x.assign(x.numpy() - 1e-3 * x.grad.numpy())
            tape.zero()

    for iteration, times in ((0, 1), (1, 2), (2, 3)):
        case = _case(program, iteration=iteration)
        tape = case.life.backwards[0].tape
        assert tape is not None
        np.testing.assert_allclose(_taped(case), times * case.ideal, rtol=1e-12)
        np.testing.assert_allclose(case.sweep(IDEAL.without(again=frozenset({tape}))), _taped(case), rtol=1e-12)


@pytest.mark.parametrize("how", ["kernel", "fill", "host"])
def test_the_objective_is_what_the_loss_held_before_it_was_replaced(how: str) -> None:
    def program() -> None:
        x, loss = _array(_START), _array(shape=1)
        tape = wp.Tape()
        with tape:
            wp.launch(kernels.squared, _N, [x, loss])
            if how == "kernel":
                wp.launch(reset, 1, [loss])
            elif how == "fill":
                loss.zero_()
            else:
                loss.assign(np.zeros(1))
        tape.backward(loss)
        x.assign(x.numpy() - 1e-3 * x.grad.numpy())

    case = _case(program)
    exact = 2.0 * np.arange(1, _N + 1) * _START
    np.testing.assert_allclose(case.ideal, exact, rtol=1e-12)
    assert case.objective.value == pytest.approx(float((np.arange(1, _N + 1) * _START**2).sum()), rel=1e-12)
    late = frozenset(t.index for t in case.objective.seeds)
    if how == "kernel":
        np.testing.assert_array_equal(_taped(case), 0.0)
        np.testing.assert_array_equal(case.sweep(IDEAL.without(late=late)), 0.0)
    else:
        np.testing.assert_allclose(_taped(case), exact, rtol=1e-12)


def test_a_loss_counts_once_however_often_backward_runs_from_it() -> None:
    def program() -> None:
        x, y, loss = _array(_START), _array(), _array(shape=1)
        tape = wp.Tape()
        with tape:
            wp.launch(kernels.cubed, _N, [x, y])
            wp.launch(kernels.squared, _N, [y, loss])
        tape.backward(loss)
        tape.backward(loss)
        x.assign(x.numpy() - 1e-3 * x.grad.numpy())

    case = _case(program)
    assert len(case.objective.seeds) == len(case.objective.repeats) == 1
    np.testing.assert_allclose(_taped(case), 2.0 * case.ideal, rtol=1e-12)
    np.testing.assert_allclose(case.sweep(IDEAL.without(repeats=True)), _taped(case), rtol=1e-12)


@pytest.mark.parametrize("by", ["buffer", "clone", "NumPy"])
def test_a_seed_that_carries_another_pass_on_is_told_by_its_numbers(by: str) -> None:
    def program() -> None:
        x, middle, end, loss = _array(_START), _array(), _array(), _array(shape=1)
        first, second = wp.Tape(), wp.Tape()
        with first:
            wp.launch(kernels.cubed, _N, [x, middle])
        start = wp.clone(middle, requires_grad=True)
        with second:
            wp.launch(kernels.advance, _N, [start, end])
            wp.launch(kernels.squared, _N, [end, loss])
        second.backward(loss)
        seed = {"buffer": start.grad, "clone": wp.clone(start.grad)}.get(by)
        first.backward(grads={middle: seed if seed is not None else wp.array(start.grad.numpy(), dtype=wp.float64)})
        x.assign(x.numpy() - 1e-3 * x.grad.numpy())

    case = _case(program)
    assert is_split(case)
    assert len(case.objective.seeds) == 1
    np.testing.assert_allclose(case.ideal, _taped(case), rtol=1e-12)


def test_seeds_of_the_programs_own_are_not_taken_for_carried_ones() -> None:
    def program() -> None:
        x, y = _array(_START), _array()
        for _ in range(2):
            with wp.Tape() as tape:
                wp.launch(kernels.cubed, _N, [x, y])
            tape.backward(grads={y: wp.full(_N, 1.0, dtype=wp.float64)})
            x.assign(x.numpy() - 1e-3 * x.grad.numpy())
            tape.zero()

    case = _case(program, iteration=1)
    assert not is_split(case)
    np.testing.assert_allclose(case.ideal, _taped(case), rtol=1e-12)


@pytest.mark.parametrize("own", [True, False])
def test_a_step_of_another_array_is_an_orphan(own: bool) -> None:
    def program() -> None:
        held = _array(_START)
        x = wp.array(held.numpy(), dtype=wp.float64, requires_grad=True)
        for _ in range(3):
            loss = _array(shape=1)
            with wp.Tape() as tape:
                wp.launch(kernels.squared, _N, [x, loss])
            tape.backward(loss)
            gradient = held.grad.numpy() if own else x.grad.numpy()
            held.assign(held.numpy() - 1e-3 * gradient)
            tape.zero()

    case = _case(program)
    orphan = case.life.orphan
    assert orphan is not None
    assert case.recording.name(orphan.stepped) == "held"
    np.testing.assert_array_equal(case.life.consumed, 0.0)
    assert case.life.meant is not None
    np.testing.assert_allclose(case.life.meant, case.ideal, rtol=1e-12)


def test_a_master_copy_that_is_read_again_is_no_orphan() -> None:
    def program() -> None:
        master = _array(_START)
        for _ in range(3):
            x = wp.array(master.numpy(), dtype=wp.float64, requires_grad=True)
            loss = _array(shape=1)
            with wp.Tape() as tape:
                wp.launch(kernels.squared, _N, [x, loss])
            tape.backward(loss)
            master.assign(master.numpy() - 1e-3 * x.grad.numpy())

    case = _case(program)
    assert case.life.orphan is None
    np.testing.assert_allclose(case.life.consumed, case.ideal, rtol=1e-12)
