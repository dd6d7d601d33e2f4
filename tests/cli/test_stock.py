"""`--stock`: Warp's own checks say what they say in processes of their own, and change nothing of the audit."""

from __future__ import annotations

import json

import pytest

from retrograde.report.terminal import render_terminal
from retrograde.result import Audit, Verdict
from retrograde.stock.words import Stock, Tool, checked_kernels, distinct, overwrite_warnings

PROGRAM = """
import sys
from pathlib import Path
import numpy as np
import warp as wp

@wp.kernel
def grow(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[i] * x[i]

@wp.func
def bent(v: float):
    return v * v * v

@wp.func_grad(bent)
def adj_bent(v: float, adj_ret: float):
    wp.adjoint[v] += 2.0 * v * v * adj_ret

@wp.kernel
def add(y: wp.array(dtype=float), loss: wp.array(dtype=float)):
    wp.atomic_add(loss, 0, bent(y[wp.tid()]))

wp.set_device("cpu")
x = wp.array([0.5, 0.7], dtype=float, requires_grad=True)
for it in range(4):
    y = wp.zeros(2, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(grow, dim=2, inputs=[x], outputs=[y])
        wp.launch(add, dim=2, inputs=[y], outputs=[loss])
        wp.launch(grow, dim=2, inputs=[x], outputs=[OUT])
    tape.backward(loss)
    with open("log.txt", "a") as file:
        file.write("step\\n")
    print("iter", it)
    x.assign(x.numpy() - 0.01 * x.grad.numpy())
    tape.zero()
"""


@pytest.mark.programs
def test_both_checks_find_what_they_look_for(real) -> None:
    # The last launch of a step overwrites y, which `add` had read; and bent's adjoint lacks a third.
    real.write("train.py", PROGRAM.replace("OUT", "y"))
    done = real.run("audit", "--budget", "100", "--stock", "--format", "json", "--output", "r.json", "train.py")
    assert done.returncode == 1, done.stderr
    tracker, gradcheck = json.loads((real.folder / "r.json").read_text())["stock"]
    assert tracker["tool"] == "overwrite tracker"
    assert tracker["flagged"] is True
    assert tracker["count"] == 3
    assert tracker["ended"] == "stopped after 3 backward passes"
    (sentence,) = tracker["said"]
    assert "argument y in kernel grow" in sentence
    assert sentence.endswith("(3 times)")
    assert gradcheck["tool"] == "gradcheck_tape"
    assert gradcheck["flagged"] is True
    assert "Gradient check for kernel add failed." in gradcheck["said"]
    assert any("kernel grow passed" in sentence for sentence in gradcheck["said"])
    assert "iter 0" in done.stdout
    assert done.stdout.count("iter 0") == 1
    # Only the audited run wrote to the program's file.
    lines = (real.folder / "log.txt").read_text().split()
    assert 3 <= len(lines) <= 4
    assert real.left_behind() == []


@pytest.mark.programs
def test_a_program_that_dies_or_has_no_tape_is_told(real) -> None:
    real.write("train.py", "import os, warp\nos.kill(os.getpid(), 9)\n")
    done = real.run("audit", "--stock", "train.py")
    assert done.returncode == 3
    assert "overwrite tracker came to no answer (its process ended by SIGKILL" in " ".join(done.stdout.split())
    real.write("none.py", "print('no tape')\n")
    done = real.run("audit", "--stock", "none.py")
    assert done.returncode == 4
    assert "gradcheck_tape came to no answer (ran to its end" in " ".join(done.stdout.split())
    assert done.stdout.count("no tape") == 1  # what the program says when it is asked is not shown again


def test_words_are_read_whatever_else_is_printed() -> None:
    text = (
        "Warp UserWarning: Array [0. 1.\n 2.] passed to argument y in kernel f at a b.py:7 is being written to but has "
        "already been read from in a previous launch. This may\n"
        "iter 1\nArray [1.] is being written to by copy at c.py:9 but has already been read from in a previous launch."
        "\nArray [] is being written to but has already been read from in a previous launch.\n"
    )
    assert overwrite_warnings(text) == [
        "Array passed to argument y in kernel f at a b.py:7 is being written to but has already been read from in a "
        "previous launch.",
        "Array is being written to by copy at c.py:9 but has already been read from in a previous launch.",
        "Array is being written to but has already been read from in a previous launch.",
    ]
    coloured = "\x1b[91mGradient check for kernel f failed\x1b[0m\n"
    assert checked_kernels(coloured * 2) == ["Gradient check for kernel f failed."] * 2
    assert distinct(["a", "b", "a"]) == ("a (2 times)", "b")


def test_many_words_are_counted() -> None:
    stock = Stock(Tool.TRACKER, True, tuple(f"sentence {n}" for n in range(9)), 9, "ran to its end", 1.0)
    text = render_terminal(Audit(Verdict.RIGHT, "", stock=(stock,)))
    assert "complains, 9 times" in text
    assert "and 4 more" in text
