"""Re-executions of a program that talks to the world: nothing of them may reach it."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from tests.support.auditing import Auditor

pytestmark = pytest.mark.programs

_PROGRAM = """
import ctypes, io, os, pathlib, shutil, subprocess, sys, tempfile
import numpy as np
import warp as wp

OUT = pathlib.Path({out!r})

@wp.kernel
def energy(x: wp.array(dtype=float), w: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, w[i] * x[i] * x[i] * x[i])

x = wp.array([0.5, -1.0, 2.0], dtype=float, requires_grad=True)
w = wp.array([1.0, 2.0, 3.0], dtype=float)
{before}
for it in range(3):
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    (ctypes.c_float * 3).from_address(w.ptr)[0] = 1.5 + it        # unseen: only re-execution is the truth
    tape = wp.Tape()
    with tape:
        wp.launch(energy, dim=3, inputs=[x, w, loss])
{during}
    tape.backward(loss)
    print("iteration", it, float(loss.numpy()[0]))
    x.assign(x.numpy() - 0.01 * x.grad.numpy())
    tape.zero()
{after}
"""


def _program(out: Path, before: str = "", during: str = "", after: str = "") -> str:
    body = "\n".join("    " + line for line in during.splitlines())
    return _PROGRAM.format(out=str(out), before=before, during=body, after=after)


_WAYS: dict[str, dict[str, str]] = {
    "an open log": {
        "before": 'log = open(OUT / "log", "w")',
        "during": 'log.write(f"{it} {x.numpy().tolist()}\\n"); log.flush()',
        "after": "log.close()",
    },
    "a log with a buffer": {
        "before": 'buffered = open(OUT / "buffered", "w")\nbuffered.write("begin\\n")',
        "during": 'buffered.write(f"{it}\\n")',
        "after": "buffered.close()",
    },
    "appending anew each time": {
        "during": 'with open(OUT / "appended", "a") as f:\n    f.write(f"{it} {loss.numpy()[0]}\\n")'
    },
    "reading back": {
        "before": '(OUT / "count").write_text("0")',
        "during": 'n = int((OUT / "count").read_text()) + 1\n(OUT / "count").write_text(str(n))',
    },
    "checkpoints": {"during": 'np.save(OUT / f"x{it}.npy", x.numpy())\nnp.savez(OUT / "last.npz", x=x.numpy())'},
    "removing and renaming": {
        "before": '(OUT / "old").write_text("old")\n(OUT / "kept").write_text("kept")',
        "during": 'if it == 2:\n    (OUT / "old").unlink(); os.rename(OUT / "kept", OUT / "moved")',
    },
    "an open descriptor": {
        "before": 'fd = os.open(OUT / "raw", os.O_CREAT | os.O_WRONLY)',
        "during": 'os.write(fd, f"{it}\\n".encode())',
        "after": "os.close(fd)",
    },
    "reading on from a shared offset": {
        "before": '(OUT / "data").write_text("a\\nb\\nc\\n")\nsource = open(OUT / "data")',
        "during": 'line = os.read(source.fileno(), 2)\n(OUT / f"line{it}").write_bytes(line)',
        "after": "source.close()",
    },
}


def _tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def _together(part: str) -> str:
    return "\n".join(way[part] for way in _WAYS.values() if part in way)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="re-executions are forks")
def test_files_are_those_of_a_plain_run(auditor: Auditor, tmp_path: Path) -> None:
    plain, audited = tmp_path / "plain", tmp_path / "audited"
    for folder in (plain, audited):
        folder.mkdir()
    parts = {part: _together(part) for part in ("before", "during", "after")}
    outcome = auditor.run(_program(plain, **parts))
    assert outcome.ok, outcome.stderr
    document = auditor.audit(_program(audited, **parts), iterations=20)
    assert len(_tree(plain)) >= 2 * len(_WAYS) - 4
    assert _tree(audited) == _tree(plain)
    assert document["verdict"] == "right", document["reason"]
    assert "re-execution" in {d["reference"]["how"] for d in document["ladder"]}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_no_process_and_no_folder_is_left(auditor: Auditor, tmp_path: Path) -> None:
    marked = f"marker-{os.getpid()}"
    folder, scratch = tmp_path / marked, tmp_path / "scratch"
    folder.mkdir()
    scratch.mkdir()
    change = f"os.chdir({str(folder)!r})"
    auditor.audit(_program(folder, before=change), iterations=20, scratch=str(scratch))
    time.sleep(0.2)
    assert list(scratch.iterdir()) == []
    assert list(folder.iterdir()) == []
    there: list[str] = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            there.append(os.readlink(f"/proc/{process}/cwd"))
        except OSError:
            continue
    assert not [path for path in there if marked in path]
