"""`--evidence`: the script in the folder gets the report's numbers from the program itself, without Retrograde."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.cli.conftest import Command
from tests.programs.labels import HERE

from retrograde.cli.main import run
from retrograde.result import Audit, Verdict

STRUCTS = """
import sys
import numpy as np
import warp as wp

@wp.struct
class Body:
    stiffness: wp.array(dtype=float)
    rest: wp.array(dtype=wp.vec2)

@wp.kernel
def pull(body: Body, x: wp.array(dtype=wp.vec2), y: wp.array(dtype=wp.vec2)):
    i = wp.tid()
    d = x[i] - body.rest[i]
    y[i] = x[i] - body.stiffness[i] * wp.length_sq(d) * d

wp.set_device("cpu")
stretch = float(sys.argv[1])
body = Body()
everything = wp.array([9.0, 0.3, 0.7, 0.5], dtype=float, requires_grad=True)
body.stiffness = everything[1:]
body.rest = wp.zeros(3, dtype=wp.vec2, requires_grad=True)
start = np.array([[0.4, 0.1], [-0.3, 0.8], [0.9, -0.5]]) * stretch
for it in range(2):
    x = wp.array(start, dtype=wp.vec2, requires_grad=True)
    y = wp.zeros(3, dtype=wp.vec2, requires_grad=True)
    z = wp.zeros(3, dtype=wp.vec2, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(pull, dim=3, inputs=[body, x], outputs=[y])
        wp.launch(pull, dim=3, inputs=[body, y], outputs=[z])
    seed = wp.array([[1.0, 2.0], [-1.0, 0.5], [0.3, 0.3]], dtype=wp.vec2)
    tape.backward(grads={z: seed})
    g = everything.grad.numpy().copy()
    everything.assign(everything.numpy() - 0.01 * g)
    tape.zero()
"""


def _measured_again(command: Command, folder: Path) -> list[dict]:
    """What the script finds; only numpy, warp and the program are there for it."""
    environment = {k: v for k, v in command.environment.items() if k != "PYTHONPATH"}
    blocked = folder.parent / "blocked" / "retrograde"
    blocked.mkdir(parents=True)
    (blocked / "__init__.py").write_text("raise ImportError('the script must not need the auditor')\n")
    done = subprocess.run(
        [sys.executable, str(folder / "differences.py")],
        capture_output=True, text=True, check=False, cwd="/", env=environment | {"PYTHONPATH": str(blocked.parent)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "measured.json").read_text())


def _agrees(command: Command, folder: Path) -> int:
    plan = json.loads((folder / "plan.json").read_text())
    reported = {(e["parameter"], e["iteration"], d["label"]): d for e in plan["parameters"] for d in e["directions"]}
    found = _measured_again(command, folder)
    assert len(found) == len(reported)
    for entry in found:
        direction = reported[entry["parameter"], entry["iteration"], entry["label"]]
        near = 4.0 * direction["error"] + 2e-3 * abs(direction["reference"])
        assert entry["slope"] == pytest.approx(direction["reference"], abs=near), entry
    return len(found)


@pytest.mark.programs
def test_the_script_gets_the_numbers_of_the_report(real: Command) -> None:
    program = HERE / "RG101" / "wall_slice.py"
    done = real.run("audit", "--budget", "60", "--iterations", "1", "--evidence", "proof", str(program))
    assert done.returncode == 1
    folder = real.folder / "proof"
    assert _agrees(real, folder) >= 3
    plan = json.loads((folder / "plan.json").read_text())
    arrays = np.load(folder / "arrays.npz")
    for n, entry in enumerate(plan["parameters"]):
        for m, direction in enumerate(entry["directions"]):
            for rung in ("consumed", "taped", "ideal"):
                slope = float(np.vdot(arrays[f"{n}.{rung}"], arrays[f"{n}.{m}.direction"]))
                assert slope == pytest.approx(direction[rung], rel=1e-6, abs=1e-12)
    report = json.loads((folder / "report.json").read_text())
    assert report["verdict"] == "wrong"
    assert report["ladder"][0]["consumed"]["values"] == arrays["0.consumed"].ravel().tolist()
    assert "WRONG" in (folder / "report.txt").read_text()
    assert "numpy, warp and the program" in (folder / "README.md").read_text()


@pytest.mark.programs
def test_slices_structs_vectors_seeds_and_arguments(real: Command) -> None:
    real.write("deep/train.py", STRUCTS)
    done = real.run("audit", "--budget", "60", "--evidence", "new/proof", "deep/train.py", "--", "1.5")
    assert done.returncode == 0, done.stdout
    assert _agrees(real, real.folder / "new" / "proof") >= 4


@pytest.mark.programs
def test_what_cannot_be_measured_without_the_auditor_is_said(real: Command) -> None:
    program = sorted((HERE / "RG207").glob("*.py"))[0]
    assert real.run("audit", "--budget", "60", "--evidence", "proof", str(program)).returncode == 1
    plan = json.loads((real.folder / "proof" / "plan.json").read_text())
    assert {entry["obstacle"] for entry in plan["parameters"]} == {"it reaches kernels as numbers"}
    assert _measured_again(real, real.folder / "proof") == []


def test_a_program_that_cannot_run_leaves_its_report(real: Command) -> None:
    real.write("train.py", "raise RuntimeError('no')\n")
    assert real.run("audit", "--evidence", "proof", "train.py").returncode == 3
    assert json.loads((real.folder / "proof" / "report.json").read_text())["verdict"] == "not-run"


def test_a_folder_with_something_in_it_is_refused(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("retrograde.cli.audit.supervise", lambda *_a, **_k: pytest.fail("the program ran"))
    (tmp_path / "notes.txt").write_text("mine")
    assert run(["audit", "--evidence", str(tmp_path), "train.py"]) == 64
    assert "is not empty" in capsys.readouterr().err
    assert run(["audit", "--evidence", str(tmp_path / "notes.txt" / "proof"), "train.py"]) == 64
    assert "cannot be written" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["notes.txt"]


def test_a_full_disk_leaves_the_report_and_nothing_else(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("retrograde.cli.audit.supervise", lambda *_a, **_k: Audit(Verdict.RIGHT, "It agrees."))
    monkeypatch.setattr(np, "savez_compressed", _no_room)
    assert run(["audit", "--evidence", str(tmp_path / "new" / "proof"), "train.py"]) == 64
    said = capsys.readouterr()
    assert "It agrees." in said.out
    assert said.err.endswith("proof cannot be written: No space left on device.\n")
    assert os.listdir(tmp_path) == []


def _no_room(path: Path, **_arrays: object) -> None:
    path.write_bytes(b"half")
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
