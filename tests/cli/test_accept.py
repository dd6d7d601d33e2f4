"""A cause that is declared intended is noted, and is no fault; nothing else is excused with it."""

from __future__ import annotations

import pytest
from tests.programs.labels import HERE
from tests.support.auditing import Auditor

from retrograde.cli.main import run

TRUNCATED = HERE / "RG307" / "encoder_decoder.py"
OVERWRITTEN = HERE / "RG101" / "wall_slice.py"


@pytest.mark.programs
def test_an_accepted_cause_is_noted_and_the_verdict_is_right(auditor: Auditor) -> None:
    document = auditor.audit(TRUNCATED, accept=("RG307",))
    assert document["verdict"] == "right"
    assert document["causes"] == []
    assert {cause["code"] for cause in document["accepted"]} == {"RG307"}
    assert document["unexplained"] == 0.0
    assert "RG307" in document["reason"]
    assert document["ladder"][0]["errors"]["consumed"] > 0.5
    assert all(line.endswith("accepted.") for line in document["checked"])


@pytest.mark.programs
def test_another_fault_is_not_excused(auditor: Auditor) -> None:
    document = auditor.audit(OVERWRITTEN, accept=("RG307",))
    assert document["verdict"] == "wrong"
    assert {cause["code"] for cause in document["causes"]} == {"RG101"}
    assert document["accepted"] == []


@pytest.mark.programs
def test_one_of_two_faults_accepted_leaves_the_other(auditor: Auditor) -> None:
    program = HERE / "several" / "overwrite_and_sum.py"
    codes = {cause["code"] for cause in auditor.audit(program)["causes"]}
    assert len(codes) == 2
    accepted, left = sorted(codes)
    document = auditor.audit(program, accept=(accepted,))
    assert document["verdict"] == "wrong"
    assert {cause["code"] for cause in document["causes"]} == {left}
    assert {cause["code"] for cause in document["accepted"]} == {accepted}


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("RG999", "There is no cause RG999 to accept. This version knows RG101,"),
        ("", "There is no cause  to accept"),
        ("RG508", "RG508 is a remark and no fault"),
    ],
)
def test_what_cannot_be_accepted_is_refused(code, complaint, capsys):
    assert run(["audit", "--accept", code, "train.py"]) == 64
    assert complaint in capsys.readouterr().err
