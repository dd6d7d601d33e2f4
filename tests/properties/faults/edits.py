"""Finds places in a program, and changes it there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tests.properties import ir
from tests.properties.expressions import rereads


@dataclass(frozen=True)
class Reader:
    """A launch on a tape whose adjoint needs what it read of a buffer.

    `where` is its position: of the tape among the statements, and of the operation in the tape.
    """

    tape: int
    operation: int
    ref: ir.Ref
    arg: ir.Arg
    kernel: ir.Kernel


def readers(program: ir.Program) -> Iterator[Reader]:
    for index, statement in enumerate(program.statements):
        if not isinstance(statement, ir.Tape):
            continue
        for position, operation in enumerate(statement.body):
            if not isinstance(operation, ir.Launch):
                continue
            kernel = program.kernel(operation.kernel)
            for arg, ref in zip(kernel.args, operation.bindings, strict=True):
                role = program.buffer(ref.buffer).role
                if arg.width and role in ("work", "data") and rereads(kernel, arg.name):
                    yield Reader(index, position, ref, arg, kernel)


def insert(program: ir.Program, tape: int, position: int, operation: ir.Operation) -> ir.Program:
    statement = program.statements[tape]
    assert isinstance(statement, ir.Tape)
    body = (*statement.body[:position], operation, *statement.body[position:])
    return with_statement(program, tape, replace(statement, body=body))


def with_statement(program: ir.Program, index: int, *statements: ir.Statement) -> ir.Program:
    return replace(program, statements=(*program.statements[:index], *statements, *program.statements[index + 1 :]))


def with_buffer(program: ir.Program, buffer: ir.Buffer) -> ir.Program:
    return replace(program, buffers=tuple(buffer if b.name == buffer.name else b for b in program.buffers))


def with_kernel(program: ir.Program, kernel: ir.Kernel) -> ir.Program:
    return replace(program, kernels=tuple(kernel if k.name == kernel.name else k for k in program.kernels))


def whole_row(ref: ir.Ref) -> ir.Ref:
    """The whole row or buffer that a reference lies in."""
    return replace(ref, start=None, stop=None)


def used_later(program: ir.Program, reader: Reader, buffer: str) -> bool:
    """Whether something on the tapes uses a buffer after a reader: an overwrite then changes the objective too."""
    for index, statement in enumerate(program.statements):
        if isinstance(statement, ir.Tape) and index >= reader.tape:
            for position, operation in enumerate(statement.body):
                later = index > reader.tape or position > reader.operation
                if later and buffer in names_of(operation):
                    return True
    return False


def names_of(operation: ir.Operation) -> set[str]:
    match operation:
        case ir.Launch(_, bindings, _, _, _):
            return {r.buffer for r in bindings}
        case ir.Copy(target, source, _, _):
            return {target.buffer, source.buffer}
        case ir.Fill(target, _, _, _):
            return {target.buffer}
        case ir.Loop(_, body):
            return {name for o in body for name in names_of(o)}


def operations_of(program: ir.Program) -> list[ir.Operation]:
    return [o for s in program.statements if isinstance(s, ir.Tape) for o in s.body]
