"""A copy of this process that runs a function, as a group that can be ended."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from retrograde.cli.process_group import ProcessGroup

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="Needs os.fork.")


def _ended(group: ProcessGroup) -> int:
    assert group.wait(20.0)
    group.end()
    assert group.status is not None
    return group.status


def test_it_runs_in_a_group_of_its_own_and_sees_what_is_here(tmp_path: Path) -> None:
    found = tmp_path / "found"
    known = {"answer": 42}
    group = ProcessGroup(lambda: found.write_text(f"{os.getpid()} {os.getpgrp()} {known['answer']}") and None)
    assert _ended(group) == 0
    process, leader, answer = map(int, found.read_text().split())
    assert process == leader != os.getpid()
    assert answer == 42


def test_its_standard_output_goes_where_it_is_told(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w") as out:
        assert _ended(ProcessGroup(lambda: os.system("echo said") and None, stdout=out.fileno())) == 0
    assert (tmp_path / "out").read_text() == "said\n"


def test_an_exception_is_a_status_and_nothing_here(capfd: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise ValueError("of the copy")

    assert _ended(ProcessGroup(fail)) == 1
    assert "ValueError: of the copy" in capfd.readouterr().err


def test_it_does_not_answer_signals_as_this_process_does(tmp_path: Path) -> None:
    """A handler that only remembers a signal, as the command's does, must not keep the copy alive."""
    previous = signal.signal(signal.SIGTERM, lambda number, frame: None)
    try:
        ready = tmp_path / "ready"

        def wait() -> None:
            ready.touch()
            time.sleep(60.0)

        group = ProcessGroup(wait)
        while not ready.exists():
            time.sleep(0.01)
        began = time.monotonic()
        group.end(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, previous)
    assert group.status == -signal.SIGTERM
    assert time.monotonic() - began < 30.0


def test_what_it_started_ends_with_it(tmp_path: Path) -> None:
    number = tmp_path / "number"

    def start() -> None:
        child = os.posix_spawn(sys.executable, [sys.executable, "-c", "import time; time.sleep(60)"], {})
        partial = number.with_suffix(".partial")
        partial.write_text(str(child))
        partial.rename(number)
        time.sleep(60.0)

    group = ProcessGroup(start)
    while not number.exists():
        time.sleep(0.01)
    group.end()
    deadline = time.monotonic() + 20.0
    while _is_running(int(number.read_text())) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _is_running(int(number.read_text()))


def _is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"
