"""What changed since an earlier report: causes by code, file and array; numbers side by side."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import audits
import jsonschema
import numpy as np
import pytest

from retrograde.report.comparison import compare
from retrograde.report.json import render_json, schema, to_document
from retrograde.report.terminal import render_terminal
from retrograde.result import Audit, Loss, Verdict

LOSSES = (Loss(0, "loss", 2.0), Loss(1, "loss", 1.5), Loss(2, "loss", 1.4))
BEFORE = replace(audits.WRONG, losses=LOSSES)
NOW = replace(
    audits.RIGHT,
    ladder=(replace(audits.SMALL, consumed=audits.SMALL.ideal), audits.LARGE),
    losses=(Loss(0, "total", 2.0), Loss(1, "total", 0.5)),
)


def _compared(before: Audit = BEFORE, now: Audit = NOW) -> Audit:
    return replace(now, comparison=compare("old.json", to_document(before), now))


def test_causes_gone_new_and_remaining():
    moved = replace(audits.OVERWRITTEN, line=99)
    comparison = compare("old.json", to_document(BEFORE), replace(audits.UNEXPLAINED, causes=(moved, audits.SCALED)))
    assert comparison.verdict is Verdict.WRONG
    assert comparison.gone == ()
    assert [f.code for f in comparison.new] == ["RG305"]
    assert comparison.remaining == (moved,)
    cured = compare("old.json", to_document(BEFORE), NOW)
    assert [f.code for f in cured.gone] == ["RG101"]
    assert cured.new == cured.remaining == ()


def test_two_causes_of_one_kind_are_counted():
    twice = replace(BEFORE, causes=(audits.OVERWRITTEN, audits.OVERWRITTEN))
    once = compare("old.json", to_document(twice), BEFORE)
    assert len(once.gone) == len(once.remaining) == 1


def test_gradients_before_and_now():
    changes = {(c.parameter, c.iteration): c for c in _compared().comparison.gradients}
    small = changes["conductivity", 0]
    measured = np.array([2.0001, -2.9999])
    assert small.before.consumed == pytest.approx(np.linalg.norm([1.25, -3.5]))
    assert small.before.error == pytest.approx(
        np.linalg.norm([1.25 - 2.0001, -3.5 + 2.9999]) / np.linalg.norm(measured)
    )
    assert small.now.error < 1e-4
    assert changes["weights", 1].before.reference is None


def test_losses_are_set_side_by_side_though_the_array_was_renamed():
    losses = _compared().comparison.losses
    assert [(c.iteration, c.objective, c.before, c.now) for c in losses] == [
        (0, "total", 2.0, 2.0), (1, "total", 1.5, 0.5), (2, "loss", 1.4, None),
    ]  # fmt: skip


def test_several_objectives_go_by_their_names():
    two = replace(NOW, losses=(Loss(0, "loss", 1.0), Loss(0, "penalty", 3.0)))
    losses = compare("old.json", to_document(BEFORE), two).losses
    assert [(c.iteration, c.objective, c.before, c.now) for c in losses][:2] == [
        (0, "loss", 2.0, 1.0), (0, "penalty", None, 3.0),
    ]  # fmt: skip


@pytest.mark.parametrize("before", audits.ALL.values(), ids=audits.ALL)
def test_the_document_keeps_to_the_schema(before):
    document = json.loads(render_json(_compared(before)))
    jsonschema.Draft202012Validator(schema()).validate(document)
    assert document["baseline"]["source"] == "old.json"


def test_the_terminal_shows_it():
    text = render_terminal(_compared())
    assert "since old.json: wrong before, right now" in text
    assert "gone: RG101 overwritten-input  train.py:41" in text
    assert re.search(r"^total, iteration 1 +1\.5 +0\.5$", text, re.MULTILINE)
