"""Programs that overwrite four times what may be kept get the report that they get with all the room they need."""

from __future__ import annotations

import pytest
from tests.support.auditing import Auditor, Document

CELLS, STEPS, ROUNDS = 2000, 60, 3
OVERWRITTEN = 2 * 4 * CELLS * STEPS * ROUNDS / 2**30
SPRINGS = """
import numpy as np
import warp as wp

@wp.kernel
def begin(start: wp.array(dtype=float), x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = start[i]

@wp.kernel
def push(x: wp.array(dtype=float), v: wp.array(dtype=float)):
    i = wp.tid()
    v[i] = v[i] - 0.05 * FORCE

@wp.kernel
def move(x: wp.array(dtype=float), v: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = x[i] + 0.05 * v[i]

@wp.kernel
def misfit(x: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, x[i] * x[i] / float(CELLS))

start = wp.array(np.linspace(0.5, 1.5, CELLS), dtype=float, requires_grad=True)
for iteration in range(ROUNDS):
    x = wp.zeros(CELLS, dtype=float, requires_grad=True)
    v = wp.zeros(CELLS, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(begin, dim=CELLS, inputs=[start, x])
        for step in range(STEPS):
            wp.launch(push, dim=CELLS, inputs=[x, v])
            wp.launch(move, dim=CELLS, inputs=[x, v])
        wp.launch(misfit, dim=CELLS, inputs=[x, loss])
    tape.backward(loss)
    start.assign(start.numpy() - 0.1 * start.grad.numpy())
    tape.zero()
"""
# The adjoint of a linear force needs no old contents, that of another does.
FORCES = {"right": "x[i]", "wrong": "wp.sin(x[i])"}


def springs(force: str) -> str:
    sizes = {"CELLS": CELLS, "STEPS": STEPS, "ROUNDS": ROUNDS, "FORCE": force}
    source = SPRINGS
    for name, value in sizes.items():
        source = source.replace(name, str(value))
    return source


def findings(document: Document) -> list[tuple[object, ...]]:
    return [(f["code"], f["line"], f.get("explains")) for f in (*document["causes"], *document["remarks"])]


@pytest.mark.parametrize("verdict", FORCES)
def test_the_report_does_not_depend_on_the_room(verdict: str, auditor: Auditor) -> None:
    program = springs(FORCES[verdict])
    plenty = auditor.audit(program)
    assert plenty["verdict"] == verdict
    for disk in (OVERWRITTEN, 0.0):
        little = auditor.audit(program, memory=OVERWRITTEN / 4, disk=disk)
        assert little["verdict"] == verdict, little["reason"]
        assert findings(little) == findings(plenty)
        for one, other in zip(little["ladder"], plenty["ladder"], strict=False):
            assert one["ideal"] == other["ideal"]


def test_less_than_that_is_undecided_and_says_what_to_allow(auditor: Auditor) -> None:
    document = auditor.audit(springs(FORCES["wrong"]), memory=OVERWRITTEN / 100, disk=0.0)
    assert document["verdict"] == "undecided"
    assert "--memory" in document["reason"]
