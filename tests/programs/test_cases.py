"""Programs written after public fault reports, each with its truth, where they are at hand."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.support.auditing import ROOT, Auditor

from retrograde.causes.registry import all_causes

pytestmark = pytest.mark.programs

CASES = Path(os.environ.get("RETROGRADE_SHARED", ROOT.parent / "shared")) / "cases"


@dataclass(frozen=True)
class Truth:
    """What is true of one case.

    Attributes:
        verdict: The verdict.
        causes, remarks: Alternatives of codes, one of each of which is enough.
    """

    verdict: str
    causes: tuple[frozenset[str], ...]
    remarks: tuple[frozenset[str], ...]


def _cases() -> list[Path]:
    return sorted(path.parent for path in CASES.glob("*/truth.json"))


def _truth(case: Path) -> Truth:
    truth = json.loads((case / "truth.json").read_text(encoding="utf-8"))
    causes, remarks = (tuple(frozenset(codes) for codes in truth[key]) for key in ("causes", "remarks"))
    return Truth(truth["verdict"], causes, remarks)


@pytest.mark.skipif(not _cases(), reason="The cases of public reports are not beside this checkout.")
@pytest.mark.parametrize("case", _cases(), ids=lambda path: path.name)
def test_case(case: Path, auditor: Auditor) -> None:
    truth = _truth(case)
    document = auditor.audit(case / "train.py")
    assert document["verdict"] == truth.verdict, document["reason"]
    known = {cause.code for cause in all_causes()}
    found = {cause["code"] for cause in document["causes"]}
    for alternatives in truth.causes:
        if alternatives <= known:
            assert found & alternatives
    allowed = frozenset().union(*truth.causes)
    assert found <= allowed | _general(allowed, known), found
    remarks = {remark["code"] for remark in document["remarks"]}
    for alternatives in truth.remarks:
        if alternatives <= known:
            assert remarks & alternatives


def _general(allowed: frozenset[str], known: set[str]) -> set[str]:
    """The general kernel fault stands for those kernel faults that have no cause of their own yet."""
    return {"RG410"} if any(code.startswith("RG4") and code not in known for code in allowed) else set()
