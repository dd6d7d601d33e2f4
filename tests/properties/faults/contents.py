"""Faults of contents: what backward re-reads is no longer what forward read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from tests.properties import ir
from tests.properties.expressions import affine, read_here_only, reads, times
from tests.properties.faults.edits import (
    Reader,
    insert,
    names_of,
    readers,
    used_later,
    whole_row,
    with_buffer,
    with_kernel,
    with_statement,
)


def _overwrites(
    program: ir.Program, reader: Reader, rng: np.random.Generator, mark: str
) -> Iterator[tuple[str, ir.Program, ir.Launch | ir.Copy | ir.Fill]]:
    """Ways to overwrite what a reader read: the route, the program with what it needs, the operation."""
    whole = whole_row(reader.ref)
    buffer = program.buffer(whole.buffer)
    value = round(float(rng.uniform(0.3, 1.5)), 2)
    yield "fill", program, ir.Fill(whole, value, mark=mark)
    yield "zero", program, ir.Fill(whole, 0.0, mark=mark)
    yield "assignment from NumPy", program, ir.Fill(whole, value, "assign", mark)
    if isinstance(whole.row, int | None) and buffer.layout == "matrix":
        yield "NumPy view", program, ir.Fill(whole, value, "view", mark)
    piece = replace(whole, start=0, stop=max(1, buffer.length // 2))
    sources = [b for b in program.buffers if b.role == "data" and b.width == buffer.width and b.length == buffer.length]
    for source in sources:
        if source.name != buffer.name:
            yield "copy", program, ir.Copy(whole, ir.Ref(source.name), mark=mark)
            yield "assign", program, ir.Copy(whole, ir.Ref(source.name), "assign", mark=mark)
            yield "copy into a slice", program, ir.Copy(piece, replace(piece, buffer=source.name, row=None), mark=mark)
    kernel = ir.Kernel(
        "refresh", (ir.Arg("out", buffer.width),), (ir.Store("out", affine(rng, ir.Load("out"))),)
    ) if buffer.width == 1 else ir.Kernel(
        "refresh", (ir.Arg("out", buffer.width),), (ir.Store("out", times(ir.Const(value), ir.Load("out"))),)
    )  # fmt: skip
    extended = replace(program, kernels=(*program.kernels, kernel))
    yield "launch", extended, ir.Launch("refresh", (whole,), buffer.length, mark)
    yield "launch on a slice", extended, ir.Launch("refresh", (piece,), piece.stop or 0, mark)
    yield (
        "another array on the same memory",
        extended,
        ir.Launch("refresh", (replace(whole, alias=True),), buffer.length, mark),
    )
    for struct in program.structs:
        if buffer.name in struct.fields and whole == ir.Ref(buffer.name):
            arg = replace(kernel.args[0], name=buffer.name, struct=struct.name)
            body = (ir.Store(buffer.name, times(ir.Const(value), ir.Load(buffer.name))),)
            inside = replace(program, kernels=(*program.kernels, ir.Kernel("refresh", (arg,), body)))
            yield "field of a struct", inside, ir.Launch("refresh", (whole,), buffer.length, mark)


def overwritten_input(program: ir.Program, rng: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG101: an operation on the tape overwrites what an earlier one had read."""
    for reader in readers(program):
        tape = program.statements[reader.tape]
        assert isinstance(tape, ir.Tape)
        if used_later(program, reader, reader.ref.buffer):
            continue
        for route, extended, operation in _overwrites(program, reader, rng, "RG101"):
            if route == "NumPy view":
                operation = replace(operation, mark="RG101 RG103")
            position = int(rng.integers(reader.operation + 1, len(tape.body) + 1))
            yield route, insert(extended, reader.tape, position, operation)
        yield from _reused(program, reader)
    yield from _two_states(program)


def _reused(program: ir.Program, reader: Reader) -> Iterator[tuple[str, ir.Program]]:
    """A later launch writes its result into the buffer that was read."""
    old = program.buffer(reader.ref.buffer)
    if old.rows or old.role != "work" or reader.ref != ir.Ref(old.name):
        return
    tape = program.statements[reader.tape]
    assert isinstance(tape, ir.Tape)
    for position in range(reader.operation + 1, len(tape.body)):
        launch = tape.body[position]
        if not isinstance(launch, ir.Launch):
            continue
        kernel = program.kernel(launch.kernel)
        target = launch.bindings[-1]
        new = program.buffer(target.buffer)
        stored = [s for s in kernel.body if isinstance(s, ir.Store)]
        simple = len(stored) == 1 and stored[0].mode == "set" and not reads(kernel, stored[0].arg)
        like = (new.length, new.width, new.rows, new.role) == (old.length, old.width, 0, "work")
        bundled = any(new.name in s.fields for s in program.structs)
        first = not any(new.name in names_of(o) for o in tape.body[:position])
        if simple and like and first and not bundled and target == ir.Ref(new.name) and launch.dim == new.length:
            if old.name in {r.buffer for r in launch.bindings}:
                continue
            body = [_renamed(o, new.name, old.name) if k >= position else o for k, o in enumerate(tape.body)]
            body[position] = replace(_renamed(launch, new.name, old.name), mark="RG101")
            without = replace(program, buffers=tuple(b for b in program.buffers if b.name != new.name))
            without = replace(without, statements=tuple(
                s for s in without.statements if not (isinstance(s, ir.Fill) and s.target.buffer == new.name)
            ))  # fmt: skip
            index = next(k for k, s in enumerate(without.statements) if s == tape)
            yield "reused buffer", with_statement(without, index, replace(tape, body=tuple(body)))


def _renamed(operation: ir.Operation, old: str, new: str) -> ir.Operation:
    def ref(r: ir.Ref) -> ir.Ref:
        return replace(r, buffer=new) if r.buffer == old else r

    match operation:
        case ir.Launch():
            return replace(operation, bindings=tuple(ref(r) for r in operation.bindings))
        case ir.Copy():
            return replace(operation, target=ref(operation.target), source=ref(operation.source))
        case ir.Fill():
            return replace(operation, target=ref(operation.target))
        case ir.Loop():
            return replace(operation, body=tuple(_renamed(o, old, new) for o in operation.body))  # pyright: ignore


def _two_states(program: ir.Program) -> Iterator[tuple[str, ir.Program]]:
    """A loop that kept every state keeps two."""
    for index, statement in enumerate(program.statements):
        if not isinstance(statement, ir.Tape):
            continue
        for position, operation in enumerate(statement.body):
            if not isinstance(operation, ir.Loop):
                continue
            launch = operation.body[0]
            assert isinstance(launch, ir.Launch)
            name = launch.bindings[0].buffer
            if launch.bindings[0].row != ir.Step(0) or operation.count < 2:
                continue
            turned = replace(launch, mark="RG101", bindings=tuple(_modulo(r, name) for r in launch.bindings))
            body = list(statement.body)
            body[position] = replace(operation, body=(turned,))
            body = [o if k == position else _folded(o, name) for k, o in enumerate(body)]
            changed = with_statement(program, index, replace(statement, body=tuple(body)))
            yield "ping-pong buffers", with_buffer(changed, replace(program.buffer(name), rows=2))


def _modulo(ref: ir.Ref, name: str) -> ir.Ref:
    return replace(ref, row=replace(ref.row, modulo=2)) if ref.buffer == name and isinstance(ref.row, ir.Step) else ref


def _folded(operation: ir.Operation, name: str) -> ir.Operation:
    def ref(r: ir.Ref) -> ir.Ref:
        return replace(r, row=r.row % 2) if r.buffer == name and isinstance(r.row, int) else r

    match operation:
        case ir.Launch():
            return replace(operation, bindings=tuple(ref(r) for r in operation.bindings))
        case ir.Copy():
            return replace(operation, target=ref(operation.target), source=ref(operation.source))
        case ir.Loop():
            return replace(operation, body=tuple(_folded(o, name) for o in operation.body))  # pyright: ignore
        case _:
            return operation


def overwritten_in_kernel(program: ir.Program, rng: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG102: a kernel that read an element then changes it."""
    for reader in readers(program):
        names = [r.buffer for r in _launch(program, reader).bindings]
        shared = sum(o.count(reader.ref.buffer) for o in [names]) > 1
        single = sum(k == reader.kernel.name for k in _launched(program)) == 1
        others = [r for r in readers(program) if r.ref.buffer == reader.ref.buffer and r != reader]
        if shared or others or not single or not read_here_only(reader.kernel, reader.arg.name):
            continue
        if any(isinstance(s, ir.Store) and s.arg == reader.arg.name for s in reader.kernel.body):
            continue
        load = ir.Load(reader.arg.name)
        value = affine(rng, load) if reader.arg.width == 1 else times(ir.Const(0.4), load)
        store = ir.Store(reader.arg.name, value, mark="RG102")
        yield "same element", with_kernel(program, replace(reader.kernel, body=(*reader.kernel.body, store)))


def _launch(program: ir.Program, reader: Reader) -> ir.Launch:
    tape = program.statements[reader.tape]
    assert isinstance(tape, ir.Tape)
    launch = tape.body[reader.operation]
    assert isinstance(launch, ir.Launch)
    return launch


def _launched(program: ir.Program) -> list[str]:
    tapes = [s for s in program.statements if isinstance(s, ir.Tape)]
    flat = [i for t in tapes for o in t.body for i in (o.body if isinstance(o, ir.Loop) else (o,))]
    return [o.kernel for o in flat if isinstance(o, ir.Launch)]


def overwritten_after_tape(program: ir.Program, rng: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG103: contents change between the end of recording and backward."""
    for reader in readers(program):
        backward = _backward_after(program, reader.tape)
        if used_later(program, replace(reader, operation=10**6), reader.ref.buffer):
            continue
        for route, extended, operation in _overwrites(program, reader, rng, "RG103"):
            statements = (*extended.statements[:backward], operation, *extended.statements[backward:])
            yield route, replace(extended, statements=statements)


def _backward_after(program: ir.Program, tape: int) -> int:
    """Position of the statement that runs a tape backward."""
    statement = program.statements[tape]
    assert isinstance(statement, ir.Tape)
    return next(k for k, s in enumerate(program.statements) if isinstance(s, ir.Backward) and s.tape == statement.name)
