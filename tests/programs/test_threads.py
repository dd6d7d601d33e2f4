"""Programs with threads and child processes: judged where these stay away from the tape, else out of reach."""

from __future__ import annotations

import pytest
from tests.support.auditing import Auditor

pytestmark = pytest.mark.programs

BEGIN = """
import multiprocessing, os, queue, sys, threading
import warp as wp

wp.set_device("cpu")


@wp.kernel
def square(x: wp.array(dtype=float), loss: wp.array(dtype=float)):
    wp.atomic_add(loss, 0, x[wp.tid()] * x[wp.tid()])


x = wp.array([1.0, 2.0, 3.0], dtype=float, requires_grad=True)
other = wp.array([4.0, 5.0], dtype=float)
tape = wp.Tape()


def evaluate():
    tape.reset()
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    with tape:
        wp.launch(square, 3, [x, loss])
    tape.backward(loss)


def train(between=lambda g: None):
    for it in range(3):
        evaluate()
        g = x.grad.numpy().copy()
        between(g)
        x.assign(x.numpy() - 0.1 * g)
"""

LOGGER = """
lines = queue.Queue()
logger = threading.Thread(target=lambda: [print(line) for line in iter(lines.get, None)])
logger.start()
train(lambda g: lines.put(str(g)))
lines.put(None)
logger.join()
"""

WORKER = """
worker = threading.Thread(target=train)
worker.start()
worker.join()
print(x.numpy())
"""

BESIDE = """
over = threading.Event()


def beside():
    while not over.is_set():
        other.fill_(3.0)
        other.numpy()


thread = threading.Thread(target=beside)
thread.start()
train()
over.set()
thread.join()
"""

MEDDLER = BESIDE.replace("other.", "x.").replace("fill_(3.0)", "assign(x.numpy() * 1.01)")

FORKED = """
def in_child(g):
    child = os.fork()
    if child == 0:
        for _ in range(5):
            evaluate()
            x.assign(x.numpy() - x.grad.numpy())
        sys.exit(0)
    os.waitpid(child, 0)


train(in_child)
"""

POOL = """
with multiprocessing.get_context("fork").Pool(1) as pool:
    pool.apply(train)
"""


@pytest.mark.parametrize("end", [LOGGER, WORKER, BESIDE, FORKED], ids=["logger", "worker", "beside", "forked"])
def test_what_stays_away_from_the_tape_is_no_obstacle(end: str, auditor: Auditor) -> None:
    document = auditor.audit(BEGIN + end)
    assert document["verdict"] == "right", document["reason"]
    assert [rung["iteration"] for rung in document["ladder"]] == [0, 1, 2]


def test_a_thread_that_works_on_the_parameter_is_out_of_reach(auditor: Auditor) -> None:
    document = auditor.audit(BEGIN + MEDDLER)
    assert document["verdict"] == "undecided"
    assert "Another thread of the program works on arrays" in document["reason"]


def test_tapes_of_child_processes_are_said_not_to_be_looked_into(auditor: Auditor) -> None:
    document = auditor.audit(BEGIN + POOL)
    assert document["verdict"] == "nothing-to-check"
    assert "Processes that it starts are not looked into." in document["reason"]
