"""Faults of a horizon that is split by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from tests.properties import ir
from tests.properties.faults.edits import with_statement

_MARK = "RG306"


def broken_checkpoint(program: ir.Program, rng: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG306: a part of the state's gradient is not handed on, or a segment is run again from another start."""
    for index, statement in enumerate(program.statements):
        if isinstance(statement, ir.Backward) and len(statement.seeds) > 1:
            for k in range(len(statement.seeds)):
                seeds = (*statement.seeds[:k], *statement.seeds[k + 1 :])
                lost = replace(statement, seeds=seeds, mark=_MARK)
                yield "gradient not handed on", with_statement(program, index, lost)
        if isinstance(statement, ir.Tape) and _runs_again(program, index):
            yield from _other_start(program, index, statement, rng)


def _runs_again(program: ir.Program, index: int) -> bool:
    return any(isinstance(s, ir.Backward) for s in program.statements[:index])


def _other_start(
    program: ir.Program, index: int, tape: ir.Tape, rng: np.random.Generator
) -> Iterator[tuple[str, ir.Program]]:
    """The start is overwritten before the segment is run again, or mistaken for another one's."""
    read = {r.buffer for o in _launches(tape.body) for r in o.bindings if r.buffer.startswith("start_")}
    for name in sorted(read):
        marked = replace(tape, body=tuple(_marked(o, name) for o in tape.body))
        value = round(float(rng.uniform(0.3, 1.5)), 2)
        fill = ir.Fill(ir.Ref(name), value, mark=_MARK)
        yield "start overwritten", with_statement(program, index, fill, marked)


def _launches(operations: tuple[ir.Operation, ...]) -> list[ir.Launch]:
    flat = [i for o in operations for i in (o.body if isinstance(o, ir.Loop) else (o,))]
    return [o for o in flat if isinstance(o, ir.Launch)]


def _marked(operation: ir.Operation, name: str) -> ir.Operation:
    """The operation, marked where it reads a buffer."""
    match operation:
        case ir.Launch() if any(r.buffer == name for r in operation.bindings):
            return replace(operation, mark=f"{operation.mark} {_MARK}".strip())
        case ir.Copy() if operation.source.buffer == name:
            return replace(operation, mark=f"{operation.mark} {_MARK}".strip())
        case ir.Loop():
            return replace(operation, body=tuple(_marked(o, name) for o in operation.body))  # pyright: ignore
        case _:
            return operation
