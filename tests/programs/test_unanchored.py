"""Programs that cannot be run again: judged by what was recorded, if nothing could have passed beside it."""

from __future__ import annotations

import pytest
from tests.support.auditing import Auditor

pytestmark = pytest.mark.programs

SOURCE = """
import subprocess

import warp as wp


@wp.kernel
def square(x: wp.array(dtype=float), loss: wp.array(dtype=float)):
    wp.atomic_add(loss, 0, x[wp.tid()] * x[wp.tid()])


x = wp.array([1.0, 2.0, 3.0], dtype=float, requires_grad=True)
for it in range(3):
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(square, 3, [x, loss])
        subprocess.run(["true"])
        # here
    tape.backward(loss)
    g = x.grad.numpy().copy()
    x.assign(x.numpy() - 0.1 * g)
    tape.zero()
"""


def test_a_replay_that_nothing_anchors_is_said_to_be_one(auditor: Auditor) -> None:
    document = auditor.audit(SOURCE)
    assert document["verdict"] == "right"
    assert any("by replay alone" in line and "starts other programs" in line for line in document["not_checked"])


def test_it_does_not_judge_what_may_have_passed_through_the_host(auditor: Auditor) -> None:
    document = auditor.audit(SOURCE.replace("# here", "x.numpy()"))
    assert document["verdict"] == "undecided"
    assert "through the host" in document["reason"]
