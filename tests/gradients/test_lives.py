from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import warp as wp
from tests.gradients import trainings as t
from tests.gradients.kernels import cubed, squared
from tests.trace.recording import record

from retrograde.gradients.life import Life
from retrograde.gradients.lives import find_lives
from retrograde.gradients.window import Window
from retrograde.trace.operations import Kind, Recording


def _lives(training: Callable[[t.Diary], None]) -> tuple[Recording, tuple[Life, ...], t.Diary]:
    diary = t.Diary()
    with wp.ScopedDevice("cpu"):
        recording = record(lambda: training(diary))
    return recording, find_lives(recording), diary


@pytest.mark.parametrize("training", t.TRAININGS, ids=lambda f: f.__name__)
def test_what_was_consumed_is_read_off_the_use(training: Callable[[t.Diary], None]) -> None:
    _, lives, diary = _lives(training)
    assert [life.iteration for life in lives] == list(range(len(diary.points)))
    for life, consumed in zip(lives, diary.consumed, strict=True):
        assert life.consumed is not None
        np.testing.assert_allclose(life.consumed, consumed, rtol=1e-6, atol=1e-15)


@pytest.mark.parametrize("training", t.TRAININGS, ids=lambda f: f.__name__)
def test_a_life_begins_with_the_contents_of_its_iteration(training: Callable[[t.Diary], None]) -> None:
    recording, lives, diary = _lives(training)
    for life, point in zip(lives, diary.points, strict=True):
        window = Window(recording, life.first.index, life.last, life.ref)
        found = window.contents_before(life.first.index).values(life.ref)
        np.testing.assert_allclose(found, point, rtol=1e-12)


@pytest.mark.parametrize("training", t.TRAININGS, ids=lambda f: f.__name__)
def test_a_life_is_called_what_the_program_calls_it(training: Callable[[t.Diary], None]) -> None:
    _, lives, _ = _lives(training)
    assert {life.name for life in lives} == {"x"}


def test_passes_that_add_up_are_one_life() -> None:
    for training in (t.accumulation, t.accumulation_on_the_host):
        _, lives, _ = _lives(training)
        assert len(lives) == t.ROUNDS
        assert all(len(life.backwards) == 2 for life in lives)


@pytest.mark.parametrize("training", [t.cleared_under_the_reader, t.read_after_the_clear], ids=lambda f: f.__name__)
def test_a_clear_before_the_use_is_told(training: Callable[[t.Diary], None]) -> None:
    _, lives, diary = _lives(training)
    for life, point in zip(lives, diary.points, strict=True):
        assert life.cleared is not None
        assert life.cleared.kind is Kind.CLEAR
        assert life.taped is not None
        np.testing.assert_allclose(life.taped, t.slope(point))


@pytest.mark.parametrize("training", [t.numpy_descent, t.kernel_descent, t.adam], ids=lambda f: f.__name__)
def test_a_clear_after_the_use_is_none_of_its_business(training: Callable[[t.Diary], None]) -> None:
    _, lives, _ = _lives(training)
    assert all(life.cleared is None for life in lives)


def test_an_iteration_that_was_not_recorded_to_its_end_is_no_part_of_the_last_life() -> None:
    """Segments are run backward one after the other; a recording may end between them."""

    def in_segments(diary: t.Diary) -> None:
        for round_ in range(t.ROUNDS):
            x = wp.array(t.START + round_, dtype=wp.float64, requires_grad=True)
            start, loss = (wp.zeros(n, dtype=wp.float64, requires_grad=True) for n in (4, 1))
            wp.copy(start, x)
            last, first = wp.Tape(), wp.Tape()
            with last:
                wp.launch(squared, 4, [start, loss])
            last.backward(loss)
            if round_ == t.ROUNDS - 1:
                return
            with first:
                end = wp.clone(x, requires_grad=True)
            first.backward(grads={end: start.grad})
            diary.note(t.START + round_, x.grad.numpy())

    _, lives, diary = _lives(in_segments)
    assert [len(life.backwards) for life in lives] == [2] * len(diary.points)
    for life, point, consumed in zip(lives, diary.points, diary.consumed, strict=True):
        np.testing.assert_allclose(life.consumed, consumed, rtol=1e-12)
        np.testing.assert_allclose(life.consumed, t.slope(point), rtol=1e-12)


def test_a_segment_between_two_that_read_the_parameter_belongs_to_its_life() -> None:
    def three_segments(diary: t.Diary) -> None:
        x = wp.array(t.START, dtype=wp.float64, requires_grad=True)
        starts = [wp.zeros(4, dtype=wp.float64, requires_grad=True) for _ in range(2)]
        ends = [wp.zeros(4, dtype=wp.float64, requires_grad=True) for _ in range(2)]
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        tapes = [wp.Tape() for _ in range(3)]
        with tapes[0]:
            wp.launch(cubed, 4, [x, ends[0]])
        wp.copy(starts[0], ends[0])
        with tapes[1]:
            wp.launch(cubed, 4, [starts[0], ends[1]])
        wp.copy(starts[1], ends[1])
        with tapes[2]:
            wp.launch(squared, 4, [starts[1], loss])
            wp.launch(squared, 4, [x, loss])
        tapes[2].backward(loss)
        tapes[1].backward(grads={ends[1]: starts[1].grad})
        tapes[0].backward(grads={ends[0]: starts[0].grad})
        diary.note(t.START, x.grad.numpy())

    _, (life,), diary = _lives(three_segments)
    assert len(life.backwards) == 3
    np.testing.assert_allclose(life.consumed, diary.consumed[0], rtol=1e-12)


def test_a_step_that_misses_its_parameter_ends_a_life_all_the_same() -> None:
    """Two parameters of one size, whose copies are stepped: each iteration is a life, with its own backward pass."""

    def copies_are_stepped(_: t.Diary) -> None:
        a = wp.array(t.START, dtype=wp.float64, requires_grad=True)
        b = wp.array(-0.5 * t.START, dtype=wp.float64, requires_grad=True)
        held = [wp.clone(a, requires_grad=True), wp.clone(b, requires_grad=True)]
        for _ in range(t.ROUNDS):
            loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
            with wp.Tape() as tape:
                wp.launch(squared, 4, [a, loss])
                wp.launch(squared, 4, [b, loss])
            tape.backward(loss)
            gradients = [h.grad.numpy().copy() for h in held]
            for h, g in zip(held, gradients, strict=True):
                h.assign(h.numpy() - t.RATE * g)
            tape.zero()

    _, lives, _ = _lives(copies_are_stepped)
    assert [(life.name, life.iteration) for life in lives] == [(n, k) for k in range(t.ROUNDS) for n in ("a", "b")]
    for life in lives:
        assert life.orphan is not None
        assert len(life.backwards) == 1
        assert life.consumed is not None
        assert not life.consumed.any()
        start = t.START if life.name == "a" else -0.5 * t.START
        np.testing.assert_allclose(life.meant, t.slope(start), rtol=1e-12)


def test_a_gradient_read_too_early_counts_also_where_no_tape_reads_the_parameter() -> None:
    def unrecorded(_: t.Diary) -> None:
        x = wp.array(t.START, dtype=wp.float64, requires_grad=True)
        for _ in range(t.ROUNDS):
            y, loss = (wp.zeros(n, dtype=wp.float64, requires_grad=True) for n in (4, 1))
            used = x.grad.numpy().copy()
            with wp.Tape() as tape:
                wp.launch(cubed, 4, [x, y], record_tape=False)
                wp.launch(squared, 4, [y, loss])
            tape.backward(loss)
            x.assign(x.numpy() - t.RATE * (1.0 + used))

    _, lives, _ = _lives(unrecorded)
    assert len(lives) == t.ROUNDS - 1
    for life in lives:
        assert life.readings
        assert life.consumed is not None
        assert not life.consumed.any()


def test_earlier_gradients_are_known_the_latest_first() -> None:
    _, lives, diary = _lives(t.read_too_early)
    last = lives[-1]
    assert last.taped is not None
    np.testing.assert_allclose(last.taped, t.slope(diary.points[-1]))
    np.testing.assert_allclose(last.earlier[0], t.slope(diary.points[-2]))
    np.testing.assert_allclose(last.earlier[1], t.slope(diary.points[-3]))


def test_several_parameters_have_lives_of_their_own() -> None:
    def training() -> None:
        weights, bias = (wp.array(t.START, dtype=wp.float64, requires_grad=True) for _ in range(2))
        hidden = wp.zeros(4, dtype=wp.float64, requires_grad=True)
        for _ in range(2):
            loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
            tape = wp.Tape()
            with tape:
                wp.launch(cubed, 4, [weights, hidden])
                wp.launch(squared, 4, [hidden, loss])
                wp.launch(squared, 4, [bias, loss])
            tape.backward(loss)
            for parameter in (weights, bias):
                parameter.assign(parameter.numpy() - t.RATE * parameter.grad.numpy())
            tape.zero()

    with wp.ScopedDevice("cpu"):
        lives = find_lives(record(training))
    assert sorted((life.name, life.iteration) for life in lives) == [
        ("bias", 0),
        ("bias", 1),
        ("weights", 0),
        ("weights", 1),
    ]


def test_constants_and_intermediates_are_no_parameters() -> None:
    def training() -> None:
        x = wp.array(t.START, dtype=wp.float64, requires_grad=True)
        y = wp.zeros(4, dtype=wp.float64, requires_grad=True)
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        tape = wp.Tape()
        with tape:
            wp.launch(cubed, 4, [x, y])
            wp.launch(squared, 4, [y, loss])
        tape.backward(loss)
        x.grad.numpy().sum()
        y.grad.numpy().sum()

    with wp.ScopedDevice("cpu"):
        assert [life.name for life in find_lives(record(training))] == ["x"]
