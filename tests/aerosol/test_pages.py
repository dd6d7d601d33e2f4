"""The code on the pages about the aerosol half runs as it stands."""

import re
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs" / "aerosol"
NAMES = [
    "states",
    "composition",
    "physics",
    "exact-solutions",
    "losses",
    "formats",
    "particles",
    "two-models",
    "estimators",
]


@pytest.mark.parametrize("name", NAMES)
def test_code_of_the_page_runs(name):
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    assert blocks
    exec(compile("\n".join(blocks), f"{name}.md", "exec"), {"__name__": name})
