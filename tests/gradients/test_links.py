"""Values that pass through the host, by value and through library routines: connected, the gradient is exact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pytest
import warp as wp
from tests.trace.recording import record

from retrograde.gradients.ladder import Case, connect, frame, opened
from retrograde.gradients.links import Way
from retrograde.gradients.lives import find_lives
from retrograde.gradients.objective import objective_of
from retrograde.gradients.policy import IDEAL
from retrograde.trace.observer import Observer
from retrograde.trace.plan import Float, Injection, Outcome, Plan
from retrograde.trace.recorder import Recorder

_START = np.array([0.7, -0.4, 1.1, 0.25])


@wp.kernel
def respond(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    y[i] = x[i] * x[i] + wp.float64(0.5) * x[i]


@wp.kernel
def combine(
    y: wp.array(dtype=wp.float64),
    outside: wp.array(dtype=wp.float64),
    factor: wp.float64,
    running: wp.array(dtype=wp.float64),
    loss: wp.array(dtype=wp.float64),
):
    i = wp.tid()
    wp.atomic_add(loss, 0, factor * factor * outside[i] + y[i] * running[i])


class _Done(BaseException):
    pass


def _array(values: object = 0.0, size: int = 4) -> wp.array:
    return wp.array(np.broadcast_to(np.asarray(values, dtype=np.float64), size).copy(), requires_grad=True)


def _program(copied: bool) -> Callable[[], None]:
    def program() -> None:
        x = _array(_START)
        y, running, loss = _array(), _array(), _array(size=1)
        tape = wp.Tape()
        with tape:
            wp.launch(respond, 4, [x, y])
            outside = _array(y.numpy() if copied else np.sin(y.numpy()) * y.numpy()[0])
            wp.utils.array_scan(y, running)
            wp.launch(combine, 4, [y, outside, float(y.numpy()[1:].sum()), running, loss])
        tape.backward(loss)
        x.assign(x.numpy() - 1e-3 * x.grad.numpy())

    return program


def _objective(x: Float, copied: bool, cut: tuple[Way, ...] = (), at: Float = _START) -> complex:
    """The loss; what passes through a cut link stays what it is at `at`."""

    def crossing(way: Way, function: Callable[[Float], Float]) -> Float:
        source = at.astype(complex) if way in cut else x
        return function(source**2 + 0.5 * source)

    y = x**2 + 0.5 * x
    outside = crossing(Way.HOST, lambda v: v if copied else np.sin(v) * v[0])
    factor = crossing(Way.NUMBER, lambda v: v[1:].sum())
    running = crossing(Way.ROUTINE, np.cumsum)
    return complex((factor**2 * outside + y * running).sum())


def _exact(copied: bool, cut: tuple[Way, ...] = ()) -> Float:
    steps = 1e-30j * np.eye(4)
    return np.array([_objective(_START + step, copied, cut).imag / 1e-30 for step in steps])


@cache
def _case(copied: bool) -> Case:
    program = _program(copied)
    with wp.ScopedDevice("cpu"):
        recording = record(program)
        life = find_lives(recording)[0]
        objective = objective_of(recording, life)
        case = opened(frame(recording, life, objective), np.random.default_rng(0))

        def evaluate(contents: Sequence[Float], watched: frozenset[int] = frozenset()) -> list[Outcome]:
            strides = life.ref.full_strides
            return [
                _run_again(
                    program,
                    Plan(
                        (Injection(life.first.ordinal, life.slot, life.offset, strides, c),), objective.terms, watched
                    ),
                )
                for c in contents
            ]

        return connect(case, evaluate, [])


def _run_again(program: Callable[[], None], plan: Plan) -> Outcome:
    outcomes: list[Outcome] = []
    recorder = Recorder(lambda _: None)

    def finish(outcome: Outcome) -> None:
        outcomes.append(outcome)
        raise _Done

    recorder.begin_re_execution(plan, finish)
    observer = Observer(recorder)
    observer.install()
    try:
        program()
    except _Done:
        pass
    finally:
        observer.remove()
    return outcomes[0]


@pytest.mark.parametrize("copied", [False, True])
def test_the_connected_gradient_is_exact(copied: bool) -> None:
    case = _case(copied)
    assert case.links is not None
    assert [m.way for m in case.links.members] == [Way.HOST, Way.ROUTINE, Way.NUMBER]
    np.testing.assert_allclose(case.ideal, _exact(copied), rtol=1e-6)


@pytest.mark.parametrize("way", list(Way))
@pytest.mark.parametrize("copied", [False, True])
def test_a_cut_link_carries_nothing_and_no_other_is_touched(copied: bool, way: Way) -> None:
    case = _case(copied)
    assert case.links is not None
    keys = frozenset(m.operation.site.key for m in case.links.members if m.way is way)
    with wp.ScopedDevice("cpu"):
        cut = case.sweep(IDEAL.without(unlinked=keys))
    np.testing.assert_allclose(cut, _exact(copied, (way,)), rtol=1e-6)
    assert np.abs(cut - case.ideal).max() > 0.05


def test_a_plain_copy_is_told_from_a_computation() -> None:
    def host_link(copied: bool) -> object:
        links = _case(copied).links
        assert links is not None
        return next(m for m in links.members if m.way is Way.HOST).copied

    assert host_link(copied=True) is not None
    assert host_link(copied=False) is None


def test_a_number_is_named_as_the_kernel_names_it() -> None:
    links = _case(copied=False).links
    assert links is not None
    assert [m.labels for m in links.members if m.way is Way.NUMBER] == [("factor",)]
