"""The labels of the programs are true: each is run, and what it consumed is held against its twin's differences."""

from __future__ import annotations

import numpy as np
import pytest
from tests.programs.labels import Labelled, labelled_programs, skip_without
from tests.support.auditing import Auditor
from tests.support.printed import read_printed

_RIGHT = 2e-3
_WRONG = 1e-2
_OBJECTIVE = 1e-4


@pytest.mark.parametrize("program", labelled_programs(), ids=lambda p: p.name)
def test_label(program: Labelled, auditor: Auditor) -> None:
    skip_without(program)
    outcome = auditor.run(program.path)
    assert outcome.ok, outcome.stderr
    iterations = read_printed(outcome.stdout)
    assert len(iterations) >= 2
    errors: list[float] = []
    for printed in iterations:
        assert printed.parameters
        objective = program.at(printed)({})
        assert abs(printed.objective - objective) <= _OBJECTIVE * max(0.1, abs(objective)), printed.iteration
        exact = program.gradient(printed)
        consumed = np.concatenate([printed.gradient(name) for name in printed.parameters])
        errors.append(float(np.linalg.norm(consumed - exact) / (np.linalg.norm(exact) or 1.0)))
    if program.verdict == "right":
        assert max(errors) < _RIGHT, errors
        assert not program.marks
    else:
        assert not max(errors) < _WRONG, errors
        assert program.marks
