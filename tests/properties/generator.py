"""Random programs whose gradient is right, by construction.

No tape reads memory that changed after the tape had read it, unless the kernels that read it are linear; every array
on the path has a gradient; every iteration clears what it must. Values stay of order one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from tests.properties import ir
from tests.properties.interpreter import Interpreter
from tests.properties.losses import add_loss
from tests.properties.segments import split
from tests.properties.steps import (
    accumulate,
    copied,
    elementwise,
    gather,
    halves,
    history,
    overlapping,
    pingpong,
    read_back,
    scatter,
    scratch,
    stencil,
    through_struct,
    vector,
)
from tests.properties.workbench import Wishes, Workbench

_HOST_RULES = ("host", "momentum", "adam")
_ATTEMPTS = 200


def generate(seed: int, wishes: Wishes | None = None) -> ir.Program:
    """The right program of a seed.

    Args:
        seed: Any integer; the same program for the same seed and wishes.
        wishes: What it must have.

    Raises:
        RuntimeError: No well-scaled program was found.
    """
    rng = np.random.default_rng([seed, 2])
    for _ in range(_ATTEMPTS):
        program = _build(Workbench(rng, wishes or Wishes()))
        if wishes is not None and wishes.segments:
            program = split(program, rng)
        if program is not None and _well_scaled(program):
            return program
    raise RuntimeError(f"Seed {seed} gives no program whose gradient is well scaled.")


def starts(program: ir.Program) -> dict[str, np.ndarray]:
    """The parameters that the program starts from."""
    return {b.name: np.array(b.values, dtype=np.float64) for b in program.parameters}


def _well_scaled(program: ir.Program) -> bool:
    """Whether differences in single precision can see every parameter's gradient."""
    interpreter = Interpreter(program)
    at = starts(program)
    gradients = interpreter.gradient(at)
    objective = abs(interpreter.advance(at))
    norms = [float(np.linalg.norm(g)) for g in gradients.values()]
    return all(0.05 * max(1.0, objective) < n < 50.0 for n in norms) and objective < 100.0


def _build(bench: Workbench) -> ir.Program:
    if bench.rng.random() < 0.5:
        bench.add_function()
    bench.add_leaves()
    statements: list[ir.Statement] = []
    backwards: list[ir.Statement] = []
    for number_of_tape in range(bench.tapes):
        name = "tape" if bench.tapes == 1 else f"tape_{number_of_tape}"
        backwards.append(_add_tape(bench, name, number_of_tape))
        statements.append(ir.Tape(name, tuple(bench.operations)))
        if bench.tapes == 2 and bench.rng.random() < 0.5:
            statements.append(backwards.pop())
    rule = _pick_rule(bench)
    rate = round(float(bench.rng.uniform(0.01, 0.08)), 3)
    if _copies_parameter([s for s in statements if isinstance(s, ir.Tape)][-1]):
        backwards = [s for s in statements if isinstance(s, ir.Backward)] + backwards
        statements = [s for s in statements if not isinstance(s, ir.Backward)]
    statements = [*bench.prologue, *statements, *backwards]
    if rule in _HOST_RULES:
        statements.append(ir.Read(copied=bool(bench.rng.random() < 0.5)))
    statements.append(ir.Update(rule, rate))
    if not bench.rebuilt or bench.hoisted or bench.rng.random() < 0.5:
        alone = not bench.hoisted and bench.rng.random() < 0.3
        statements.append(ir.Clear("gradients" if alone else "tape"))
    return ir.Program(
        precision=bench.precision,
        buffers=tuple(bench.buffers),
        kernels=tuple(bench.kernels),
        statements=tuple(statements),
        iterations=int(bench.rng.integers(2, 5)),
        functions=tuple(bench.functions),
        structs=tuple(bench.structs),
        mean=bench.mean,
        rebuilt=bench.rebuilt,
        guarded=bool(bench.rng.random() < 0.4),
    )


def _copies_parameter(tape: ir.Tape) -> bool:
    """Whether a tape copies a leaf. Warp's copy takes the gradient that is there along, and backward adds it again."""
    copies = [o for o in tape.body if isinstance(o, ir.Copy)]
    return any(o.source.buffer.startswith(("weight", "field")) for o in copies)


def _pick_rule(bench: Workbench) -> str:
    scalar = all(b.width == 1 for b in bench.buffers if b.role == "parameter")
    if bench.rebuilt or bench.wishes.host_update or not scalar:
        return str(bench.rng.choice(_HOST_RULES, p=[0.6, 0.2, 0.2]))
    if bench.precision == "float64":
        return str(bench.rng.choice([*_HOST_RULES, "kernel"], p=[0.5, 0.1, 0.2, 0.2]))
    return str(bench.rng.choice([*_HOST_RULES, "kernel", "SGD", "Adam"], p=[0.4, 0.1, 0.1, 0.2, 0.1, 0.1]))


def _add_tape(bench: Workbench, name: str, number_of_tape: int) -> ir.Statement:
    """Fill `bench.operations` with one tape's work; the statement that runs it backward."""
    bench.operations = []
    bench.signals = list(bench.leaves)
    bench.unread = [s for s in bench.leaves if s.tainted]
    steps: list[Callable[[Workbench], None]] = [
        elementwise, elementwise, stencil, gather, scatter, accumulate, vector,
        through_struct, halves, overlapping, history, pingpong, copied,
        read_back, scratch,
    ]  # fmt: skip
    wanted: list[Callable[[Workbench], None]] = []
    if bench.wishes.scratch:
        wanted.append(scratch)
    if bench.wishes.history:
        wanted.append(history)
    count = int(bench.rng.integers(2, 6))
    wanted += [steps[int(bench.rng.integers(len(steps)))] for _ in range(count)]
    bench.rng.shuffle(wanted)  # pyright: ignore[reportArgumentType]
    for step in wanted:
        step(bench)
    return add_loss(bench, name, number_of_tape)
