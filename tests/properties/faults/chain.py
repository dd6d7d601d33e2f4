"""Faults of the chain: the gradient cannot get through."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np
from tests.properties import ir
from tests.properties.expressions import number, plus, times
from tests.properties.faults.edits import operations_of, with_buffer, with_kernel, with_statement


def missing_flag(program: ir.Program, _: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG201: an array on the path has no gradient."""
    for buffer in program.buffers:
        bundled = any(buffer.name in s.fields for s in program.structs)
        if buffer.role != "work":
            continue
        cloned = any(
            isinstance(o, ir.Copy) and o.how == "clone" and o.target.buffer == buffer.name
            for o in (*operations_of(program), *program.statements)
        )
        if not cloned:
            yield "no flag", with_buffer(program, replace(buffer, requires_grad=False, mark="RG201"))
        elif not bundled:
            yield "clone without the flag", _mark_clone(program, buffer)
        if bundled:
            yield "flag after the struct", with_buffer(program, replace(buffer, late_flag=True, mark="RG201"))


def _mark_clone(program: ir.Program, buffer: ir.Buffer) -> ir.Program:
    changed = with_buffer(program, replace(buffer, requires_grad=False))

    def marked(operation: ir.Statement) -> ir.Statement:
        is_it = isinstance(operation, ir.Copy) and operation.target.buffer == buffer.name
        return replace(operation, mark="RG201") if is_it else operation

    statements: list[ir.Statement] = []
    for statement in changed.statements:
        if isinstance(statement, ir.Tape):
            statement = replace(statement, body=tuple(marked(o) for o in statement.body))  # pyright: ignore
        statements.append(marked(statement))
    return replace(changed, statements=tuple(statements))


def loss_off_tape(program: ir.Program, _: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG203: what writes the loss runs after the tape is closed."""
    for index, statement in enumerate(program.statements):
        if not isinstance(statement, ir.Tape) or not isinstance(statement.body[-1], ir.Launch):
            continue
        writers = [o for o in statement.body if isinstance(o, ir.Launch) and o.bindings[-1].buffer.startswith("loss")]
        if len(writers) == 1:
            rest = replace(statement, body=statement.body[:-1])
            yield "after the tape", with_statement(program, index, rest, replace(writers[0], mark="RG203"))


def backward_disabled(program: ir.Program, _: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG202: a kernel is built without its backward pass."""
    for kernel in program.kernels:
        yield "on the kernel", with_kernel(program, replace(kernel, backward=False, mark="RG202"))


def unrecorded(program: ir.Program, _: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG205: a launch on the way to the loss is not recorded."""
    for index, statement in enumerate(program.statements):
        if not isinstance(statement, ir.Tape):
            continue
        for position, operation in enumerate(statement.body):
            if not isinstance(operation, ir.Launch) or operation.bindings[-1].buffer.startswith("loss"):
                continue
            if operation.kernel.startswith("wipe"):
                continue
            ways: tuple[Literal["command", "silent"], ...] = ("command", "silent")
            for how in ways:
                launch = replace(operation, how=how, mark="RG205")
                body = (*statement.body[:position], launch, *statement.body[position + 1 :])
                yield how, with_statement(program, index, replace(statement, body=body))


def through_host(program: ir.Program, _: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG204: what a launch reads was read by NumPy and put into a new array."""
    for index, statement in enumerate(program.statements):
        if not isinstance(statement, ir.Tape):
            continue
        for position, operation in enumerate(statement.body):
            if not isinstance(operation, ir.Launch):
                continue
            kernel = program.kernel(operation.kernel)
            for place, (arg, ref) in enumerate(zip(kernel.args, operation.bindings, strict=True)):
                if arg.struct or not arg.width or ref != ir.Ref(ref.buffer) or place == len(kernel.args) - 1:
                    continue
                source = program.buffer(ref.buffer)
                if source.role not in ("work", "parameter") or source.rows:
                    continue
                made = ir.Buffer("rebuilt", source.length, source.width)
                bindings = tuple(ir.Ref("rebuilt") if n == place else r for n, r in enumerate(operation.bindings))
                copy = ir.Copy(ir.Ref("rebuilt"), ref, "host", "RG204")
                body = (
                    *statement.body[:position],
                    copy,
                    replace(operation, bindings=bindings),
                    *statement.body[position + 1 :],
                )
                extended = replace(program, buffers=(*program.buffers, made))
                yield source.role, with_statement(extended, index, replace(statement, body=body))


def by_value(program: ir.Program, rng: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG207: a launch is given an element of a parameter as a number."""
    parameters = [b for b in program.parameters if b.width == 1]
    launched = [o.kernel for o in _launches(program.statements)]
    for index, statement in enumerate(program.statements):
        if not isinstance(statement, ir.Tape):
            continue
        for position, operation in enumerate(statement.body):
            if not isinstance(operation, ir.Launch) or launched.count(operation.kernel) != 1 or not parameters:
                continue
            kernel = program.kernel(operation.kernel)
            store = kernel.body[-1]
            if not isinstance(store, ir.Store) or next(a for a in kernel.args if a.name == store.arg).width != 1:
                continue
            gain = plus(ir.Const(1.0), times(number(rng, 0.3, 0.6), ir.Unary("sin", ir.Load("gain", "zero"))))
            body = (*kernel.body[:-1], replace(store, value=times(gain, store.value)))
            changed = replace(kernel, args=(ir.Arg("gain", by_value=True), *kernel.args), body=body)
            source = parameters[int(rng.integers(len(parameters)))]
            bindings = (ir.Ref(source.name), *operation.bindings)
            launch = replace(operation, bindings=bindings, mark="RG207")
            operations = (*statement.body[:position], launch, *statement.body[position + 1 :])
            yield "a factor", with_statement(with_kernel(program, changed), index, replace(statement, body=operations))


def _launches(statements: tuple[ir.Statement, ...]) -> Iterator[ir.Launch]:
    for statement in statements:
        if isinstance(statement, ir.Launch):
            yield statement
        elif isinstance(statement, ir.Loop | ir.Tape):
            yield from _launches(statement.body)
