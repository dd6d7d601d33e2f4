from __future__ import annotations

import numpy as np
import pytest
import warp as wp
from tests.gradients import kernels as k
from tests.gradients.programs import PROGRAMS, N, Program, doubles, named
from tests.gradients.sweeping import Opened, open_program
from tests.trace.recording import record

from retrograde.gradients.replay import Replay


def _loss(opened: Opened) -> wp.array:
    call = opened.backward.backward
    assert call is not None
    assert call.loss is not None
    return call.loss.array


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_a_replay_gives_the_recorded_objective_bitwise(program: Program) -> None:
    opened = open_program(program)
    replay = Replay(opened.window, opened.seeds)
    recorded = float(_loss(opened).numpy()[0])
    assert replay.value(opened.ref, opened.first, None) == recorded
    assert replay.value(opened.ref, opened.first, program.start) == recorded
    assert replay.unobserved() == ()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_a_replay_elsewhere_gives_what_the_program_gives_there(program: Program) -> None:
    opened = open_program(program)
    replay = Replay(opened.window, opened.seeds)
    moved = program.start + 0.1 * np.cos(np.arange(program.start.size)).reshape(program.start.shape)
    again = wp.array(moved, dtype=program.dtype, device="cpu", requires_grad=True)
    with wp.ScopedDevice("cpu"):
        other = record(lambda: program.run(again))
    loss = _loss(Opened(program, again, other))
    assert replay.value(opened.ref, opened.first, moved) == float(loss.numpy()[0])
    assert replay.value(opened.ref, opened.first, moved) == pytest.approx(program.twin(moved), rel=1e-9)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_a_replay_leaves_the_program_alone(program: Program) -> None:
    opened = open_program(program)
    arrays = {a.ref.pointer: a.ref.array for o in opened.recording.operations for a in o.accesses}
    kept = {pointer: array.numpy().copy() for pointer, array in arrays.items()}
    Replay(opened.window, opened.seeds).value(opened.ref, opened.first, program.start * 1.5)
    for pointer, contents in kept.items():
        np.testing.assert_array_equal(arrays[pointer].numpy(), contents)


def _hidden(x: wp.array) -> None:
    """Something that no call shows changes the state between two launches."""
    a, b, loss = doubles(), doubles(), doubles(shape=1)
    tape = wp.Tape()
    with tape:
        wp.launch(k.cubed, N, [x, a])
        np.ctypeslib.as_array((np.ctypeslib.ctypes.c_double * N).from_address(a.ptr))[:] *= 0.5
        wp.launch(k.advance, N, [a, b])
        wp.launch(k.squared, N, [b, loss])
    tape.backward(loss)


def test_what_nothing_observed_wrote_is_found() -> None:
    start = named("ping_pong").start
    x = doubles(start)
    with wp.ScopedDevice("cpu"):
        opened = Opened(named("ping_pong"), x, record(lambda: _hidden(x)))
    unobserved = Replay(opened.window, opened.seeds).unobserved()
    written = next(a.ref for o in opened.operations("cubed") for a in o.accesses if a.usage.writes)
    assert written.pointer in {ref.pointer for ref in unobserved}


def _through_numpy(x: wp.array) -> None:
    """A write through a NumPy view, which is observed: a constant to a replay, but no surprise."""
    a, b, loss = doubles(), doubles(), doubles(shape=1)
    tape = wp.Tape()
    with tape:
        wp.launch(k.cubed, N, [x, a])
        a.numpy()[2] = 0.75
        wp.launch(k.advance, N, [a, b])
        wp.launch(k.squared, N, [b, loss])
    tape.backward(loss)


def test_an_observed_host_write_is_replayed() -> None:
    start = named("ping_pong").start
    x = doubles(start)
    with wp.ScopedDevice("cpu"):
        opened = Opened(named("ping_pong"), x, record(lambda: _through_numpy(x)))
    replay = Replay(opened.window, opened.seeds)
    assert replay.value(opened.ref, opened.first, None) == float(_loss(opened).numpy()[0])
    assert replay.unobserved() == ()


def _with_scratch(x: wp.array) -> None:
    """An adjoint of the program's own, which works in the memory that the forward pass worked in."""
    scratch, a, loss = doubles(gradient=False), doubles(), doubles(shape=1)
    forward = [
        wp.launch(k.cubed, N, [x, scratch], record_cmd=True),
        wp.launch(k.advance, N, [scratch, a], record_cmd=True),
    ]

    def pull_back() -> None:
        wp.launch(k.cubed, N, [a.grad, scratch], record_cmd=True).launch()
        wp.launch(k.advance, N, [scratch, scratch])
        wp.copy(x.grad, scratch)

    tape = wp.Tape()
    with tape:
        for command in forward:
            command.launch()
        tape.record_func(pull_back, [x, a])
        a.grad.zero_()
        wp.launch(k.squared, N, [a, loss])
    tape.backward(loss)


def test_what_a_backward_pass_writes_is_no_surprise() -> None:
    start = named("ping_pong").start
    x = doubles(start)
    with wp.ScopedDevice("cpu"):
        opened = Opened(named("ping_pong"), x, record(lambda: _with_scratch(x)))
    replay = Replay(opened.window, opened.seeds)
    assert replay.value(opened.ref, opened.first, None) == float(_loss(opened).numpy()[0])
    assert replay.unobserved() == ()


def test_memory_is_rolled_back_over_a_function_that_backward_ran() -> None:
    start = named("ping_pong").start
    x = doubles(start)
    with wp.ScopedDevice("cpu"):
        opened = Opened(named("ping_pong"), x, record(lambda: _with_scratch(x)))
    scratch = next(a.ref for o in opened.operations("cubed") for a in o.accesses if a.usage.writes)
    forward = opened.window.contents_before(opened.backward.index).values(scratch)
    np.testing.assert_array_equal(forward, np.asarray(start).ravel() ** 3)
    assert not np.array_equal(opened.window.contents_at_end().values(scratch), forward)
