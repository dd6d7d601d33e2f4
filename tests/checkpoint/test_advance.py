"""Gradients through long horizons, held against the tape of all steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import warp as wp
from checkpoint_schedules import HRevolve, MixedCheckpointSchedule, MultistageCheckpointSchedule, Revolve

from retrograde.checkpoint import Advance, Everything, Packaged, Record, Restore, Reverse, Tapered, Uniform, advance
from retrograde.checkpoint.states import StateError, leaves, like

SIZE = 12


@wp.kernel
def drift(
    x: wp.array(dtype=wp.float64), v: wp.array(dtype=wp.float64), rate: wp.array(dtype=wp.float64), dt: wp.float64,
    y: wp.array(dtype=wp.float64), w: wp.array(dtype=wp.float64),
):  # fmt: skip
    i = wp.tid()
    pull = wp.sin(x[(i + 1) % x.shape[0]]) * rate[0] - x[i]
    w[i] = v[i] + dt * pull
    y[i] = x[i] + dt * (v[i] + dt * pull)


@wp.kernel
def square(x: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    wp.atomic_add(loss, 0, x[i] * x[i] * wp.float64(i + 1))


@wp.struct
class Pair:
    x: wp.array(dtype=wp.float64)
    v: wp.array(dtype=wp.float64)
    label: wp.int32


@dataclass
class Body:
    x: Any
    v: Any


class Couple(NamedTuple):
    x: Any
    v: Any


def _pair(x: Any, v: Any) -> Any:
    made = Pair()
    made.x, made.v, made.label = x, v, 7
    return made


KINDS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any], tuple[Any, Any]]]] = {
    "tuple": (lambda x, v: (x, v), lambda s: s),
    "list in dictionary": (lambda x, v: {"x": [x], "v": v}, lambda s: (s["x"][0], s["v"])),
    "dataclass": (Body, lambda s: (s.x, s.v)),
    "named tuple": (Couple, lambda s: (s.x, s.v)),
    "struct": (_pair, lambda s: (s.x, s.v)),
}


@dataclass
class Problem:
    """One start, one parameter, one loss."""

    x: Any
    v: Any
    rate: Any
    loss: Any

    @property
    def gradients(self) -> tuple[np.ndarray, ...]:
        return tuple(a.grad.numpy().copy() for a in (self.x, self.v, self.rate))


def _problem() -> Problem:
    rng = np.random.default_rng(3)

    def array(values: Any) -> Any:
        return wp.array(values, dtype=wp.float64, requires_grad=True, device="cpu")

    return Problem(array(rng.standard_normal(SIZE)), array(rng.standard_normal(SIZE)), array([0.7]), array([0.0]))


def _step(problem: Problem, parts: Callable[[Any], tuple[Any, Any]]) -> Callable[[int, Any, Any], None]:
    def step(n: int, before: Any, after: Any) -> None:
        inputs = [*parts(before), problem.rate, 0.1 / (1 + n % 3)]
        wp.launch(drift, SIZE, inputs=inputs, outputs=[*parts(after)], device="cpu")

    return step


def _by_tape(steps: int) -> tuple[np.ndarray, ...]:
    problem = _problem()
    step = _step(problem, lambda s: s)
    states = [(problem.x, problem.v)]
    states += [tuple(wp.zeros_like(a, requires_grad=True) for a in states[0]) for _ in range(steps)]
    with wp.Tape() as tape:
        for n in range(steps):
            step(n, states[n], states[n + 1])
        wp.launch(square, SIZE, inputs=[states[-1][0], problem.loss], device="cpu")
    tape.backward(problem.loss)
    return (*problem.gradients, problem.loss.numpy().copy())


def _by_advance(steps: int, kind: str = "tuple", **options: Any) -> tuple[tuple[np.ndarray, ...], Any]:
    problem = _problem()
    make, parts = KINDS[kind]
    with wp.Tape() as tape:
        done = advance(_step(problem, parts), make(problem.x, problem.v), steps, parameters=[problem.rate], **options)
        wp.launch(square, SIZE, inputs=[parts(done.state)[0], problem.loss], device="cpu")
    tape.backward(problem.loss)
    return (*problem.gradients, problem.loss.numpy().copy()), done.report


SCHEDULES = {
    "everything": Everything(),
    "tapered": Tapered(),
    "uniform": Uniform(),
    "uniform, every 4": Uniform(4),
    "revolve": Packaged(lambda n: Revolve(n, min(4, max(1, n - 1)))),
    "memory and disk": Packaged(lambda n: MultistageCheckpointSchedule(n, 1, 2)),
    "h-revolve": Packaged(lambda n: HRevolve(n, 2, 3) if n > 2 else Revolve(n, 1)),
}


@pytest.mark.parametrize("steps", [1, 2, 3, 10, 37])
@pytest.mark.parametrize("name", SCHEDULES)
def test_every_schedule_gives_the_gradient_of_the_whole_tape_bit_for_bit(name: str, steps: int, tmp_path: Path) -> None:
    found, _ = _by_advance(steps, schedule=SCHEDULES[name], folder=tmp_path)
    for ours, theirs in zip(found, _by_tape(steps), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", KINDS)
def test_states_of_every_make(kind: str) -> None:
    found, _ = _by_advance(23, kind)
    for ours, theirs in zip(found, _by_tape(23), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_memory_grows_with_the_root_of_the_steps_and_each_step_is_computed_twice_at_most() -> None:
    problem = _problem()

    def step(n: int, before: Any, after: Any) -> None:
        wp.launch(drift, SIZE, inputs=[*before, problem.rate, 0.001], outputs=[*after], device="cpu")

    with wp.Tape() as tape:
        done = advance(step, (problem.x, problem.v), 10_000)
        wp.launch(square, SIZE, inputs=[done.state[0], problem.loss], device="cpu")
    tape.backward(problem.loss)
    report = done.report
    assert report.peak_states <= np.sqrt(2 * 10_000) + 8
    assert report.recomputation <= 2.0
    assert report.state_bytes == 2 * SIZE * 8
    assert report.peak_bytes == report.peak_states * report.state_bytes


def test_backward_twice_adds_the_gradient_twice() -> None:
    problem = _problem()
    with wp.Tape() as tape:
        done = advance(_step(problem, lambda s: s), (problem.x, problem.v), 9)
        wp.launch(square, SIZE, inputs=[done.state[0], problem.loss], device="cpu")
    tape.backward(problem.loss)
    once = problem.gradients
    tape.backward(problem.loss)
    for first, second in zip(once, problem.gradients, strict=True):
        np.testing.assert_allclose(second, 2.0 * first, rtol=1e-14)


def test_other_uses_of_the_start_add_up() -> None:
    problem = _problem()
    with wp.Tape() as tape:
        done = advance(_step(problem, lambda s: s), (problem.x, problem.v), 9)
        wp.launch(square, SIZE, inputs=[done.state[0], problem.loss], device="cpu")
        wp.launch(square, SIZE, inputs=[problem.x, problem.loss], device="cpu")
    tape.backward(problem.loss)
    expected = _by_tape(9)[0] + 2.0 * problem.x.numpy() * np.arange(1, SIZE + 1)
    np.testing.assert_allclose(problem.x.grad.numpy(), expected, rtol=1e-13)


def test_horizons_follow_each_other_on_one_tape() -> None:
    problem = _problem()
    with wp.Tape() as tape:
        half = advance(_step(problem, lambda s: s), (problem.x, problem.v), 9)
        done = advance(_step(problem, lambda s: s), half.state, 12)
        wp.launch(square, SIZE, inputs=[done.state[0], problem.loss], device="cpu")
    tape.backward(problem.loss)
    for ours, theirs in zip((*problem.gradients, problem.loss.numpy()), _by_tape(21), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_a_start_that_changes_before_backward_changes_nothing() -> None:
    problem = _problem()
    with wp.Tape() as tape:
        done = advance(_step(problem, lambda s: s), (problem.x, problem.v), 20)
        wp.launch(square, SIZE, inputs=[done.state[0], problem.loss], device="cpu")
    problem.x.zero_()
    problem.v.zero_()
    tape.backward(problem.loss)
    for ours, theirs in zip(problem.gradients, _by_tape(20), strict=False):
        np.testing.assert_array_equal(ours, theirs)


def test_without_a_tape_it_only_runs() -> None:
    problem = _problem()
    done = advance(_step(problem, lambda s: s), (problem.x, problem.v), 30)
    assert done.report.computed == 30
    wp.launch(square, SIZE, inputs=[done.state[0], problem.loss], device="cpu")
    np.testing.assert_array_equal(problem.loss.numpy(), _by_tape(30)[3])


def test_views_vectors_and_arrays_without_gradient() -> None:
    rows = wp.array(np.arange(12.0).reshape(3, 4), dtype=wp.float64, requires_grad=True, device="cpu")
    state = (rows[:, 1], wp.zeros(2, dtype=wp.vec3d, requires_grad=True, device="cpu"), wp.zeros(3, dtype=wp.int32))
    copy = like(state)
    assert [a.requires_grad for _, a in leaves(copy)] == [False, False, False]
    np.testing.assert_array_equal(copy[0].numpy(), [1.0, 5.0, 9.0])

    def step(n: int, before: Any, after: Any) -> None:
        wp.copy(after[0], before[0])
        wp.copy(after[1], before[1])

    loss = wp.zeros(1, dtype=wp.float64, requires_grad=True, device="cpu")
    with wp.Tape() as tape:
        done = advance(step, state, 5)
        wp.launch(square, 3, inputs=[done.state[0], loss], device="cpu")
    tape.backward(loss)
    np.testing.assert_array_equal(rows.grad.numpy()[:, 1], 2.0 * np.array([1.0, 5.0, 9.0]) * [1.0, 2.0, 3.0])


class Listed:
    """A schedule of given actions."""

    def __init__(self, *listed: Any) -> None:
        self.listed = listed

    def actions(self, steps: int) -> Any:
        return iter(self.listed)


@pytest.mark.parametrize(
    ("schedule", "said"),
    [
        (Listed(Advance(0, 4)), "does not record the last"),
        (Listed(Record(0, 2), Reverse(0, 2)), "does not record the last"),
        (Listed(Advance(0, 2), Record(2, 4), Reverse(2, 4)), "ends before"),
        (Listed(Advance(0, 2), Record(2, 4), Reverse(2, 4), Restore(0, True)), "not kept"),
        (Listed(Record(0, 4), Reverse(1, 4)), "not recorded"),
    ],
)
def test_schedules_that_contradict_themselves_are_refused(schedule: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        _by_advance(4, schedule=schedule)


def test_bad_arguments_are_refused_by_name() -> None:
    problem = _problem()
    step = _step(problem, lambda s: s)
    with pytest.raises(ValueError, match="steps: expected a positive number, got 0"):
        advance(step, (problem.x, problem.v), 0)
    with pytest.raises(ValueError, match="every: expected"):
        Uniform(0)
    with pytest.raises(StateError, match=r"state\[1\]\['v'\]: expected a Warp array.*got float"):
        advance(step, (problem.x, {"v": 1.0}), 3)


@pytest.mark.filterwarnings("ignore:Numba not available")
def test_schedules_that_keep_records_are_refused() -> None:
    with pytest.raises(ValueError, match="keep the records of steps"):
        _by_advance(9, schedule=Packaged(lambda n: MixedCheckpointSchedule(n, 3)))
