"""Gradients that only double precision can judge: a wrong adjoint under rounding, and what cannot be translated."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.programs.labels import HERE
from tests.support.auditing import Auditor

_PROGRAM = (HERE / "RG505" / "sea_level.py").read_text(encoding="utf-8")
_ADJOINT = """
@wp.func_grad(tide)
def adj_tide(t: float, site: Site, adj: float):
    wp.adjoint[t] += 2.0 * TIDE * wp.cos(t + site.lag) * site.wave[1] * adj


@wp.kernel
def gauge("""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    return tmp_path / "sea_level.py"


def test_a_wrong_adjoint_that_single_precision_cannot_refute_is_wrong(program: Path, auditor: Auditor) -> None:
    program.write_text(_PROGRAM.replace("\n@wp.kernel\ndef gauge(", _ADJOINT), encoding="utf-8")
    document = auditor.audit(program)
    assert document["verdict"] == "wrong"
    rung = document["ladder"][0]
    assert rung["reference"]["how"] == "float64"
    assert rung["consumed"]["values"][0] == pytest.approx(2.0 * rung["reference"]["values"][0], rel=1e-3)


def test_what_cannot_be_translated_is_named(program: Path, auditor: Auditor) -> None:
    source = _PROGRAM.replace("1.0e-4 * swell[0]", "1.0e-4 * swell[0] * wp.noise(wp.uint32(3), p[1])")
    program.write_text(source, encoding="utf-8")
    document = auditor.audit(program)
    assert any("double precision" in line and "noise" in line for line in document["not_checked"])
