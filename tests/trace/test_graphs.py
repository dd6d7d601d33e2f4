"""Captured graphs are told call by call, at every launch, and stay what the program captured."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import warp as wp
from tests.trace.kernels import plain
from tests.trace.programs import descend, squares
from tests.trace.recording import observed, of_kind, record

from retrograde.trace.observer import Observer
from retrograde.trace.operations import Kind
from retrograde.trace.recorder import Recorder

Arrays = dict[str, wp.array]


def _arrays() -> Arrays:
    return {
        "x": wp.array(np.array([0.5, -1.0, 2.0], dtype=np.float32), device="cpu", requires_grad=True),
        "y": wp.zeros(3, dtype=float, device="cpu", requires_grad=True),
        "loss": wp.zeros(1, dtype=float, device="cpu", requires_grad=True),
    }


def _step(arrays: Arrays) -> None:
    x, y, loss = arrays.values()
    loss.zero_()
    tape = wp.Tape()
    with tape:
        wp.launch(plain, dim=3, inputs=[x, y], device="cpu")
        wp.launch(squares, dim=3, inputs=[y, loss], device="cpu")
    tape.backward(loss)
    wp.launch(descend, dim=3, inputs=[x, x.grad], device="cpu")
    tape.zero()


def _captured(arrays: Arrays) -> Any:
    with wp.ScopedCapture(device="cpu") as capture:
        _step(arrays)
    return capture.graph


def _contents(arrays: Arrays) -> bytes:
    return b"".join(a.numpy().tobytes() for a in arrays.values())


def test_launches_of_a_graph_are_recorded_as_the_same_calls_made_one_by_one() -> None:
    arrays = _arrays()

    def eager() -> None:
        for _ in range(3):
            _step(arrays)

    def graph() -> None:
        captured = _captured(arrays)
        for _ in range(3):
            wp.capture_launch(captured)

    one_by_one, launched = record(eager).operations, record(graph).operations
    assert len(one_by_one) == 18
    assert [(o.kind, o.label) for o in launched] == [(o.kind, o.label) for o in one_by_one]
    assert [o.site.line for o in launched] == [o.site.line for o in one_by_one]
    ranks = [{tape: n for n, tape in enumerate(dict.fromkeys(o.tape for o in r))} for r in (one_by_one, launched)]
    assert [ranks[1][o.tape] for o in launched] == [ranks[0][o.tape] for o in one_by_one]
    assert len(ranks[1]) == 4, "three tapes and none"


def test_nothing_is_recorded_while_a_graph_is_captured() -> None:
    arrays = _arrays()
    assert record(lambda: _captured(arrays)).operations == ()


def test_a_graph_outlives_the_recording() -> None:
    arrays, others = _arrays(), _arrays()
    with observed():
        graph = _captured(arrays)
    other = _captured(others)
    for _ in range(3):
        wp.capture_launch(graph)
        wp.capture_launch(other)
        assert _contents(arrays) == _contents(others)


def test_a_graph_captured_before_the_recording_is_out_of_reach_and_runs() -> None:
    arrays, others = _arrays(), _arrays()
    graph = _captured(arrays)
    with observed() as recorder:
        wp.capture_launch(graph)
    _step(others)
    assert _contents(arrays) == _contents(others)
    assert recorder.out_of_reach is not None
    assert "not seen being captured" in recorder.out_of_reach


def _halve(x: wp.array, condition: wp.array) -> None:
    wp.launch(descend, dim=3, inputs=[x, x], device="cpu")
    condition.zero_()


@pytest.mark.parametrize("control", ["capture_if", "capture_while"])
def test_branches_and_loops_in_a_graph_are_out_of_reach_and_run(control: str) -> None:
    x = wp.array(np.array([0.5, -1.0, 2.0], dtype=np.float32), device="cpu")
    condition = wp.ones(1, dtype=int, device="cpu")
    with observed() as recorder:
        with wp.ScopedCapture(device="cpu") as capture:
            wp.launch(descend, dim=3, inputs=[x, x], device="cpu")
            getattr(wp, control)(condition, lambda: _halve(x, condition))
            wp.launch(descend, dim=3, inputs=[x, x], device="cpu")
        wp.capture_launch(capture.graph)
    np.testing.assert_allclose(x.numpy(), np.array([0.5, -1.0, 2.0]) * 0.99**3, rtol=1e-6)
    assert recorder.out_of_reach is not None
    assert "branches" in recorder.out_of_reach


def test_a_capture_may_pause() -> None:
    x = wp.array(np.array([1.0, 2.0, 3.0], dtype=np.float32), device="cpu")

    def program() -> None:
        wp.capture_begin(device="cpu")
        wp.launch(descend, dim=3, inputs=[x, x], device="cpu")
        graph = wp._src.context.capture_pause(device="cpu")
        x.fill_(1.0)
        wp._src.context.capture_resume(graph, device="cpu")
        wp.launch(descend, dim=3, inputs=[x, x], device="cpu")
        wp.capture_launch(wp.capture_end(device="cpu"))

    recording = record(program)
    assert [o.kind for o in recording.operations] == [Kind.FILL, Kind.LAUNCH, Kind.LAUNCH]
    np.testing.assert_allclose(x.numpy(), 0.99**2, rtol=1e-6)


def test_a_captured_routine_is_told_of_at_each_launch() -> None:
    x, sums = (wp.array(np.array([1.0, 2.0, 3.0], dtype=np.float32), device="cpu") for _ in range(2))

    def program() -> None:
        with wp.ScopedCapture(device="cpu") as capture:
            wp.utils.array_scan(x, sums, inclusive=True)
            wp.copy(x, sums)
        wp.capture_launch(capture.graph)
        wp.capture_launch(capture.graph)

    recording = record(program)
    assert [o.kind for o in recording.operations] == [Kind.ROUTINE, Kind.COPY] * 2
    written = [o.data.view(np.float32) for o in recording.operations if o.kind is Kind.ROUTINE and o.data is not None]
    np.testing.assert_allclose(written, [[1.0, 3.0, 6.0], [1.0, 4.0, 10.0]])


def test_what_is_captured_unseen_runs_too() -> None:
    unseen_scan = wp.utils.array_scan
    x, sums = (wp.array(np.array([1.0, 2.0, 3.0], dtype=np.float32), device="cpu") for _ in range(2))

    def program() -> None:
        with wp.ScopedCapture(device="cpu") as capture:
            wp.launch(descend, dim=3, inputs=[x, x], device="cpu")
            unseen_scan(x, sums, inclusive=True)
            wp.copy(x, sums)
        wp.capture_launch(capture.graph)

    assert [o.kind for o in record(program).operations] == [Kind.LAUNCH, Kind.COPY]
    np.testing.assert_allclose(x.numpy(), np.array([1.0, 3.0, 6.0]) * 0.99, rtol=1e-6)


def test_a_tape_around_a_captured_forward_pass_is_that_of_an_eager_backward_pass() -> None:
    x, y, loss = _arrays().values()

    def program() -> None:
        tape = wp.Tape()
        with tape, wp.ScopedCapture(device="cpu") as capture:
            wp.launch(plain, dim=3, inputs=[x, y], device="cpu")
            wp.launch(squares, dim=3, inputs=[y, loss], device="cpu")
        for _ in range(2):
            loss.zero_()
            wp.capture_launch(capture.graph)
            tape.backward(loss)
            tape.zero()

    recording = record(program)
    launches, backwards = (of_kind(recording, kind) for kind in (Kind.LAUNCH, Kind.BACKWARD))
    assert [o.tape for o in launches] == [t for o in backwards for t in (o.tape, o.tape)]
    assert backwards[0].tape != backwards[1].tape
    assert not any(o.backward.reused for o in backwards if o.backward is not None)


def test_a_failure_of_the_recorder_leaves_the_graph_to_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    arrays, others = _arrays(), _arrays()
    recorder = Recorder(lambda _: None)
    observer = Observer(recorder)

    def broken(*args: object, **kwargs: object) -> None:
        raise RuntimeError("planted")

    monkeypatch.setattr(recorder, "launch", broken)
    observer.install()
    try:
        wp.capture_launch(_captured(arrays))
    finally:
        observer.remove()
    _step(others)
    assert recorder.failure == "RuntimeError: planted"
    assert _contents(arrays) == _contents(others)


def _launch_and_fail(x: wp.array) -> None:
    wp.launch(descend, dim=3, inputs=[x, x], device="cpu")
    raise RuntimeError("planted")


def test_what_goes_wrong_in_a_capture_is_raised_and_the_next_capture_works() -> None:
    x = wp.ones(3, dtype=float, device="cpu")
    with observed() as recorder:
        with pytest.raises(RuntimeError, match="planted"), wp.ScopedCapture(device="cpu"):
            _launch_and_fail(x)
        with wp.ScopedCapture(device="cpu") as capture:
            wp.launch(descend, dim=3, inputs=[x, x], device="cpu")
        wp.capture_launch(capture.graph)
    assert len(recorder.operations) == 1
    np.testing.assert_allclose(x.numpy(), 0.99, rtol=1e-6)
