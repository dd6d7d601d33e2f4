"""Warp programs of which there is nothing to judge, or that do not come to an end."""

from __future__ import annotations

import json
import sys

import pytest

SETUP = """\
import time
import warp as wp
wp.config.quiet = True

@wp.kernel
def square(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(y, 0, x[i] * x[i])

x = wp.array([1.0, 2.0, 3.0], dtype=float, requires_grad=True)
y = wp.zeros(1, requires_grad=True)
"""
TRAIN = """\
def step():
    loss = wp.zeros(1, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(square, 3, inputs=[x, loss])
    tape.backward(loss)
    x.assign(x.numpy() - 0.1 * x.grad.numpy())
    tape.zero()

"""


def audit(command, *arguments):
    result = command.run("audit", "--format", "json", *arguments)
    assert command.left_behind() == []
    return result, json.loads(result.stdout)


@pytest.mark.programs
@pytest.mark.parametrize(
    ("ending", "word"),
    [
        ("wp.launch(square, 3, inputs=[x, y])\n", "tape"),
        ("with wp.Tape() as tape:\n    wp.launch(square, 3, inputs=[x, y])\n", "backward"),
    ],
    ids=["no tape", "no backward"],
)
def test_nothing_to_check(real, ending, word):
    real.write("train.py", SETUP + ending)
    result, document = audit(real, "train.py")
    assert result.returncode == 4
    assert document["verdict"] == "nothing-to-check"
    assert word in document["reason"]
    assert document["ladder"] == []


@pytest.mark.programs
def test_a_training_without_end_is_judged_and_stopped(real):
    real.write("train.py", SETUP + TRAIN + "while True:\n    step()\n")
    result, document = audit(real, "train.py")
    assert document["verdict"] == "right"
    assert result.returncode == 0


@pytest.mark.programs
def test_a_program_that_hangs_before_it_trains_is_undecided(real):
    real.write("train.py", SETUP + "print('waiting', flush=True)\nwhile True:\n    time.sleep(0.01)\n")
    result, document = audit(real, "--budget", "1", "train.py")
    assert result.returncode == 2
    assert document["verdict"] == "undecided"
    assert "waiting" in result.stderr


@pytest.mark.programs
def test_it_raises_in_the_middle_of_its_training(real):
    real.write("train.py", SETUP + TRAIN + "step()\nwp.launch(square, 3, inputs=[x, 'no array'])\n")
    result, document = audit(real, "train.py")
    assert result.returncode == 3
    assert document["verdict"] == "not-run"
    frames = [line for line in result.stderr.splitlines() if line.startswith("  File")]
    assert frames[0].endswith('train.py", line 21, in <module>')
    assert not any("retrograde/trace" in frame or "retrograde/program.py" in frame for frame in frames)


@pytest.mark.programs
def test_the_audited_program_prints_what_it_prints_without_us(real):
    """To the end of what the audit let it do: it is stopped once enough was seen."""
    loop = "for i in range(4):\n    step()\n    print(i, x.numpy().tolist(), flush=True)\n"
    real.write("train.py", SETUP + TRAIN + loop)
    plain = real.run("train.py", launcher=(sys.executable,))
    audited = real.run("audit", "--output", str(real.temporary.parent / "report"), "train.py")
    assert audited.returncode == 0
    values = [[line for line in run.stdout.splitlines() if line[0] in "0123"] for run in (plain, audited)]
    assert len(values[0]) == 4
    assert len(values[1]) > 0
    assert values[0][: len(values[1])] == values[1]
