"""What another implementation's gradient says, from the gradients and the measured slopes alone."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import audits
import jsonschema
import numpy as np
import pytest

from retrograde.gradients.contrast import Nature, contrast_all, differs, most_disputed
from retrograde.gradients.rungs import Direction, Ladder
from retrograde.report.against import conclusion
from retrograde.report.json import render_json, schema
from retrograde.report.terminal import render_terminal

SIZE = 40
USED = np.linspace(-1.0, 1.0, SIZE)


def _element(index: int, slope: float, left: float | None = None, right: float | None = None) -> Direction:
    vector = np.zeros(SIZE)
    vector[index] = 1.0
    used = float(USED[index])
    return Direction(f"element {index}", used, used, used, slope, 1e-4, left, right, vector=vector)


def _ladder(*directions: Direction) -> Ladder:
    return Ladder("w", (4, 10), "float32", 0, USED, USED, USED, directions=directions)


def _contrast(other: np.ndarray, *directions: Direction):
    against = contrast_all("r.npz", {("w", 0): other, ("v", 3): other}, [_ladder(*directions)])
    assert against.unmatched == ("v@3",)
    (contrast,) = against.contrasts
    return against, contrast


@pytest.mark.parametrize("shape", [(SIZE,), (4, 10)])
def test_rounding_is_agreement(shape):
    _, contrast = _contrast((USED * (1.0 + 1e-5)).reshape(shape))
    assert contrast.nature is Nature.AGREES
    assert contrast.distance == pytest.approx(1e-5, rel=1e-3)


def test_a_tie_is_no_fault():
    other = USED.copy()
    other[5] = 0.0
    tie = _element(5, 0.5 * USED[5], left=float(USED[5]), right=0.0)
    _, contrast = _contrast(other, tie)
    assert contrast.nature is Nature.KINKS
    assert conclusion(contrast).endswith("No fault.")


def test_a_tie_that_admits_one_side_only_is_not_excused():
    other = USED.copy()
    other[5] = 7.0
    _, contrast = _contrast(other, _element(5, 0.5 * USED[5], left=float(USED[5]), right=0.0))
    assert contrast.nature is Nature.SPARSE
    assert "refute the other" in conclusion(contrast)


@pytest.mark.parametrize(
    ("measured", "words"),
    [(0, "refute the other"), (1, "refute the gradient used"), (2, "refute both"), (3, "do not tell")],
)
def test_a_dense_difference_is_somebodys_fault(measured, words):
    other = 2.0 * USED
    slope = [USED[9], other[9], -3.0, math.nan][measured]
    direction = replace(_element(9, float(slope)), error=math.inf if measured == 3 else 1e-4)
    _, contrast = _contrast(other, direction)
    assert contrast.nature is Nature.DENSE
    assert contrast.differing == SIZE
    assert words in conclusion(contrast)


def test_what_is_not_finite_differs_from_what_is():
    a = np.array([1.0, math.nan, math.inf, math.nan, 0.0])
    b = np.array([1.0, 1.0, math.inf, math.nan, 0.0])
    assert differs(a, b).tolist() == [False, True, False, False, False]
    assert most_disputed(a, b, 4) == [1]


@pytest.mark.parametrize("other", [USED * 1.001, -USED, np.zeros(3), np.full(SIZE, math.nan)])
def test_the_reports(other):
    against, _ = _contrast(other, _element(9, math.nan), _element(5, 0.5, 0.2, 0.7))
    audit = replace(audits.RIGHT, against=against)
    jsonschema.Draft202012Validator(schema()).validate(json.loads(render_json(audit)))
    text = render_terminal(audit)
    assert "against r.npz\n  w, iteration 0: " in text
    assert "not compared: v@3" in text
