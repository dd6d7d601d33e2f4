"""Overwritten contents that had no room come out again, bit for bit, or are not trusted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import warp as wp
from tests.gradients.trainings import TRAININGS, Diary
from tests.trace.kernels import plain
from tests.trace.programs import PROGRAMS

import retrograde.trace.contents as contents_module
from retrograde.gradients.recomputed import NotRecomputableError, recomputed
from retrograde.trace.contents import Contents, RecordingLimit, Room
from retrograde.trace.extents import Bytes, Extent, host_view, read_bytes
from retrograde.trace.observer import Observer
from retrograde.trace.operations import Recording
from retrograde.trace.recorder import Recorder

AGAIN = 6


class Remembering(Contents):
    """Keeps what it should not keep as well, to compare with."""

    def __init__(self, room: Room) -> None:
        super().__init__(room)
        self.truth: dict[tuple[int, Extent], Bytes] = {}

    def keep(self, index: int, extent: Extent) -> None:
        self.truth[index, extent] = read_bytes(extent)
        super().keep(index, extent)


def record(program: Callable[[], object], room: Room) -> tuple[Recording, Remembering]:
    recorder = Recorder(lambda _: None)
    contents = recorder._contents = Remembering(room)
    observer = Observer(recorder)
    observer.install()
    try:
        program()
    finally:
        observer.remove()
    assert recorder.failure is None, recorder.failure
    return recorder.result(), contents


def in_a_fraction(program: Callable[[], object], fraction: float) -> tuple[Recording, Remembering]:
    """The recording of a program that is allowed a fraction of the memory that it would take."""
    _, everything = record(program, Room())
    return record(program, Room(memory=int(fraction * everything.in_memory), disk=0))


def several_times(program: Callable[[], object]) -> Callable[[], None]:
    def run() -> None:
        for _ in range(AGAIN):
            program()

    return run


def in_place(n: int, steps: int) -> Callable[[], None]:
    def run() -> None:
        x = wp.array(np.linspace(0.1, 1.0, n), dtype=float, device="cpu")
        for _ in range(steps):
            wp.launch(plain, dim=n, inputs=[x], outputs=[x], device="cpu")

    return run


def assert_all_come_out(recording: Recording, contents: Remembering) -> None:
    whole = recomputed(recording)
    known: dict[tuple[int, Extent], list[Bytes]] = {}
    for index in whole.undo:
        for entry in whole.undo[index]:
            known.setdefault((index, entry.extent), []).append(entry.data)
    assert contents.truth.keys() <= known.keys()
    for place, truth in contents.truth.items():
        assert any(np.array_equal(data, truth) for data in known[place]), place


@pytest.fixture
def sparing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave contents out as if room were short from the beginning."""
    monkeypatch.setattr(contents_module, "_DENSE", 0.0)


@pytest.mark.usefixtures("sparing")
@pytest.mark.parametrize("training", TRAININGS, ids=lambda t: t.__name__)
def test_what_a_training_overwrites_comes_out_again(training: Callable[[Diary], None]) -> None:
    recording, contents = in_a_fraction(several_times(lambda: training(Diary())), 2.0)
    assert_all_come_out(recording, contents)


@pytest.mark.usefixtures("sparing")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_what_a_program_overwrites_comes_out_again(program: Callable[[], object]) -> None:
    recording, contents = in_a_fraction(several_times(program), 2.0)
    overwrites_again = program.__name__ != "views_and_copies"
    assert any(s.dropped for s in recording.segments) == overwrites_again
    assert_all_come_out(recording, contents)


@pytest.mark.parametrize("fraction", [0.2, 0.5, 0.9])
def test_a_long_simulation_in_place_fits_into_a_fraction(fraction: float) -> None:
    recording, contents = in_a_fraction(in_place(1000, 300), fraction)
    assert sum(len(found) for s in recording.segments for found in s.dropped.values()) > 0.9 * (1.0 - fraction) * 300
    assert_all_come_out(recording, contents)


def test_it_can_be_asked_for_in_any_order() -> None:
    recording, contents = in_a_fraction(in_place(50, 100), 0.3)
    undo = recomputed(recording).undo
    for index in np.random.default_rng(0).permutation(list(undo)):
        for entry in undo[int(index)]:
            assert np.array_equal(entry.data, contents.truth[int(index), entry.extent])


def test_what_something_unobserved_wrote_meanwhile_is_not_trusted() -> None:
    def run() -> None:
        x = wp.array(np.linspace(0.1, 1.0, 100), dtype=float, device="cpu")
        for step in range(100):
            wp.launch(plain, dim=100, inputs=[x], outputs=[x], device="cpu")
            if step == 70:
                host_view(int(x.ptr), 4)[...] = 17

    recording, _ = in_a_fraction(run, 0.3)
    undo = recomputed(recording).undo
    with pytest.raises(NotRecomputableError, match=r"test_recomputed\.py:\d+.*--memory"):
        list(undo.values())


def test_the_disk_holds_what_memory_does_not(tmp_path) -> None:
    n, steps = 4096, 60
    program = in_place(n, steps)
    recording, contents = record(program, Room(memory=6 * 4 * n, disk=1 << 30, folder=str(tmp_path)))
    assert not recording.segments
    assert contents.in_memory <= 6 * 4 * n
    assert contents.on_disk >= (steps - 6) * 4 * n
    assert_all_come_out(recording, contents)
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_fits_the_message_says_what_to_do() -> None:
    recorder = Recorder(lambda _: None, Room(memory=1000, disk=0))
    observer = Observer(recorder)
    observer.install()
    try:
        in_place(1000, 3)()
    finally:
        observer.remove()
    assert recorder.failure is not None
    assert recorder.failure.startswith(RecordingLimit.__name__)
    assert "--memory" in recorder.failure
