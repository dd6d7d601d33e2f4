"""Random programs: right ones are declared right, and planted faults are found.

Every label is measured in the same test: the program is run, and what it consumed is held against the exact gradient
of the interpreter.
"""

from __future__ import annotations

import pytest
from tests.properties.faults.catalogue import FAULTS
from tests.properties.trials import Trial, perform
from tests.support.auditing import Auditor

pytestmark = pytest.mark.programs

_RIGHT = 120
_PLANTED_EACH = 12
_PLANTED_INSIDE = 3
"""Of each fault inside kernels: every audit compiles several twins."""
_PAIRS = [
    *(("RG101", "RG301"), ("RG103", "RG301"), ("RG309", "RG301"), ("RG206", "RG301")),
    *(("RG101", "RG305"), ("RG102", "RG305"), ("RG201", "RG305"), ("RG201", "RG301")),
    *(("RG403", "RG301"), ("RG404", "RG305")),
]

_ONCE_MISSED = ("RG204+RG306:21000", "RG205+RG306:21000", "RG103+RG306:21100", "RG201+RG306:22000")


@pytest.mark.parametrize("seed", range(_RIGHT))
def test_right_program_is_declared_right(seed: int, auditor: Auditor) -> None:
    result = perform(Trial((), seed), auditor)
    assert result.state == "audited", result.reason
    assert result.verdict == "right", result.reason
    assert result.found == ()


def _plants() -> list[tuple[str, int]]:
    inside = [c for c in sorted(FAULTS) if c.startswith("RG4")]
    return [(c, seed) for c in sorted(FAULTS) for seed in range(_PLANTED_INSIDE if c in inside else _PLANTED_EACH)]


@pytest.mark.parametrize(("cause", "seed"), _plants())
def test_planted_fault_is_found(cause: str, seed: int, auditor: Auditor) -> None:
    result = perform(Trial((cause,), seed), auditor)
    assert result.state == "audited", result.reason
    assert result.verdict == "wrong", (result.route, result.reason)
    assert result.points_at(cause), (result.route, result.found, result.expected)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("first", "second"), _PAIRS)
def test_two_planted_faults_are_both_found(first: str, second: str, seed: int, auditor: Auditor) -> None:
    result = perform(Trial((first, second), seed), auditor)
    assert result.state == "audited", result.reason
    assert result.verdict == "wrong", (result.route, result.reason)
    assert all(result.points_at(c) for c in (first, second)), (result.route, result.found, result.expected)


@pytest.mark.parametrize("label", _ONCE_MISSED)
def test_faults_of_segments_that_are_run_again_are_found(label: str, auditor: Auditor) -> None:
    trial = Trial.parse(label)
    result = perform(trial, auditor)
    assert result.state == "audited", result.reason
    assert all(result.points_at(c) for c in trial.causes), (result.route, result.found, result.expected)
    assert not result.invented
