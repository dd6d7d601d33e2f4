"""The causes inside kernels, with programs that have them: found by running them."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from tests.properties.emitter import expected_lines
from tests.properties.inside import adjoints, locals, points
from tests.properties.inside.constructs import Family
from tests.properties.inside.programs import Program, build, compare
from tests.support.auditing import Auditor

FAMILIES: dict[str, Family] = {f.code: f for f in (*locals.FAMILIES, *adjoints.FAMILIES, *points.FAMILIES)}
_EFFECT, _OBJECTIVE, _TRIES = 1e-2, 2e-4, 12
_RIGHT = 4e-3


@dataclass(frozen=True)
class Inside:
    """A program, and what an audit must say of it.

    Attributes:
        code: The cause that it has, empty for a right program.
        program: The program.
        verdict: The verdict.
        lines: The expected codes by line.
        error: The consumed gradient's relative error, measured.
    """

    code: str
    program: Program
    verdict: str
    lines: dict[int, tuple[str, ...]]
    error: float


def plant_inside(code: str, seed: int, auditor: Auditor) -> Inside:
    """A program of a seed whose fault changes the gradient, which is measured; every other seed another construct.

    Raises:
        RuntimeError: None of the first programs' gradients is changed.
        AssertionError: A program does not run, or computes something else than its kernels read as Python.
    """
    family = FAMILIES[code]
    make = family.faulty[seed % len(family.faulty)]
    for attempt in range(_TRIES):
        program = build(make, _seed(code, seed, attempt))
        error, _ = _measure(program, auditor)
        if family.verdict == "right" or not error <= _EFFECT:
            return Inside(code, program, family.verdict, expected_lines(program.source), error)
    raise RuntimeError(f"No program of {code} at seed {seed} has another gradient.")


def right_inside(code: str, seed: int, auditor: Auditor) -> Inside:
    """A right program like those of a cause.

    Raises:
        AssertionError: Its gradient is not right, or it computes something else than its kernels read as Python.
        RuntimeError: The gradients of the first programs are too small.
    """
    family = FAMILIES[code]
    make = family.right[seed % len(family.right)]
    for attempt in range(_TRIES):
        program = build(make, _seed(f"{code} right", seed, attempt))
        error, size = _measure(program, auditor)
        if size > 0.02:
            assert error < _RIGHT, (program.route, error)
            return Inside("", program, "right", {}, error)
    raise RuntimeError(f"No right program of {code} at seed {seed} has a gradient of order one.")


def _seed(name: str, seed: int, attempt: int) -> int:
    return zlib.crc32(f"{name} {seed} {attempt}".encode())


def _measure(program: Program, auditor: Auditor) -> tuple[float, float]:
    outcome = auditor.run(program.source)
    assert outcome.ok, (program.route, outcome.stderr[-1500:], program.source)
    compared = compare(program, outcome.stdout)
    assert max(c.objective_error for c in compared) < _OBJECTIVE, (program.route, compared)
    return max(c.error for c in compared), min(c.size for c in compared)
