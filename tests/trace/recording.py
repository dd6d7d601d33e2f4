"""Records what a function does, in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from retrograde.trace.observer import Observer
from retrograde.trace.operations import Operation, Recording
from retrograde.trace.recorder import Recorder


@contextmanager
def observed() -> Iterator[Recorder]:
    """A recorder that is told of everything inside the block; its own failures are raised at the end."""
    recorder = Recorder(lambda _: None)
    observer = Observer(recorder)
    observer.install()
    try:
        yield recorder
    finally:
        observer.remove()
    assert recorder.failure is None, recorder.failure


def record(program: Callable[[], object]) -> Recording:
    """The recording of one run of a function."""
    with observed() as recorder:
        program()
    return recorder.result()


def of_kind(recording: Recording, *kinds: object) -> list[Operation]:
    """The operations of some kinds."""
    return [o for o in recording.operations if o.kind in kinds]
