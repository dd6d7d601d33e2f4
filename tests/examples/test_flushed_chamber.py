"""The chamber of the demo: the example's table, and what the README says of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from examples.flushed_chamber import recover_from

from retrograde.aerosol.inversion import Settings

ROOT = Path(__file__).parents[2]


def test_the_example_recovers_what_the_readme_shows() -> None:
    result = recover_from(ROOT / "examples" / "flushed_chamber.csv", 3, Settings(starts=1, ensemble=0))
    assert result.held_out is not None
    shown = re.search(r"^recovered +(\S+) % +(\S+) % +(\S+)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert shown is not None
    assert 100 * result.held_out.recovered.number_error == pytest.approx(float(shown[1]), abs=0.15)
    assert 100 * result.held_out.recovered.mean_diameter_error == pytest.approx(float(shown[2]), abs=0.15)
    assert result.held_out.recovered.shape_l1 == pytest.approx(float(shown[3]), abs=0.002)
    assert result.adequacy.adequate
