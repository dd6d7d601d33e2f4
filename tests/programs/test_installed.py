"""Whole programs from installed packages: nothing may be invented about them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.programs, pytest.mark.slow]

NAVIER_STOKES = "warp.examples.optim.example_navier_stokes_perturbation"
FEW_STEPS = ["--headless", "--device", "cpu", "--train-iters", "2", "--lead-steps", "2", "--spin-up-steps", "2"]


def test_navier_stokes_perturbation_is_right(tmp_path: Path) -> None:
    output = tmp_path / "audit.json"
    command = [sys.executable, "-m", "retrograde", "audit", "--format", "json", "--output", str(output)]
    done = subprocess.run(
        [*command, "-m", NAVIER_STOKES, "--", *FEW_STEPS], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    document = json.loads(output.read_text(encoding="utf-8"))
    assert document["verdict"] == "right", document["reason"]
    assert done.returncode == 0
    assert document["causes"] == []
    assert {remark["code"] for remark in document["remarks"]} <= {"RG508"}
