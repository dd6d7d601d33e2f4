"""Waiting for an import changes nothing of the import, and leaves nothing behind."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

from retrograde.trace.imports import WhenImported


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = "imported_for_a_test"
    (tmp_path / f"{name}.py").write_text("VALUE = 7\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, name, raising=False)
    return name


def test_it_is_told_once_when_the_package_is_complete(package: str) -> None:
    before = list(sys.meta_path)
    told: list[ModuleType] = []
    WhenImported(package, told.append)
    module = importlib.import_module(package)
    assert told == [module]
    assert told[0].VALUE == 7
    assert "retrograde" not in type(module.__loader__).__module__
    assert module.__spec__.loader is module.__loader__
    assert sys.meta_path == before
    assert importlib.import_module(package) is module
    assert len(told) == 1


def test_it_is_told_at_once_of_what_is_there(package: str) -> None:
    module = importlib.import_module(package)
    told: list[ModuleType] = []
    WhenImported(package, told.append)
    assert told == [module]


def test_it_no_longer_waits_once_removed(package: str) -> None:
    before = list(sys.meta_path)
    told: list[ModuleType] = []
    WhenImported(package, told.append).remove()
    assert sys.meta_path == before
    importlib.import_module(package)
    assert told == []


def test_a_package_that_fails_or_is_missing_fails_as_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fails_for_a_test.py").write_text("raise RuntimeError('mine')\n")
    monkeypatch.syspath_prepend(tmp_path)
    for name, error in (("fails_for_a_test", RuntimeError), ("missing_for_a_test", ModuleNotFoundError)):
        waiting = WhenImported(name, lambda _: pytest.fail("told"))
        with pytest.raises(error):
            importlib.import_module(name)
        waiting.remove()
