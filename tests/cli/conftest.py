"""Runs the command as a user does: in a process, in a folder, with a terminal or without."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

HERE = Path(__file__).parent
_MARK = "RETROGRADE_TEST_MARK"


@dataclass
class Command:
    """The command in a folder of its own, that can tell what it left behind.

    Attributes:
        launcher: How it is called.
        folder: The user's working folder.
        temporary: The only place for temporary files.
        mark: A value in the environment of every process that comes from it.
        started: What was started so far.
    """

    launcher: tuple[str, ...]
    folder: Path
    temporary: Path
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def write(self, name: str, source: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
        return path

    @property
    def environment(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
        return {**kept, "TMPDIR": str(self.temporary), _MARK: self.mark, "PYTHONDONTWRITEBYTECODE": "1"}

    def start(self, *arguments: str, launcher: Sequence[str] | None = None, **options: object) -> subprocess.Popen[str]:
        settings: dict[str, object] = {
            "cwd": self.folder,
            "env": self.environment,
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "text": True,
        }
        process = subprocess.Popen([*(launcher or self.launcher), *arguments], **{**settings, **options})  # type: ignore[call-overload]
        self.started.append(process)
        return process

    def run(
        self, *arguments: str, stdin: str | None = None, launcher: Sequence[str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments, launcher=launcher, stdin=subprocess.PIPE)
        out, err = process.communicate(stdin or "", timeout=120)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def processes(self) -> list[str]:
        """Command lines of the processes that still run."""
        return [line for line in map(self._command_line, Path("/proc").glob("[0-9]*")) if line]

    def _command_line(self, entry: Path) -> str:
        try:
            if f"{_MARK}={self.mark}".encode() not in (entry / "environ").read_bytes():
                return ""
            return (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            return ""

    def running(self, count: int, seconds: float = 10.0) -> bool:
        """Whether that many of its processes run; one just started has no environment to be known by for a moment."""
        deadline = time.monotonic() + seconds
        while len(self.processes()) < count and time.monotonic() < deadline:
            time.sleep(0.02)
        return len(self.processes()) >= count

    def left_behind(self, seconds: float = 1.0) -> list[str]:
        """Processes and temporary files that are still there; the dead get a moment to be reaped."""
        deadline = time.monotonic() + seconds
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.02)
        return self.processes() + [path.name for path in self.temporary.iterdir()]

    def end(self) -> None:
        """Ends what a failed test left running, so that no other test stumbles over it."""
        for entry in Path("/proc").glob("[0-9]*"):
            if self._command_line(entry):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(entry.name), signal.SIGKILL)
        for process in self.started:
            process.kill()
            process.wait()
            for stream in filter(None, (process.stdin, process.stdout, process.stderr)):
                stream.close()


def _command(tmp_path: Path, launcher: tuple[str, ...]) -> Iterator[Command]:
    folder, temporary = tmp_path / "work", tmp_path / "tmp"
    folder.mkdir()
    temporary.mkdir()
    command = Command(launcher, folder, temporary)
    yield command
    command.end()


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Command]:
    """The command before a judge that calls every program that runs right."""
    yield from _command(tmp_path, (sys.executable, str(HERE / "fake_command.py")))


@pytest.fixture
def real(tmp_path: Path) -> Iterator[Command]:
    """The command as it is installed."""
    yield from _command(tmp_path, (sys.executable, "-P", "-m", "retrograde"))


@pytest.fixture(params=["shell", "real"])
def command(request: pytest.FixtureRequest) -> Command:
    return request.getfixturevalue(request.param)
