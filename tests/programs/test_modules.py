"""Programs of several files: run as a script or as a module, kernels and state spread over a package."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.programs

FILES = {
    "fit/__init__.py": "",
    "fit/kernels.py": """
import warp as wp


@wp.func
def bend(x: float):
    return x * x + wp.sin(x)


@wp.kernel
def step(rate: wp.array(dtype=float), before: wp.array(dtype=float), after: wp.array(dtype=float)):
    i = wp.tid()
    after[i] = before[i] + 0.2 * rate[i] * bend(before[i])
""",
    "fit/losses.py": """
import warp as wp

from fit.kernels import bend


@wp.kernel
def total(x: wp.array(dtype=float), loss: wp.array(dtype=float)):
    wp.atomic_add(loss, 0, bend(x[wp.tid()]))
""",
    "fit/model.py": """
import warp as wp

from . import kernels
from .losses import total


class Model:
    def __init__(self, buffers):
        self.rate = wp.array([0.3, 0.8], dtype=float, requires_grad=True)
        self.buffers = [wp.zeros(2, dtype=float, requires_grad=True) for _ in range(buffers)]

    def loss(self):
        count = len(self.buffers)
        self.buffers[0].fill_(0.5)
        for k in range(4):
            x, y = self.buffers[k % count], self.buffers[(k + 1) % count]
            wp.launch(kernels.step, dim=2, inputs=[self.rate, x], outputs=[y])  # <- overwrites
        loss = wp.zeros(1, dtype=float, requires_grad=True)
        wp.launch(total, dim=2, inputs=[self.buffers[4 % count], loss])
        return loss
""",
    "fit/__main__.py": """
import sys

import warp as wp

from fit.model import Model


def main():
    model = Model(int(sys.argv[1]))
    for _ in range(3):
        tape = wp.Tape()
        with tape:
            loss = model.loss()
        tape.backward(loss)
        model.rate.assign(model.rate.numpy() - 0.1 * model.rate.grad.numpy())
        tape.zero()


wp.set_device("cpu")
main()
""",
    "train.py": "import runpy\n\nrunpy.run_module('fit', run_name='__main__')\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("several_files")
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize("program", [["-m", "fit"], ["train.py"]], ids=["module", "script"])
def test_a_fault_is_placed_in_the_file_that_makes_it(program: list[str], folder: Path) -> None:
    command = [sys.executable, "-m", "retrograde", "audit", "--format", "json", *program, "--"]
    for buffers, verdict in ((2, "wrong"), (5, "right")):
        done = subprocess.run([*command, str(buffers)], cwd=folder, capture_output=True, text=True, timeout=120)
        document = json.loads(done.stdout)
        assert document["verdict"] == verdict, document["reason"]
        found = [(c["code"], Path(c["file"]).name, c["line"]) for c in document["causes"]]
        lines = FILES["fit/model.py"].splitlines()
        line = next(n for n, text in enumerate(lines, 1) if "# <- overwrites" in text)
        assert found == ([("RG101", "model.py", line)] if verdict == "wrong" else [])
