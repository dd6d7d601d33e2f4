"""Copies of a process bring another core to bear; where there is one core alone, none is made."""

from __future__ import annotations

import os

import pytest

from retrograde.gradients import forked
from retrograde.gradients.forked import side_by_side


def test_on_one_core_no_copy_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    copies: list[object] = []
    monkeypatch.setattr(forked, "begin_copy", copies.append)
    monkeypatch.setattr(forked, "cores", lambda: 1)
    assert side_by_side(lambda n: n * n, [1, 2, 3, 4], seconds=10.0) == [1, 4, 9, 16]
    assert copies == []


def test_cores_are_those_that_the_process_may_use() -> None:
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("Needs os.sched_setaffinity.")
    allowed = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(allowed)})
        assert forked.cores() == 1
    finally:
        os.sched_setaffinity(0, allowed)
    assert forked.cores() == len(allowed)
