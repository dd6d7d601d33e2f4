"""Programs that change the process which they share with the auditor, or run in one where little is allowed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

FAULTY = """
import warp as wp

wp.set_device("cpu")

@wp.kernel
def cube_in_place(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = x[i] * x[i] * x[i]

@wp.kernel
def total(x: wp.array(dtype=float), loss: wp.array(dtype=float)):
    wp.atomic_add(loss, 0, x[wp.tid()])

p = wp.array([1.1, 2.0, 3.0], dtype=float, requires_grad=True)
for it in range(4):
    x = wp.clone(p, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    with wp.Tape() as tape:
        y = wp.clone(p)
        wp.launch(cube_in_place, dim=3, inputs=[y])
        wp.launch(cube_in_place, dim=3, inputs=[y])
        wp.launch(cube_in_place, dim=3, inputs=[y])
        wp.launch(total, dim=3, inputs=[y], outputs=[loss])
    tape.backward(loss)
    p.assign(p.numpy() - 1e-3 * p.grad.numpy())
    tape.zero()
"""
"""Its gradient is wrong, and after one step the loss is not finite."""

STRICT = """
import random, signal, sys, warnings
import numpy as np
import warp as wp
wp.config.quiet = True
np.seterr(all="raise")
warnings.simplefilter("error")
wp.config.print_launches = True
sys.setrecursionlimit(80)
def overdue(number, frame):
    raise TimeoutError("the program's own alarm")
signal.signal(signal.SIGALRM, overdue)
"""

ALARM = "    signal.setitimer(signal.ITIMER_REAL, 0.4)\n"

WRAPPED = """
import warp as wp
class Counted:
    def __init__(self, call):
        self.call, self.count = call, 0
    def __call__(self, *args, **kwargs):
        self.count += 1
        return self.call(*args, **kwargs)
wp.launch = Counted(wp.launch)
wp.copy = Counted(wp.copy)
wp.zeros = Counted(wp.zeros)
"""


def judged(command, *arguments: str) -> tuple[dict, str]:
    result = command.run("audit", "--format", "json", "--budget", "60", *arguments)
    document = json.loads(result.stdout)
    assert "src/retrograde" not in result.stderr
    assert command.left_behind() == []
    return document, result.stderr


@pytest.mark.programs
def test_what_the_program_set_for_itself_does_not_bind_the_auditor(real):
    real.write("train.py", STRICT + WRAPPED + FAULTY + ALARM)
    document, _ = judged(real, "train.py")
    assert document["verdict"] == "wrong", document["reason"]
    assert [c["code"] for c in document["causes"]] == ["RG102"]
    lines = (real.folder / "train.py").read_text().splitlines()
    assert "x[i] = x[i]" in lines[document["causes"][0]["line"] - 1]


@pytest.mark.programs
def test_calls_that_were_replaced_before_the_audit_began_are_observed(real, monkeypatch):
    real.write("early/sitecustomize.py", WRAPPED)
    real.write("train.py", FAULTY)
    paths = (str(real.folder / "early"), real.environment.get("PYTHONPATH", ""))
    monkeypatch.setenv("PYTHONPATH", ":".join(filter(None, paths)))
    document, _ = judged(real, "train.py")
    assert [c["code"] for c in document["causes"]] == ["RG102"]


def test_a_limit_on_files_that_the_program_sets_does_not_bind_the_report(shell):
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))\n"
    shell.write("train.py", limit)
    assert judged(shell, "train.py")[0]["verdict"] == "right"


def test_a_result_for_which_there_is_no_room(shell):
    shell.write("train.py", "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n")
    document, _ = judged(shell, "train.py")
    assert document["verdict"] == "undecided"
    assert f"no room for its result in {shell.temporary}" in document["reason"]


def test_a_file_where_the_temporary_folder_should_be(shell):
    shell.write("train.py", "pass")
    launcher = shell.write("nowhere.py", NOWHERE)
    result = shell.run("audit", "--format", "json", "train.py", launcher=(shell.launcher[0], str(launcher)))
    document = json.loads(result.stdout)
    assert result.returncode == 2
    assert document["reason"] == "The audit itself failed: Not a directory."
    assert result.stderr == ""


NOWHERE = """\
import tempfile
from retrograde.cli.main import main
tempfile.tempdir = __file__
main()
"""


def test_a_full_disk_under_standard_output(shell):
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    shell.write("train.py", "pass")
    with open("/dev/full", "w") as full:
        process = shell.start("audit", "train.py", stdout=full)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 64
    assert err == "Error: Standard output cannot be written: No space left on device.\n"
