"""The document says what the audit found, is plain JSON, and keeps to its schema."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import audits
import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from retrograde.gradients.rungs import Ladder
from retrograde.report.json import MAX_VALUES, from_document, render_json, schema, to_document
from retrograde.result import Audit, Verdict

VALIDATOR = jsonschema.Draft202012Validator(schema())


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize("audit", audits.ALL.values(), ids=audits.ALL)
def test_documents_keep_to_the_schema(audit):
    VALIDATOR.validate(json.loads(render_json(audit)))


@pytest.mark.parametrize("audit", audits.ALL.values(), ids=audits.ALL)
def test_a_document_read_back_gives_the_same_document(audit):
    document = json.loads(render_json(audit))
    again = from_document(document)
    assert again.verdict is audit.verdict
    assert again.causes == audit.causes
    assert again.remarks == audit.remarks
    small = [ladder for ladder in audit.ladder if not ladder.directions]
    for mine, theirs in zip(small, again.ladder, strict=False):
        np.testing.assert_array_equal(mine.consumed, theirs.consumed)
        np.testing.assert_array_equal(mine.reference, theirs.reference)


def test_the_document_of_a_wrong_program():
    document = to_document(audits.WRONG)
    assert document["schema"] == 1
    assert document["verdict"] == "wrong"
    assert document["program"] == {"script": "train.py", "args": ["--steps", "10"]}
    (cause,) = document["causes"]
    assert (cause["code"], cause["file"], cause["line"], cause["explains"]) == ("RG101", "train.py", 41, 0.9984)
    assert cause["evidence"]["steps"] == [1.0, "inf"]
    assert document["remarks"][0]["explains"] is None


def test_a_small_gradient_has_values_and_unmeasured_elements_are_null():
    (ladder, _) = to_document(audits.WRONG)["ladder"]
    assert ladder["consumed"]["values"] == [1.25, -3.5, 0.0]
    assert ladder["reference"]["values"] == [2.0001, -2.9999, None]
    assert ladder["reference"]["norm"] is None
    assert ladder["reference"]["how"] == "replay"
    assert ladder["reference"]["error"] == pytest.approx(math.hypot(0.0002, 0.0003))
    measured = np.array([2.0001, -2.9999])
    expected = np.linalg.norm(np.array([1.25, -3.5]) - measured) / np.linalg.norm(measured)
    assert ladder["errors"]["consumed"] == pytest.approx(expected)


def test_a_large_gradient_has_its_norm_alone_and_is_judged_along_directions():
    (ladder,) = to_document(audits.RIGHT)["ladder"]
    assert "values" not in ladder["consumed"]
    assert ladder["consumed"]["norm"] == pytest.approx(np.linalg.norm(np.linspace(0.0, 1.0, 100)))
    assert ladder["reference"]["norm"] is None
    expected = math.hypot(1.5 - 1.5003, -0.25 + 0.24) / math.hypot(1.5003, 0.24)
    assert ladder["errors"]["taped"] == pytest.approx(expected)


def test_numbers_that_are_not_finite_are_strings():
    (ladder,) = to_document(audits.UNEXPLAINED)["ladder"]
    assert ladder["consumed"] == {"norm": "nan", "values": ["nan"]}
    assert ladder["taped"] == {"norm": "inf", "values": ["-inf"]}
    assert ladder["ideal"] is None
    assert ladder["errors"] == {"consumed": "inf", "taped": "inf", "ideal": None}


@pytest.mark.parametrize(("consumed", "error"), [(0.0, 0.0), (1.0, "inf")])
def test_a_reference_of_zero(consumed, error):
    zero = replace(audits.BROKEN, consumed=np.array([consumed]), reference=np.array([0.0]))
    (ladder,) = to_document(replace(audits.UNEXPLAINED, ladder=(zero,)))["ladder"]
    assert ladder["errors"]["consumed"] == error


def test_another_version_is_refused():
    with pytest.raises(ValueError, match="schema 1, not 2"):
        from_document({**to_document(audits.RIGHT), "schema": 2})
    with pytest.raises(ValueError, match="schema 1, not None"):
        from_document({})


@given(
    values=st.integers(0, MAX_VALUES + 2).flatmap(
        lambda size: arrays(np.float64, size, elements=st.floats(allow_nan=True, allow_infinity=True))
    )
)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_any_gradient_makes_a_valid_document(values):
    ladder = Ladder("p", values.shape, "float64", 0, values, values, None, reference=values, reference_error=values)
    with np.errstate(over="ignore", invalid="ignore"):
        text = render_json(Audit(Verdict.WRONG, "", ladder=(ladder,)))
    document = json.loads(text, parse_constant=pytest.fail)
    VALIDATOR.validate(document)
    again = from_document(document).ladder[0].consumed
    if values.size <= MAX_VALUES:
        np.testing.assert_array_equal(again, values)
    else:
        assert again is None
