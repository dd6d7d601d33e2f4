from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import warp as wp
from tests.trace.recording import of_kind, record

from retrograde.trace.operations import Kind, Operation, Recording


def _array(count: int = 6) -> wp.array:
    return wp.array(np.arange(count, dtype=np.float32), device="cpu")


def _noticed(recording: Recording) -> list[Operation]:
    return [o for o in of_kind(recording, Kind.HOST_WRITE) if o.route == "NumPy view"]


def through_a_view() -> None:
    x = _array()
    view = x.numpy()
    wp.clone(x)
    view[2] = 9.0  # written
    wp.clone(x)


def through_a_temporary() -> None:
    x = _array()
    wp.clone(x)
    x.numpy()[1:3] = 7.0  # written
    wp.clone(x)


def through_a_slice_of_a_view() -> None:
    x = _array()
    part = x.numpy()[3:]
    wp.clone(x)
    part *= 2.0  # written
    wp.clone(x)


def through_a_reshaped_view() -> None:
    x = _array()
    square = x.numpy().reshape(2, 3)
    wp.clone(x)
    square[1] += 1.0  # written
    wp.clone(x)


def through_a_method() -> None:
    x = _array()
    view = x.numpy()
    wp.clone(x)
    view.fill(4.0)  # written
    wp.clone(x)


def through_a_function() -> None:
    x = _array()
    view = x.numpy()
    wp.clone(x)
    np.copyto(view, 5.0)  # written
    wp.clone(x)


def through_an_output_argument() -> None:
    x = _array()
    view = x.numpy()
    wp.clone(x)
    np.add(view, 1.0, out=view)  # written
    wp.clone(x)


def through_a_view_of_vectors() -> None:
    x = wp.zeros(3, dtype=wp.vec3, device="cpu")
    view = x.numpy()[1:]
    wp.clone(x)
    view[0, 2] = 1.0  # written
    wp.clone(x)


def through_the_array_that_warp_shares() -> None:
    data = np.arange(6, dtype=np.float32)
    x = wp.array(data, dtype=float, device="cpu", copy=False)
    wp.clone(x)
    data[4] = -1.0  # written
    wp.clone(x)


def inside_a_function() -> None:
    def change(values: np.ndarray) -> None:
        values[0] = 8.0

    x = _array()
    view = x.numpy()
    wp.clone(x)
    change(view)  # written
    wp.clone(x)


WRITERS = (through_a_view, through_a_temporary, through_a_slice_of_a_view, through_a_reshaped_view, through_a_method,
           through_a_function, through_an_output_argument, through_a_view_of_vectors,
           through_the_array_that_warp_shares)  # fmt: skip


@pytest.mark.parametrize("program", [*WRITERS, inside_a_function], ids=lambda p: p.__name__)
def test_a_write_that_no_call_made_is_noticed_before_the_next_call(program: Callable[[], Any]) -> None:
    recording = record(program)
    (write,) = _noticed(recording)
    copies = of_kind(recording, Kind.COPY)
    assert write.index == copies[-1].index - 1
    (undone,) = recording.undo[write.index]
    assert write.data is not None
    assert undone.data.tobytes() != write.data.tobytes()
    assert np.count_nonzero(undone.data.view(np.float32) != write.data.view(np.float32)) <= undone.data.size // 4


@pytest.mark.parametrize("program", WRITERS, ids=lambda p: p.__name__)
def test_the_line_that_wrote_is_found(program: Callable[[], Any]) -> None:
    (write,) = _noticed(record(program))
    lines, start = inspect.getsourcelines(program)
    (expected,) = (n for n, line in enumerate(lines, start) if re.search("# written$", line))
    assert (write.site.file, write.site.line) == (__file__, expected)


def test_the_contents_before_and_after_are_kept() -> None:
    recording = record(through_a_view)
    (write,) = _noticed(recording)
    assert write.data is not None
    assert recording.undo[write.index][0].data.view(np.float32).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert write.data.view(np.float32).tolist() == [0.0, 1.0, 9.0, 3.0, 4.0, 5.0]


def test_observed_writes_are_not_taken_for_writes_through_the_view() -> None:
    def program() -> None:
        x = _array()
        view = x.numpy()
        x.fill_(3.0)
        x.assign(np.ones(6, dtype=np.float32))
        wp.copy(x, _array())
        x.zero_()
        assert view.sum() == 0.0

    assert not _noticed(record(program))


def test_gradients_that_backward_fills_are_not_taken_for_writes_through_the_view() -> None:
    from tests.trace.kernels import plain

    def program() -> None:
        x = wp.ones(4, dtype=float, device="cpu", requires_grad=True)
        y = wp.zeros(4, dtype=float, device="cpu", requires_grad=True)
        view = x.grad.numpy()
        tape = wp.Tape()
        with tape:
            wp.launch(plain, dim=4, inputs=[x, y], device="cpu")
        tape.backward(grads={y: wp.ones(4, dtype=float, device="cpu")})
        tape.zero()
        assert view.sum() == 0.0

    assert not _noticed(record(program))


def test_writing_what_is_there_already_is_no_write() -> None:
    def program() -> None:
        x = _array()
        x.numpy()[:] = np.arange(6, dtype=np.float32)
        wp.clone(x)

    assert not _noticed(record(program))


def test_a_write_through_a_view_that_died_is_still_noticed_and_the_view_then_forgotten() -> None:
    def program() -> None:
        x = _array()
        view = x.numpy()
        view[0] = 6.0
        del view
        wp.clone(x)
        wp.clone(x)

    recording = record(program)
    assert len(_noticed(recording)) == 1


def test_two_views_that_overlap_roll_back_to_the_same_contents() -> None:
    kept: list[Any] = []

    def program() -> None:
        x = _array()
        whole, part = x.numpy(), x[2:5].numpy()
        part[0] = 20.0
        whole[3] = 30.0
        wp.clone(x)
        kept.append(x)

    recording = record(program)
    contents = kept[0].numpy().copy()
    start = kept[0].ptr
    for index in sorted(recording.undo, reverse=True):
        for entry in recording.undo[index]:
            if start <= entry.extent.low < start + 24:
                low = (entry.extent.low - start) // 4
                values = entry.data.view(np.float32)
                contents[low : low + values.size] = values
    assert contents.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
