"""What a program printed, held against the interpreter."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

import numpy as np

from tests.properties import ir
from tests.properties.interpreter import Interpreter

_LINE = re.compile(r"^iter (\d+) loss (\S+) (.*)$", re.MULTILINE)
_ARRAY = re.compile(r"(\w+) (\[.*?\])(?= [A-Za-z_]|$)")


@dataclass(frozen=True)
class Compared:
    """One printed iteration against the exact one.

    Attributes:
        iteration: Its number.
        error: Norm of the consumed gradient's error over the norm of the exact gradient, over all parameters.
        objective_error: Error of the printed objective over its size.
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
    for iteration, objective, arrays in read(printed):
        at = {b.name: arrays[b.name] for b in program.parameters}
        exact = interpreter.gradient(at)
        value = interpreter.advance(at)
        gradient = np.concatenate([exact[b.name] for b in program.parameters])
        consumed = np.concatenate([arrays[f"grad_{b.name}"] for b in program.parameters])
        error = float(np.linalg.norm(consumed - gradient) / np.linalg.norm(gradient))
        results.append(Compared(iteration, error, abs(objective - value) / max(1e-3, abs(value))))
    if not results:
        raise ValueError(f"No iteration was printed:\n{printed[-500:]}")
    return results


def read(printed: str) -> list[tuple[int, float, dict[str, np.ndarray]]]:
    """The iterations that a program printed: number, objective, arrays by name (flat)."""
    seen: dict[int, tuple[int, float, dict[str, np.ndarray]]] = {}
    for match in _LINE.finditer(printed):
        arrays = {n: _array(v) for n, v in _ARRAY.findall(match[3])}
        seen.setdefault(int(match[1]), (int(match[1]), float(match[2]), arrays))
    return [seen[k] for k in sorted(seen)]


def _array(text: str) -> np.ndarray:
    text = re.sub(r"\bnan\b", "NaN", re.sub(r"\binf\b", "Infinity", text))
    return np.asarray(json.loads(text), dtype=np.float64).ravel()
