"""Faults of bookkeeping: the right gradient, used wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from tests.properties import ir
from tests.properties.faults.edits import with_buffer, with_statement


def not_cleared(program: ir.Program, _: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG301: nothing zeroes the gradients."""
    kept = tuple(
        replace(s, mark="RG301") if isinstance(s, ir.Backward) else s
        for s in program.statements
        if not isinstance(s, ir.Clear)
    )
    yield "no clear", replace(program, statements=kept)


def read_early(program: ir.Program, _: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG302: gradients are read, and cleared, before backward writes them."""
    others = [s for s in program.statements if not isinstance(s, ir.Read | ir.Clear)]
    first = next(k for k, s in enumerate(others) if isinstance(s, ir.Tape | ir.Backward))
    early: list[ir.Statement] = [ir.Read(copied=True, mark="RG302"), ir.Clear("gradients")]
    statements = (*others[:first], *early, *others[first:])
    yield "before backward", replace(program, statements=statements, iterations=5)


def cleared_early(program: ir.Program, _: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG303: gradients are cleared before they are used."""
    others = [s for s in program.statements if not isinstance(s, ir.Clear | ir.Read)]
    update = next(k for k, s in enumerate(others) if isinstance(s, ir.Update))
    rule = others[update]
    assert isinstance(rule, ir.Update)
    how = next((s.how for s in program.statements if isinstance(s, ir.Clear)), "tape")
    clear = ir.Clear(how, mark="RG303")
    if rule.rule in ("host", "momentum", "adam"):
        orders = {
            "read after the clear": [clear, ir.Read(copied=True, mark="RG303")],
            "view cleared under its reader": [ir.Read(copied=False), clear],
        }
        for route, order in orders.items():
            yield route, replace(program, statements=(*others[:update], *order, *others[update:]))
    else:
        late = replace(rule, mark="RG303")
        yield (
            "step after the clear",
            replace(program, statements=(*others[:update], clear, late, *others[update + 1 :])),
        )


def counted_twice(program: ir.Program, _: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG304: an array that is written again keeps its gradient, or backward runs from one loss twice."""
    for buffer in program.buffers:
        if buffer.role == "work" and buffer.requires_grad and (buffer.rows == 2 or buffer.name.startswith("force")):
            yield "retain_grad", with_buffer(program, replace(buffer, retain=True, mark="RG304"))
    for index, statement in enumerate(program.statements):
        if isinstance(statement, ir.Backward) and statement.weight == 1.0:
            again = replace(statement, mark="RG304")
            yield "backward twice", with_statement(program, index, statement, again)


def tape_kept(program: ir.Program, _: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG310: the tapes are made once and never reset."""
    statements = tuple(replace(s, mark="RG310") if isinstance(s, ir.Backward) else s for s in program.statements)
    yield "tapes made once", replace(program, statements=statements, kept_tapes=True)


def reset_on_tape(program: ir.Program, _: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG308: a kernel at the end of the tape keeps the loss elsewhere, and resets it."""
    if len(program.losses) != 1 or program.losses[0].length != 1:
        return
    (number,) = [k for k, s in enumerate(program.statements) if isinstance(s, ir.Tape)]
    tape = program.statements[number]
    assert isinstance(tape, ir.Tape)
    body = (ir.Store("kept", ir.Load("loss", "zero")), ir.Store("loss", ir.Const(0.0)))
    kernel = ir.Kernel("note", (ir.Arg("loss"), ir.Arg("kept")), body)
    launch = ir.Launch("note", (ir.Ref(program.losses[0].name), ir.Ref("kept")), 1, mark="RG308")
    changed = with_statement(program, number, replace(tape, body=(*tape.body, launch)))
    buffers = (*program.buffers, ir.Buffer("kept", 1))
    yield (
        "kept and reset",
        replace(changed, buffers=buffers, kernels=(*program.kernels, kernel), reported="kept"),
    )


def wrong_seed(program: ir.Program, _: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG305: the mean is reported, the sum is differentiated."""
    for index, statement in enumerate(program.statements):
        if isinstance(statement, ir.Backward):
            yield "sum", with_statement(program, index, replace(statement, weight=1.0, mark="RG305"))


def truncated(program: ir.Program, _: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG307: a second tape begins half way, and only it runs backward."""
    (number,) = [k for k, s in enumerate(program.statements) if isinstance(s, ir.Tape)]
    tape = program.statements[number]
    assert isinstance(tape, ir.Tape)
    for cut in range(1, len(tape.body)):
        if any(o.bindings[-1].buffer.startswith("loss") for o in tape.body[:cut] if isinstance(o, ir.Launch)):
            break
        parts = (ir.Tape("tape_0", tape.body[:cut]), ir.Tape("tape_1", tape.body[cut:]))
        split = with_statement(program, number, *parts)
        statements = tuple(
            replace(s, tape="tape_1", mark="RG307") if isinstance(s, ir.Backward) else s for s in split.statements
        )
        yield "two tapes", replace(split, statements=statements)


def orphaned(program: ir.Program, _: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG312: steps change copies of the parameters."""
    statements = tuple(replace(s, mark="RG312") if isinstance(s, ir.Update) else s for s in program.statements)
    yield "copies are stepped", replace(program, statements=statements, orphaned=True)


def unrecorded_clear(program: ir.Program, _: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG309: the scratch buffer is cleared by a call that the tape does not know."""
    for index, statement in enumerate(program.statements):
        if not isinstance(statement, ir.Tape):
            continue
        for position, operation in enumerate(statement.body):
            if isinstance(operation, ir.Launch) and operation.kernel.startswith("wipe"):
                clear = ir.Fill(operation.bindings[0], 0.0, mark="RG309")
                body = (*statement.body[:position], clear, *statement.body[position + 1 :])
                yield "zero_", with_statement(program, index, replace(statement, body=body))
