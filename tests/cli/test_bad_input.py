"""Programs that cannot be audited: a plain message, the right exit status, and nothing left behind."""

from __future__ import annotations

import json
import os
import stat
import sys

import pytest


def audit(command, *arguments):
    """The report of an audit as a document, and what it printed."""
    result = command.run("audit", "--format", "json", *arguments)
    assert command.left_behind() == []
    return result, json.loads(result.stdout)


def test_no_such_file(command):
    result, document = audit(command, "nowhere.py")
    assert result.returncode == 3
    assert document["verdict"] == "not-run"
    assert document["reason"] == "nowhere.py: No such file or directory."
    assert "Traceback" not in result.stderr


def test_no_such_module(command):
    result, document = audit(command, "-m", "no.such.module")
    assert result.returncode == 3
    assert document["reason"] == "No module named no."


def test_a_folder_without_main(command):
    (command.folder / "empty").mkdir()
    result, document = audit(command, "empty")
    assert result.returncode == 3
    assert "no __main__ module" in document["reason"]


@pytest.mark.parametrize(
    "content",
    [b"this is prose, not a program\n", b"\x7fELF\x02\x01\x01\0\0\0", b"\xff\xfe\x00latin", b"{'json': true,\n"],
    ids=["prose", "binary", "not utf-8", "half a dictionary"],
)
def test_not_python(command, content):
    (command.folder / "train.py").write_bytes(content)
    result, document = audit(command, "train.py")
    assert result.returncode == 3
    assert document["verdict"] == "not-run"
    assert document["reason"].startswith("SyntaxError: ")
    assert "retrograde" not in result.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable(command):
    command.write("train.py", "pass").chmod(0)
    result, document = audit(command, "train.py")
    assert result.returncode == 3
    assert document["reason"] == "train.py: Permission denied."


def test_it_raises(command):
    command.write("train.py", "def step(x):\n    return 1 / x\n\nstep(0)\n")
    result, document = audit(command, "train.py")
    assert result.returncode == 3
    assert document["verdict"] == "not-run"
    assert document["reason"] == "ZeroDivisionError: division by zero"
    lines = result.stderr.splitlines()
    assert [line for line in lines if line.startswith("  File")] == [
        f'  File "{command.folder / "train.py"}", line 4, in <module>',
        f'  File "{command.folder / "train.py"}", line 2, in step',
    ]
    assert lines[-1] == "ZeroDivisionError: division by zero"


@pytest.mark.parametrize(
    ("source", "word"),
    [
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
        ("import os\nos._exit(7)", "status 7"),
        ("import os\nos._exit(0)", "status 0"),
    ],
)
def test_its_process_dies(command, source, word):
    command.write("train.py", f"print('before', flush=True)\n{source}\n")
    result, document = audit(command, "train.py")
    assert result.returncode == 3
    assert document["verdict"] == "not-run"
    assert word in document["reason"]
    assert "before" in result.stderr


@pytest.mark.parametrize(
    "loop",
    ["while True: pass", "import time\nwhile True: time.sleep(0.01)", "import time\ntime.sleep(10_000)"],
    ids=["busy", "sleeping", "one call"],
)
def test_it_loops_for_ever(shell, loop):
    shell.write("train.py", f"print('started', flush=True)\n{loop}\n")
    result, document = audit(shell, "--budget", "0.5", "train.py")
    assert result.returncode == 2
    assert document["verdict"] == "undecided"
    assert "budget of 0.5 s" in document["reason"]
    assert "running the program" in document["reason"]
    assert "--budget" in document["not_checked"][0]


def test_what_is_known_when_the_budget_ends_is_reported(shell):
    shell.write("train.py", "print('done')\n")
    result, document = audit(shell, "--budget", "0.5", "train.py", "--", "linger")
    assert result.returncode == 1
    assert document["verdict"] == "wrong"
    assert document["reason"] == "It differs."
    first, last = document["not_checked"]
    assert first == "A."
    assert "looking for causes" in last
    assert shell.left_behind() == []


def test_a_judge_that_is_killed_says_nothing_about_the_program(shell):
    shell.write("train.py", "print('done')\n")
    result, document = audit(shell, "train.py", "--", "die")
    assert result.returncode == 2
    assert document["verdict"] == "undecided"
    assert "SIGKILL" in document["reason"]
    assert "memory" in document["reason"]
    assert "looking for causes" in document["reason"]


def test_what_is_known_when_the_judge_is_killed_is_reported(shell):
    shell.write("train.py", "print('done')\n")
    result, document = audit(shell, "train.py", "--", "die", "known")
    assert result.returncode == 1
    assert document["reason"] == "It differs."
    assert "SIGKILL" in document["not_checked"][-1]


@pytest.mark.parametrize(
    "hook", ["None", "lambda *_: undefined", "print"], ids=["none", "one that fails", "one of its own"]
)
def test_it_raises_and_has_another_hook(shell, hook):
    shell.write("train.py", f"import sys\nsys.excepthook = {hook}\n1 / 0\n")
    result, document = audit(shell, "train.py")
    assert result.returncode == 3
    assert document["reason"] == "ZeroDivisionError: division by zero"
    assert "ZeroDivisionError" in result.stderr
    assert "src/retrograde" not in result.stderr


@pytest.mark.parametrize("error", ["GeneratorExit('no')", "asyncio.CancelledError('no')"])
def test_it_raises_what_is_no_ordinary_exception(shell, error):
    shell.write("train.py", f"import asyncio\nraise {error}\n")
    result, document = audit(shell, "train.py")
    assert result.returncode == 3
    assert document["reason"].endswith(": no")
    assert "src/retrograde" not in result.stderr


def test_it_changes_directory(command):
    command.write("train.py", "import os, sys\nos.chdir('/')\nsys.path[:] = []\nprint(os.getcwd())")
    result, document = audit(command, "train.py")
    assert document["program"]["script"] == "train.py"
    assert "/\n" in result.stderr
    assert sorted(path.name for path in command.folder.iterdir()) == ["train.py"]


def test_it_closes_or_replaces_its_streams(command):
    command.write("train.py", "import io, sys\nsys.stdout.close()\nsys.stderr = io.StringIO()\nsys.stdin = None\n")
    result, document = audit(command, "train.py")
    assert document["verdict"] in ("right", "nothing-to-check")
    assert result.returncode in (0, 4)


def test_a_read_only_working_folder(command):
    command.write("train.py", "print('ran')")
    command.folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        result, document = audit(command, "train.py")
    finally:
        command.folder.chmod(stat.S_IRWXU)
    assert "ran" in result.stderr
    assert document["verdict"] in ("right", "nothing-to-check")
    assert sorted(path.name for path in command.folder.iterdir()) == ["train.py"]


def test_two_at_once(command):
    command.write("train.py", "import sys, time\nprint('I am', sys.argv[1])\ntime.sleep(0.5)")
    names = ("one", "two")
    processes = [command.start("audit", "--format", "json", "train.py", "--", name) for name in names]
    for name, process in zip(names, processes, strict=True):
        out, err = process.communicate(timeout=60)
        assert json.loads(out)["program"]["args"] == [name]
        assert f"I am {name}" in err
    assert command.left_behind() == []


def test_a_failure_of_the_audit_is_no_verdict_on_the_program(shell):
    shell.write("train.py", "pass")
    broken = shell.write("broken.py", BROKEN)
    launcher = (sys.executable, str(broken))
    result = shell.run("audit", "--format", "json", "train.py", launcher=launcher)
    document = json.loads(result.stdout)
    assert result.returncode == 2
    assert document["verdict"] == "undecided"
    assert document["reason"] == "The audit itself failed: RuntimeError: a fault of ours"
    assert "a fault of ours" in result.stderr
    assert shell.left_behind() == []


BROKEN = """\
import functools, sys
from pathlib import Path
import retrograde.cli.audit as command
from retrograde.cli.child import serve
from retrograde.cli.main import main
from retrograde.cli.supervise import supervise

def run(request, progress, **_options):
    raise RuntimeError("a fault of ours")

if len(sys.argv) == 2:
    serve(Path(sys.argv[1]), run)
else:
    command.supervise = functools.partial(supervise, child=(sys.executable, "-P", __file__))
    main()
"""
