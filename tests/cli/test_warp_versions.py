"""A Warp that cannot be observed: an audit says which one is needed, or what is missing."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from retrograde.warp_version import OLDEST

ABSENT = "raise ImportError('No module named warp', name='warp')\n"
OLD = "from types import SimpleNamespace\nconfig = SimpleNamespace(version='1.8.1')\n"
WITHOUT_TORCH = "import warp._src.torch\ndel warp._src.torch.from_torch\n"


@pytest.mark.parametrize(
    ("file", "content", "reason"),
    [
        ("warp/__init__.py", ABSENT, f"needs Warp {OLDEST} or later, which cannot be imported: No module named warp."),
        ("warp/__init__.py", OLD, f"needs Warp {OLDEST} or later; 1.8.1 is installed."),
        ("sitecustomize.py", WITHOUT_TORCH, "has no attribute 'from_torch'."),
    ],
    ids=["none", "old", "without a function"],
)
def test_what_is_missing_is_said(real, monkeypatch, file, content, reason):
    real.write(f"other/{file}", content)
    real.write("train.py", "print('ran')\n")
    paths = (str(real.folder / "other"), real.environment.get("PYTHONPATH", ""))
    monkeypatch.setenv("PYTHONPATH", ":".join(filter(None, paths)))
    result = real.run("audit", "--format", "json", "train.py")
    document = json.loads(result.stdout)
    assert result.returncode == 2
    assert document["verdict"] == "undecided"
    assert reason in document["reason"]
    assert "Traceback" not in result.stderr
    assert "ran" not in result.stderr


def test_the_oldest_version_is_the_one_that_is_installed_at_least():
    root = Path(__file__).parents[2]
    needed = tomllib.loads((root / "pyproject.toml").read_text())["project"]["dependencies"]
    assert f"warp-lang>={OLDEST}" in needed
