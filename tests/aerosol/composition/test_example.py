"""The story of soot before mixing, run as its readers run it: what it recovers, and how far from what was put in."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[3]


def rows(text: str) -> dict[float, np.ndarray]:
    """Lines of figures by tau: hours, chi of start, end and recovery, error in kappa of end and recovery."""
    found = re.findall(r"^ *\d\.\d(?: +\d+\.\d+){6}$", text, flags=re.MULTILINE)
    return {float(line.split()[0]): np.array(line.split()[1:], dtype=float) for line in found}


def test_the_start_is_recovered_as_the_page_shows(tmp_path: Path) -> None:
    """Chi and the distribution of kappa at the start, through coagulation, condensation and dilution."""
    target = tmp_path / "soot.png"
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "soot_before_mixing.py"), str(target), "0.5", "4"],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    found = rows(done.stdout)
    shown = rows((ROOT / "docs" / "aerosol" / "composition.md").read_text(encoding="utf-8"))
    assert sorted(found) == [0.5, 4.0]
    assert sorted(shown) == [0.5, 1.0, 2.0, 4.0, 8.0]
    for tau, (hours, start, end, recovered, error_of_end, error) in found.items():
        np.testing.assert_allclose(shown[tau], [hours, start, end, recovered, error_of_end, error], atol=1e-2)
        assert abs(recovered - start) < 0.02
        assert abs(end - start) > 0.07
        assert error < 0.25 * error_of_end
    assert target.stat().st_size > 10_000
