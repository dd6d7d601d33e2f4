"""Where the system allows no further process, all that needs one says so or does without."""

from __future__ import annotations

import errno
import os
import subprocess

import pytest

from retrograde.gradients.execution import DIED, Snapshots
from retrograde.gradients.forked import apart, side_by_side
from retrograde.gradients.rerun import FreshProcesses
from retrograde.request import AuditRequest
from retrograde.trace.plan import Plan
from retrograde.trace.recorder import Recorder


@pytest.fixture
def no_room(monkeypatch):
    def fork(*_args, **_kwargs):
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(os, "fork", fork)
    monkeypatch.setattr(subprocess, "Popen", fork)


def test_where_no_process_can_be_forked_programs_are_started_anew(no_room, tmp_path):
    snapshots = Snapshots(scratch=str(tmp_path), otherwise=lambda plans, *_: lambda: [DIED for _ in plans])
    snapshots.take(Recorder(lambda _: None))
    begin = snapshots.beginner(0)
    assert begin is not None
    assert begin([Plan((), ())], 1, 1.0)() == [DIED]
    snapshots.close()


def test_where_no_process_can_be_started_no_value_is_had(no_room, tmp_path):
    processes = FreshProcesses(AuditRequest("train.py", scratch=str(tmp_path)), str(tmp_path))
    outcomes = processes.begin([Plan((), ())] * 3, 2, 1.0)()
    assert [o.failure for o in outcomes] == ["the system has no room for another process"] * 3
    assert os.listdir(tmp_path) == []


def test_where_no_copy_can_be_made_all_work_is_done_here(no_room):
    assert apart(lambda: 1) is None
    assert side_by_side(lambda n: n * n, [1, 2, 3, 4], seconds=10.0) == [1, 4, 9, 16]
