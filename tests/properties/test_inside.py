"""Faults inside kernels, in random surroundings: found and named by their line, and right twins let pass.

Whether a gradient is wrong is measured: the kernels' own text is run as Python, on numbers that carry derivatives.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.properties.inside.families import FAMILIES, plant_inside, right_inside
from tests.properties.inside.programs import build
from tests.support.auditing import Auditor

_STEP = 1e-5


def _some(count: int, of: int) -> list[int]:
    """Numbers spread over a range."""
    return sorted({round(k) for k in np.linspace(0, of - 1, min(count, of))})


def _numbered(makes: int, quick: list[int], code: str) -> list[object]:
    return [pytest.param(code, k, marks=() if k in quick else pytest.mark.slow) for k in range(makes)]


def _faulty() -> list[object]:
    families = sorted(FAMILIES.items())
    return [p for c, f in families for p in _numbered(len(f.faulty), _some(2, len(f.faulty)), c)]


def _right() -> list[object]:
    return [p for c, f in sorted(FAMILIES.items()) for p in _numbered(len(f.right), [0], c)]


@pytest.mark.parametrize("code", [c for c in sorted(FAMILIES) if c not in ("RG408", "RG409", "RG501")])
def test_kernels_read_as_python_have_the_derivatives_of_differences(code: str) -> None:
    family = FAMILIES[code]
    for seed, make in enumerate((*family.faulty, *family.right)):
        program = build(make, seed)
        at = np.random.default_rng(seed).uniform(0.3, 1.2, int(np.prod(program.shape)))
        direction = np.random.default_rng(seed).normal(size=at.size)
        gradient = program.objective(at)[1]
        values = [program.objective(at + turns * _STEP * direction)[0] for turns in (1, -1, 2, -2)]
        slope = (8.0 * (values[0] - values[1]) - (values[2] - values[3])) / (12.0 * _STEP)
        assert slope == pytest.approx(float(gradient @ direction), rel=1e-5, abs=1e-6), program.route


@pytest.mark.programs
@pytest.mark.parametrize(("code", "seed"), _faulty())
def test_fault_inside_a_kernel_is_found(code: str, seed: int, auditor: Auditor) -> None:
    planted = plant_inside(code, seed, auditor)
    document = auditor.audit(planted.program.source)
    assert document["verdict"] == planted.verdict, (planted.program.route, document["reason"])
    said = document["causes"] if planted.verdict == "wrong" else document["remarks"]
    found = {(c["code"], c["line"]) for c in said}
    expected = {(code, line) for line, codes in planted.lines.items() for code in codes}
    assert found & expected, (planted.program.route, found, expected)
    assert {c["code"] for c in document["causes"]} <= {code}, (planted.program.route, document["causes"])


@pytest.mark.programs
@pytest.mark.parametrize(("code", "seed"), _right())
def test_right_twin_is_declared_right(code: str, seed: int, auditor: Auditor) -> None:
    right = right_inside(code, seed, auditor)
    document = auditor.audit(right.program.source)
    assert document["verdict"] == "right", (right.program.route, document["reason"])
    assert document["causes"] == []
