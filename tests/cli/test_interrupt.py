"""Whoever stops an audit, and whenever, nothing of it is left."""

from __future__ import annotations

import os
import pty
import signal
import sys
import time

import pytest

# Starts a helper in the group, tells that it is there, ignores polite signals, and goes on for ever.
STUBBORN = """\
import signal, subprocess, sys, time
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
print("running", flush=True)
while True:
    try:
        time.sleep(0.1)
    except BaseException:
        pass
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_a_signal_ends_even_a_stubborn_program_and_its_helpers(command, number):
    command.write("train.py", STUBBORN)
    process = command.start("audit", "train.py")
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    assert command.running(3)
    process.send_signal(number)
    process.communicate(timeout=20)
    assert process.returncode == 128 + number
    assert command.left_behind() == []


@pytest.mark.parametrize("delay", [0.02, 0.1, 0.2, 0.3, 0.5, 0.8, 1.3])
def test_ctrl_c_at_any_moment(command, delay):
    command.write("train.py", "import time\nfor _ in range(1000):\n    time.sleep(0.01)\n")
    process = command.start("audit", "train.py")
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    # Before the command is ready, it is Python itself that dies of the signal.
    assert process.returncode in (130, -signal.SIGINT, 1)
    assert command.left_behind() == []


def test_ctrl_c_while_it_reports_or_ends(shell):
    shell.write("train.py", "import atexit, time\natexit.register(time.sleep, 60)\nprint('done', flush=True)")
    process = shell.start("audit", "train.py")
    assert process.stdout is not None
    assert process.stdout.readline() == "done\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode in (0, 130)
    assert shell.left_behind() == []


def test_the_program_can_clean_up_as_it_does_without_an_audit(command):
    command.write(
        "train.py",
        "import atexit, tempfile, time\n"
        "kept = tempfile.TemporaryDirectory()\n"
        "atexit.register(print, 'goodbye', flush=True)\n"
        "print('running', flush=True)\n"
        "try:\n    time.sleep(60)\n"
        "except KeyboardInterrupt:\n    print('saved', flush=True)\n    raise\n",
    )
    process = command.start("audit", "train.py")
    assert process.stdout is not None
    while process.stdout.readline() != "running\n":
        pass
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert out == "saved\ngoodbye\n"
    assert "Traceback" not in err
    assert command.left_behind() == []


def test_an_ignored_signal_stays_ignored(shell):
    """As under nohup."""
    shell.write("train.py", "import time\nprint('running', flush=True)\ntime.sleep(1)")
    process = shell.start("audit", "train.py", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    process.send_signal(signal.SIGHUP)
    out, _ = process.communicate(timeout=20)
    assert out.startswith("RIGHT")


def test_a_program_that_outlives_its_end_is_ended(shell):
    shell.write(
        "train.py",
        "import subprocess, sys, threading, time\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)'])\n"
        "threading.Thread(target=time.sleep, args=(1000,)).start()\n"
        "print('done')\n",
    )
    result = shell.run("audit", "train.py")
    assert result.returncode == 0
    assert result.stdout.startswith("done\nRIGHT")
    assert shell.left_behind() == []


class Terminal:
    """A terminal of its own, with the command in its foreground."""

    def __init__(self, shell, *arguments: str) -> None:
        pid, self.descriptor = pty.fork()
        if pid == 0:
            os.chdir(shell.folder)
            os.execvpe(shell.launcher[0], [*shell.launcher, *arguments], {**shell.environment, "TERM": "xterm"})
        self.pid = pid
        self.shown = ""

    def read_until(self, text: str) -> None:
        while text not in self.shown:
            try:
                self.shown += os.read(self.descriptor, 4096).decode()
            except OSError:
                pytest.fail(f"The terminal closed after {self.shown!r}")

    def type(self, text: str) -> None:
        os.write(self.descriptor, text.encode())

    def status(self) -> int:
        try:
            while chunk := os.read(self.descriptor, 4096):
                self.shown += chunk.decode()
        except OSError:
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


def test_ctrl_c_at_a_terminal(shell):
    shell.write("train.py", STUBBORN)
    terminal = Terminal(shell, "audit", "train.py")
    terminal.read_until("running")
    terminal.type("\x03")
    assert terminal.status() == 130
    assert shell.left_behind() == []


def test_a_program_may_ask_at_the_terminal(shell):
    shell.write("train.py", "name = input('name? ')\nprint('hello', name, flush=True)\nprint('bye', input('again? '))")
    terminal = Terminal(shell, "audit", "train.py")
    terminal.read_until("name? ")
    time.sleep(0.2)
    terminal.type("Ada\n")
    terminal.read_until("hello Ada")
    terminal.type("Bob\n")
    assert terminal.status() == 0
    assert "bye Bob" in terminal.shown
    assert shell.left_behind() == []


def test_ctrl_c_while_the_program_asks(shell):
    shell.write("train.py", "input('name? ')")
    terminal = Terminal(shell, "audit", "train.py")
    terminal.read_until("name? ")
    time.sleep(0.5)
    terminal.type("\x03")
    assert terminal.status() == 130
    assert "Traceback" not in terminal.shown
    assert shell.left_behind() == []


def test_the_line_of_progress_is_gone_at_the_end(shell):
    shell.write("train.py", "import time\ntime.sleep(0.5)")
    terminal = Terminal(shell, "audit", "train.py")
    terminal.read_until("running the program")
    assert terminal.status() == 0
    assert "\x1b[2K" in terminal.shown
    assert terminal.shown.index("running the program") < terminal.shown.index("\x1b[2K") < terminal.shown.index("RIGHT")
