from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import warp as wp
from tests.gradients import kernels as k
from tests.trace.programs import PROGRAMS, training
from tests.trace.recording import observed, of_kind, record

from retrograde.trace.extents import Bytes, Extent, merge, read_bytes
from retrograde.trace.observer import Observer
from retrograde.trace.operations import Kind
from retrograde.trace.recorder import Pending, Recorder
from retrograde.trace.warp_api import context, tape, types

_OWNERS = {"warp": wp, "context": context, "array": types.array, "indexed": types.indexedarray, "tape": tape.Tape,
           "command": context.Launch}  # fmt: skip
_IDS = [p.__name__ for p in PROGRAMS]


def _attributes() -> dict[tuple[str, str], Any]:
    items = ((name, key, value) for name, owner in _OWNERS.items() for key, value in vars(owner).items())
    return {(name, key): value for name, key, value in items if callable(value) or isinstance(value, property)}


def test_every_call_of_warp_is_as_before_afterwards() -> None:
    before = _attributes()
    with observed():
        patched = {key for key, value in _attributes().items() if before[key] is not value}
        training()
    assert {("warp", "launch"), ("array", "numpy"), ("tape", "backward"), ("command", "launch")} <= patched
    assert {key for key, value in _attributes().items() if before[key] is not value} == set()


def test_calls_are_restored_when_the_program_raises() -> None:
    before = _attributes()
    with pytest.raises(ZeroDivisionError), observed():
        _ = 1 / 0
    assert {key for key, value in _attributes().items() if before[key] is not value} == set()


@pytest.mark.parametrize("program", PROGRAMS, ids=_IDS)
def test_a_recorded_program_computes_bitwise_the_same(program: Any) -> None:
    plain = program()
    with observed() as recorder:
        recorded = program()
    assert len(recorder.operations) > 5
    assert len(plain) == len(recorded)
    for one, other in zip(plain, recorded, strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("program", PROGRAMS, ids=_IDS)
def test_every_execution_gives_calls_the_same_ordinals(program: Any) -> None:
    runs = [record(program).operations for _ in range(2)]
    stamps = [[(o.ordinal, o.kind, o.site.key, len(o.accesses)) for o in run] for run in runs]
    assert stamps[0] == stamps[1]
    own = [o.ordinal for o in runs[0] if o.route != "NumPy view"]
    assert own == sorted(set(own)), "one call, one ordinal"


class _Witness(Recorder):
    """Copies the whole of some memory whenever a call of the program is about to run."""

    def __init__(self) -> None:
        super().__init__(lambda _: None)
        self.copies: list[tuple[int, dict[Extent, Bytes]]] = []
        self.known: tuple[Extent, ...] = ()

    def begin(self, kind: Kind, accesses: Any, tape: int | None = None) -> Pending:
        pending = super().begin(kind, accesses, tape)
        touched = [a.ref.extent for o in self.operations for a in o.accesses]
        self.known = merge([*self.known, *touched, *(a.ref.extent for a in pending.accesses)])
        self.copies.append((pending.index, {e: read_bytes(e) for e in self.known}))
        return pending


@pytest.mark.parametrize("program", PROGRAMS, ids=_IDS)
def test_undo_leads_back_to_what_every_call_found(program: Any) -> None:
    witness = _Witness()
    observer = Observer(witness)
    observer.install()
    try:
        program()
    finally:
        observer.remove()
    assert witness.failure is None
    recording = witness.result()
    memory = {e: read_bytes(e) for e in witness.known}
    gradients = [e for o in recording.operations for a in o.accesses if (e := a.ref.gradient_extent) is not None]
    compared = 0
    for index in range(len(recording.operations), -1, -1):
        for entry in recording.undo.get(index, ()):
            whole = next(e for e in memory if e.contains(entry.extent))
            low = entry.extent.low - whole.low
            memory[whole][low : low + entry.extent.size] = entry.data
        for extent, contents in (c for at, copies in witness.copies if at == index for c in copies.items()):
            if any(e.overlaps(extent) for e in gradients):
                continue
            whole = next(e for e in memory if e.contains(extent))
            low = extent.low - whole.low
            np.testing.assert_array_equal(memory[whole][low : low + extent.size], contents, err_msg=str(index))
            compared += 1
    assert compared > 20


def test_calls_that_warp_makes_of_itself_are_not_told() -> None:
    x = wp.zeros(4, dtype=float, device="cpu")

    def program() -> None:
        x.assign(np.ones(4, dtype=np.float32))
        wp.clone(x)
        x.fill_(2.0)

    kinds = [o.kind for o in record(program).operations]
    assert kinds == [Kind.HOST_WRITE, Kind.COPY, Kind.FILL]


def test_backward_and_its_launches_are_one_operation_on_the_users_line() -> None:
    recording = record(training)
    backwards = of_kind(recording, Kind.BACKWARD)
    assert len(backwards) == 3
    launches = of_kind(recording, Kind.LAUNCH)
    assert len(launches) == 9
    assert {o.site.function for o in (*backwards, *launches)} == {"training"}
    assert len({o.tape for o in launches}) == 3
    assert {o.tape for o in backwards} == {o.tape for o in launches}


def test_a_failure_of_the_recorder_never_reaches_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = training()
    recorder = Recorder(lambda _: None)
    observer = Observer(recorder)

    def broken(*args: object, **kwargs: object) -> None:
        raise RuntimeError("planted")

    monkeypatch.setattr(recorder, "copy", broken)
    observer.install()
    try:
        recorded = training()
    finally:
        observer.remove()
    assert recorder.failure == "RuntimeError: planted"
    assert all(a.tobytes() == b.tobytes() for a, b in zip(plain, recorded, strict=True))


def test_what_the_program_does_wrong_is_raised_to_it_unchanged() -> None:
    with observed(), pytest.raises(RuntimeError, match="Incompatible array data types"):
        wp.copy(wp.zeros(3, dtype=float, device="cpu"), wp.zeros(1, dtype=wp.vec3, device="cpu"))


def test_an_iteration_may_begin_once_the_first_tape_is_open() -> None:
    """What a program prepares before need not be done again in every re-execution."""
    begun: list[int] = []
    recorder = Recorder(lambda r: begun.append(r.ordinal))
    observer = Observer(recorder)
    observer.install()
    try:
        x, loss = wp.ones(4, dtype=wp.float64, requires_grad=True), wp.zeros(1, dtype=wp.float64, requires_grad=True)
        for _ in range(2):
            with wp.Tape() as tape:
                wp.launch(k.squared, 4, [x, loss])
            tape.backward(loss)
    finally:
        observer.remove()
    launches = [o.ordinal for o in of_kind(recorder.result(), Kind.LAUNCH)]
    assert begun == [0, *launches]
