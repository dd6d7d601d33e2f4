"""What a program printed, held against the interpreter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tests.properties import ir
from tests.properties.interpreter import Interpreter
from tests.support.printed import read_printed

_CANCELLED = 1e-2


@dataclass(frozen=True)
class Compared:
    """One printed iteration against the exact one.

    Attributes:
        iteration: Its number.
        error: Norm of the consumed gradient's error over the norm of the exact gradient, over all parameters.
        objective_error: Error of the printed objective over its size; terms are of order one, and where they cancel to
            less than a hundredth, over that: rounding is all that is seen there.
    """

    iteration: int
    error: float
    objective_error: float


def compare(program: ir.Program, printed: str) -> list[Compared]:
    """Hold every printed iteration against the exact gradient at the parameters that it printed.

    Raises:
        ValueError: Nothing was printed.
    """
    interpreter = Interpreter(program)
    results: list[Compared] = []
    for seen in read_printed(printed):
        at = {b.name: seen.arrays[b.name] for b in program.parameters}
        exact = interpreter.gradient(at)
        value = interpreter.advance(at)
        gradient = np.concatenate([exact[b.name] for b in program.parameters])
        consumed = np.concatenate([seen.gradient(b.name) for b in program.parameters])
        error = float(np.linalg.norm(consumed - gradient) / np.linalg.norm(gradient))
        results.append(Compared(seen.iteration, error, abs(seen.objective - value) / max(_CANCELLED, abs(value))))
    if not results:
        raise ValueError(f"No iteration was printed:\n{printed[-500:]}")
    return results
