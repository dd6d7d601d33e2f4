"""How many iterations are looked at."""

from __future__ import annotations

import pytest
from tests.support.auditing import Auditor

pytestmark = pytest.mark.programs

SOURCE = """
import warp as wp

wp.set_device("cpu")


@wp.kernel
def misfit(x: wp.array(dtype=float), data: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, (x[i] - data[i]) * (x[i] - data[i]))


@wp.kernel
def descend(x: wp.array(dtype=float), gradient: wp.array(dtype=float)):
    i = wp.tid()
    x[i] -= 0.1 * gradient[i]


x = wp.array([1.0, 2.0, 3.0], dtype=float, requires_grad=True)
data = wp.array([0.5, 0.5, 0.5], dtype=float, requires_grad=True)
for it in range(5):
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    with wp.Tape() as tape:
        wp.launch(misfit, 3, [x, data, loss])
    tape.backward(loss)
    wp.launch(descend, 3, [x, x.grad])
    tape.zero()
"""


@pytest.mark.parametrize("iterations", [1, 2])
def test_the_update_of_the_last_iteration_is_waited_for(iterations: int, auditor: Auditor) -> None:
    """Before it nothing tells the parameter from other arrays with a gradient."""
    document = auditor.audit(SOURCE, iterations=iterations)
    assert document["verdict"] == "right"
    assert [(r["parameter"], r["iteration"]) for r in document["ladder"]] == [("x", i) for i in range(iterations)]


def test_a_program_that_reads_no_gradient_is_judged_by_all_leaves(auditor: Auditor) -> None:
    unread = SOURCE.replace("    wp.launch(descend, 3, [x, x.grad])\n", "    x.assign(x.numpy() * 0.9)\n")
    document = auditor.audit(unread, iterations=1)
    assert document["verdict"] == "right"
    assert {r["parameter"] for r in document["ladder"]} == {"x", "data"}
