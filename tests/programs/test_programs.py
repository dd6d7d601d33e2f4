"""Whole programs under audit: verdict, cause, line, remarks."""

from __future__ import annotations

import pytest
from tests.programs.labels import Labelled, labelled_programs, skip_without
from tests.support.auditing import Auditor

pytestmark = pytest.mark.programs


@pytest.mark.parametrize("program", labelled_programs(), ids=lambda p: p.name)
def test_program(program: Labelled, auditor: Auditor) -> None:
    skip_without(program)
    document = auditor.audit(program.path)
    assert document["verdict"] == program.today, document["reason"]
    found = {(cause["line"], cause["code"]) for cause in document["causes"]}
    assert {code for _, code in found} <= program.codes, found
    if program.marks:
        placed = found & set(program.marks)
        assert placed, (found, program.marks)
        if program.all_codes:
            assert {code for _, code in placed} == program.codes
        assert all(cause["file"] == str(program.path) for cause in document["causes"])
        assert document["unexplained"] < 0.05
    remarks = {remark["code"] for remark in document["remarks"]}
    assert set(program.remarks) <= remarks
    assert program.path.parent.name not in remarks - set(program.remarks)
