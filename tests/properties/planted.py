"""Plants that change the gradient: found by running them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

from tests.properties.emitter import emit, expected_lines
from tests.properties.faults.catalogue import Plant, pairs, plants
from tests.properties.truth import compare
from tests.support.auditing import Auditor

_TRIES = 25
_BESIDE = 15
"""Plants of two faults whose first one tells, until there is none whose second one does."""
_EFFECT = 1e-2
_OBJECTIVE = 1e-4
_JUDGED = {"RG302": slice(2, 3)}
"""Iterations that must be wrong: an iterate late, the first one has none yet and the second one has not moved."""


@dataclass(frozen=True)
class Planted:
    """A program whose gradient is wrong, which was measured.

    Attributes:
        plant: What was planted.
        source: The program.
        lines: The expected codes by line.
        error: The consumed gradient's relative error in the first iterations.
    """

    plant: Plant
    source: str
    lines: dict[int, tuple[str, ...]]
    error: float


def plant_one(cause: str, seed: int, auditor: Auditor) -> Planted:
    """The first plant of a seed that computes what the interpreter says, and a gradient that is not its gradient.

    Raises:
        RuntimeError: None of the first plants changes the gradient.
        AssertionError: A plant does not run, or computes another objective than the interpreter.
    """
    for plant in islice(plants(cause, seed), _TRIES):
        planted = _measure(plant, auditor)
        if not planted.error <= _EFFECT:
            return planted
    raise RuntimeError(f"No plant of {cause} at seed {seed} changes the gradient.")


def plant_two(first: str, second: str, seed: int, auditor: Auditor) -> Planted:
    """Two faults in one program, each of which changes what the other one alone leaves; as `plant_one`."""
    telling = 0
    for one, other, both in islice(pairs(first, second, seed), _TRIES):
        alone = _measure(one, auditor)
        if not alone.error > _EFFECT:
            continue
        if telling == _BESIDE:
            break
        telling += 1
        together = _measure(both, auditor)
        if not abs(together.error - alone.error) > _EFFECT:
            continue
        if abs(together.error - _measure(other, auditor).error) > _EFFECT:
            return together
    raise RuntimeError(f"No plants of {first} and {second} at seed {seed} both change the gradient.")


def _measure(plant: Plant, auditor: Auditor) -> Planted:
    source = emit(plant.program)
    outcome = auditor.run(source)
    assert outcome.ok, outcome.stderr[-2000:]
    compared = compare(plant.program, outcome.stdout)
    assert max(c.objective_error for c in compared) < _OBJECTIVE, (plant.cause, plant.route)
    error = max(c.error for c in compared[_JUDGED.get(plant.cause, slice(2))])
    return Planted(plant, source, expected_lines(source), error)
