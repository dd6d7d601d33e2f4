"""Products with sparse matrices, whose kernels Warp builds without a backward pass."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.auditing import Auditor

pytestmark = pytest.mark.programs

PROGRAM = Path(__file__).parent / "right" / "sparse_product.py"


def test_a_product_without_a_recorded_adjoint_is_named(auditor: Auditor) -> None:
    lines = PROGRAM.read_text(encoding="utf-8").splitlines(keepends=True)
    document = auditor.audit("".join(line for line in lines if "tape.record_func" not in line))
    assert document["verdict"] == "wrong", document["reason"]
    assert {cause["code"] for cause in document["causes"]} == {"RG202"}
    assert document["causes"][0]["explains"] > 0.99
    assert "bsr_mv" in document["causes"][0]["message"]
