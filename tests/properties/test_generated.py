"""Random programs: right ones are declared right, and planted faults are found.

Every label is measured in the same test: the program is run, and what it consumed is held against the exact gradient
of the interpreter.
"""

from __future__ import annotations

import pytest
from tests.properties.emitter import emit
from tests.properties.faults.catalogue import FAULTS
from tests.properties.generator import generate
from tests.properties.planted import plant_one, plant_two
from tests.properties.truth import compare
from tests.support.auditing import Auditor

pytestmark = pytest.mark.programs

_RIGHT = 200
_PLANTED_EACH = 17
_PLANTED_INSIDE = 6
"""Of each fault inside kernels: every audit compiles several twins."""
_PAIRS = [
    *(("RG101", "RG301"), ("RG103", "RG301"), ("RG309", "RG301"), ("RG206", "RG301")),
    *(("RG101", "RG305"), ("RG102", "RG305"), ("RG201", "RG305"), ("RG201", "RG301")),
    *(("RG403", "RG301"), ("RG404", "RG305")),
]
_TOLERANCE = {"float32": 2e-3, "float64": 1e-9}


@pytest.mark.parametrize("seed", range(_RIGHT))
def test_right_program_is_declared_right(seed: int, auditor: Auditor) -> None:
    program = generate(seed)
    source = emit(program)
    outcome = auditor.run(source)
    assert outcome.ok, outcome.stderr
    for compared in compare(program, outcome.stdout):
        assert compared.error < _TOLERANCE[program.precision]
        assert compared.objective_error < _TOLERANCE[program.precision]
    document = auditor.audit(source)
    assert document["verdict"] == "right", document["reason"]
    assert document["causes"] == []


def _plants() -> list[tuple[str, int]]:
    inside = [c for c in sorted(FAULTS) if "RG401" <= c <= "RG409"]
    return [(c, seed) for c in sorted(FAULTS) for seed in range(_PLANTED_INSIDE if c in inside else _PLANTED_EACH)]


@pytest.mark.parametrize(("cause", "seed"), _plants())
def test_planted_fault_is_found(cause: str, seed: int, auditor: Auditor) -> None:
    planted = plant_one(cause, seed, auditor)
    document = auditor.audit(planted.source)
    assert document["verdict"] == "wrong", (planted.plant.route, document["reason"])
    found = {(c["code"], c["line"]) for c in document["causes"]}
    expected = {(code, line) for line, codes in planted.lines.items() for code in codes}
    assert found & expected, (planted.plant.route, found, expected)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("first", "second"), _PAIRS)
def test_two_planted_faults_are_both_found(first: str, second: str, seed: int, auditor: Auditor) -> None:
    planted = plant_two(first, second, seed, auditor)
    document = auditor.audit(planted.source)
    assert document["verdict"] == "wrong", (planted.plant.route, document["reason"])
    found = {(c["code"], c["line"]) for c in document["causes"]}
    expected = {(code, line) for line, codes in planted.lines.items() for code in codes}
    assert {code for code, _ in found & expected} == {first, second}, (planted.plant.route, found, expected)
