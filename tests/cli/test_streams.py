"""Where the report goes, and where the program's own output goes."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

NOISY = "import sys\nprint('{\"verdict\": \"mine\"}')\nprint('x' * 3_000_000)\nprint('on stderr', file=sys.stderr)\n"


def test_json_has_standard_output_alone(command):
    command.write("noisy.py", NOISY)
    result = command.run("audit", "--format", "json", "noisy.py")
    document = json.loads(result.stdout)
    assert document["program"] == {"script": "noisy.py", "args": []}
    assert '{"verdict": "mine"}' in result.stderr
    assert "x" * 3_000_000 in result.stderr
    assert command.left_behind() == []


def test_with_output_the_programs_streams_stay_where_they_were(shell):
    shell.write("noisy.py", NOISY)
    result = shell.run("audit", "--format", "json", "--output", "report.json", "noisy.py")
    assert result.stdout.startswith('{"verdict": "mine"}\n')
    assert result.stderr == "on stderr\n"
    assert json.loads((shell.folder / "report.json").read_text())["verdict"] == "right"


def test_both_formats_without_output_keep_the_document_alone(shell):
    shell.write("train.py", "print('mine')")
    result = shell.run("audit", "--format", "json", "--format", "terminal", "train.py")
    assert json.loads(result.stdout)["verdict"] == "right"
    assert result.stderr.startswith("mine\nRIGHT  train.py\n")


def test_both_formats_with_output_report_on_the_terminal_too(shell):
    shell.write("train.py", "print('mine')")
    result = shell.run("audit", "--format", "json", "--format", "terminal", "--output", "report.json", "train.py")
    assert result.stdout.startswith("mine\nRIGHT  train.py\n")
    assert json.loads((shell.folder / "report.json").read_text())["verdict"] == "right"


def test_terminal_report_to_a_file_has_no_colour(shell):
    shell.write("train.py", "pass")
    result = shell.run("audit", "--output", "report.txt", "train.py")
    assert result.stdout == ""
    text = (shell.folder / "report.txt").read_text()
    assert text.startswith("RIGHT  train.py\nIt ran.\n")
    assert "\x1b" not in text


def test_output_is_where_the_user_stood_not_where_the_program_went(shell):
    shell.write("train.py", "import os, tempfile\nos.chdir('/')\nprint(os.getcwd())")
    result = shell.run("audit", "--format", "json", "--output", "report.json", "train.py")
    assert result.stdout == "/\n"
    assert (shell.folder / "report.json").exists()


def test_output_that_cannot_be_written_is_refused_before_the_run(shell):
    shell.write("train.py", "print('ran')")
    for place in ("no/such/folder/report.json", "."):
        result = shell.run("audit", "--output", place, "train.py")
        assert result.returncode == 64
        assert "ran" not in result.stdout
        assert place in result.stderr


def test_a_reader_that_leaves_is_no_verdict(shell):
    shell.write("train.py", "pass")
    reader, writer = os.pipe()
    os.close(reader)
    process = shell.start("audit", "train.py", stdout=writer)
    os.close(writer)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 141
    assert err == ""


@pytest.mark.parametrize("no_color", [True, False])
def test_colour_only_on_a_terminal_that_wants_it(shell, no_color):
    shell.write("train.py", "pass")
    master, slave = os.openpty()
    environment = {**shell.environment, "TERM": "xterm", **({"NO_COLOR": "1"} if no_color else {})}
    process = shell.start("audit", "train.py", stdout=slave, stderr=subprocess.DEVNULL, env=environment)
    os.close(slave)
    shown = b""
    while chunk := _read(master):
        shown += chunk
    assert process.wait(60) == 0
    assert b"RIGHT" in shown
    assert (b"\x1b[" in shown) is not no_color


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # the terminal is gone with its last process
        return b""
