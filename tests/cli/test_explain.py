"""The page of a cause, and how causes are found."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import retrograde.causes
from retrograde.causes import registry
from retrograde.cli.main import run
from retrograde.report.page import page_of

SOURCE = """
from retrograde.causes.base import Cause

CAUSE = Cause(
    code="RG999",
    name="planted-fault",
    group="kernels",
    summary="A fault that a test planted.",
    finds="Nothing but itself.",
    why="It was planted.",
    fix="Remove it.",
    example_wrong="x = 1\\n",
    example_right="x = 2\\n",
    references=("A book (https://example.org)",),
)
"""

PAGE = """\
# RG999 planted-fault

A fault that a test planted.

## What it finds

Nothing but itself.

## Why it matters

It was planted.

## Example

```python
x = 1
```

## Use instead

```python
x = 2
```

## How to fix it

Remove it.

## References

- A book (https://example.org)
"""


@pytest.fixture
def plant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts a module into the package of causes for one test."""
    monkeypatch.setattr(retrograde.causes, "__path__", [*retrograde.causes.__path__, str(tmp_path)])
    planted: list[str] = []

    def put(name: str, source: str = SOURCE) -> None:
        (tmp_path / f"{name}.py").write_text(source)
        planted.append(name)
        registry.all_causes.cache_clear()

    yield put
    for name in planted:
        sys.modules.pop(f"retrograde.causes.{name}", None)
        if hasattr(retrograde.causes, name):
            delattr(retrograde.causes, name)
    registry.all_causes.cache_clear()


@pytest.mark.parametrize("call", ["RG999", "rg999", "planted-fault", " RG999 "])
def test_explain_shows_the_page(call, plant, capsys):
    plant("rg999_planted_fault")
    assert run(["explain", call]) == 0
    assert capsys.readouterr().out == PAGE


def test_explain_is_for_readers_on_a_terminal(shell):
    master, slave = os.openpty()
    source = (
        "import sys, retrograde.causes.registry as r, retrograde.cli.main as m\n"
        f"{SOURCE}\nr.find_cause = lambda code: CAUSE\n"
        "sys.argv = ['retrograde', 'explain', 'RG999']\nm.main()\n"
    )
    environment = {**shell.environment, "TERM": "xterm"}
    process = shell.start(
        launcher=(sys.executable, "-c", source), stdout=slave, stderr=subprocess.PIPE, env=environment
    )
    _, err = process.communicate(timeout=60)
    os.close(slave)
    shown = os.read(master, 65536).decode()
    os.close(master)
    assert (process.returncode, err) == (0, "")
    assert "\x1b[" in shown
    assert "```" not in shown
    assert "A fault that a test planted." in shown


def test_causes_are_found_by_their_files_and_ordered_by_code(plant):
    before = registry.all_causes()
    plant("rg999_planted_fault")
    causes = registry.all_causes()
    assert [cause.code for cause in causes] == [*(cause.code for cause in before), "RG999"]
    assert [cause.code for cause in causes] == sorted(cause.code for cause in causes)


def test_every_cause_has_a_whole_page():
    for cause in registry.all_causes():
        page = page_of(cause)
        assert page.startswith(f"# {cause.code} {cause.name}\n")
        for text in (cause.summary, cause.finds, cause.why, cause.fix, cause.example_wrong, cause.example_right):
            assert text.strip()
            assert text.strip() in page
        assert cause.group in ("contents", "chain", "bookkeeping", "kernels", "remarks")


@pytest.mark.parametrize(
    ("name", "source", "error"),
    [
        ("rg998_planted_fault", SOURCE, ValueError),
        ("rg999_other_name", SOURCE, ValueError),
        ("rg999_planted_fault", "", TypeError),
        ("rg999_planted_fault", "CAUSE = 'RG999'", TypeError),
    ],
)
def test_a_file_that_is_no_cause_is_an_error(name, source, error, plant):
    plant(name, source)
    with pytest.raises(error, match=name):
        registry.all_causes()
