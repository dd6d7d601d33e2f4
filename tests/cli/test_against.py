"""`--against`: dense differences are faults, of one side or the other; at ties both sides are right."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tests.programs.labels import labelled_programs
from tests.support.auditing import Auditor
from tests.support.printed import read_printed

from retrograde.cli.main import run
from retrograde.gradients.other import LARGEST, OtherGradientsError, read_others

TIES = """
import numpy as np
import warp as wp

@wp.kernel
def hinge(x: wp.array(dtype=float), w: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, w[i] * wp.max(x[i], 0.0))

wp.set_device("cpu")
values = np.linspace(-1.0, 1.0, 41)
values[20] = 0.0
values[7] = 0.0
x = wp.array(values, dtype=float, requires_grad=True)
w = wp.array(1.0 + 0.01 * np.arange(41), dtype=float)
for it in range(3):
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(hinge, dim=41, inputs=[x, w, loss])
    tape.backward(loss)
    g = x.grad.numpy().copy()
    x.assign(np.where(values == 0.0, 0.0, x.numpy() - 0.001 * g))
    tape.zero()
"""


def _hinge_gradient(at_tie: float) -> np.ndarray:
    values = np.linspace(-1.0, 1.0, 41)
    values[[7, 20]] = 0.0
    return (1.0 + 0.01 * np.arange(41)) * np.where(values == 0.0, at_tie, values > 0.0)


def _compared(auditor: Auditor, program: Path | str, path: Path, **gradients: np.ndarray) -> dict:
    np.savez(path, **gradients)
    return auditor.audit(program, against=str(path), budget=60.0)


@pytest.mark.programs
def test_ties_are_told_from_faults(auditor: Auditor, tmp_path: Path) -> None:
    # Halfway between the one-sided slopes is what JAX takes at a tie; Warp takes one of the two.
    document = _compared(auditor, TIES, tmp_path / "r.npz", x=_hinge_gradient(0.5))
    (gradient,) = document["against"]["gradients"]
    assert document["verdict"] == "right"
    assert (gradient["nature"], gradient["differing"], gradient["size"]) == ("sparse, at ties and kinks", 2, 41)
    ties = {d["label"]: d for d in gradient["disputes"]}
    assert ties["element 7"]["admits_ours"] is ties["element 7"]["admits_theirs"] is True
    slopes = sorted(abs(ties["element 7"][side]) for side in ("left", "right"))
    assert slopes[0] == pytest.approx(0.0, abs=1e-3 * slopes[1])


@pytest.mark.programs
def test_few_elements_that_are_no_ties_are_a_fault_of_one_side(auditor: Auditor, tmp_path: Path) -> None:
    other = _hinge_gradient(0.0)
    other[33] *= 1.5
    document = _compared(auditor, TIES, tmp_path / "r.npz", x=other)
    (gradient,) = document["against"]["gradients"]
    assert gradient["nature"] == "sparse"
    assert "refute the other" in gradient["conclusion"]
    assert {d["label"] for d in gradient["disputes"]} >= {"element 33"}


def _twin_gradient(name: str) -> tuple[Path, str, np.ndarray]:
    program = next(p for p in labelled_programs() if p.name == name)
    done = subprocess.run([sys.executable, str(program.path)], capture_output=True, text=True, check=True)
    printed = read_printed(done.stdout)[0]
    (parameter,) = printed.parameters
    return program.path, parameter, program.gradient(printed)


@pytest.mark.programs
def test_a_reference_implementation_shows_a_dense_fault(auditor: Auditor, tmp_path: Path) -> None:
    path, _, exact = _twin_gradient("RG101/wall_slice")
    names = {ladder["parameter"] for ladder in auditor.audit(path)["ladder"]}
    (name,) = names
    document = _compared(auditor, path, tmp_path / "r.npz", **{name: exact})
    (gradient,) = document["against"]["gradients"]
    assert gradient["nature"] == "dense"
    assert "refute the gradient used. It is a fault." in gradient["conclusion"]
    assert all(d["admits_theirs"] for d in gradient["disputes"])
    mended, _, exact = _twin_gradient("RG101/wall_slice_mended")
    document = _compared(auditor, mended, tmp_path / "r.npz", **{name: exact, f"{name}@1": 2.0 * exact, "other": exact})
    first, second = document["against"]["gradients"]
    assert first["nature"] == "agrees"
    assert first["differing"] == 0
    assert second["nature"] == "dense"
    assert "refute the other" in second["conclusion"]
    assert document["against"]["unmatched"] == ["other@0"]
    assert document["verdict"] == "right"


@pytest.mark.programs
def test_another_shape_and_another_name_are_said(real) -> None:
    (real.folder / "ties.py").write_text(TIES)
    np.savez(real.folder / "r.npz", x=np.zeros(3), y=np.zeros(41))
    done = real.run("audit", "--budget", "60", "--against", "r.npz", "ties.py")
    assert done.returncode == 0
    assert "x, iteration 0: another shape" in done.stdout
    assert "not compared: y@0" in done.stdout


def _npz(path: Path, **members: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)
    return path


def _npy(header: str) -> bytes:
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def _object_array() -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("members", "complaint"),
    [
        ({}, "holds no arrays"),
        ({"w": b""}, "w is no array"),
        ({"w": b"garbage" * 9}, "w is no array"),
        ({"w": _object_array()}, "holds object, not numbers"),
        ({"w": _npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }")}, "ends before its"),
        ({"w": _npy("{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }")}, "w "),
        ({"w": _npy("__import__('os').abort()")}, "w is no array"),
        ({"w": _npy("{'descr': '<c16', 'fortran_order': False, 'shape': (), }")}, "holds complex128"),
        ({"w@x": _npy("{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }")}, "no iteration"),
    ],
    ids=range(9),
)
def test_a_file_without_gradients_is_refused(members, complaint, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("retrograde.cli.audit.supervise", lambda *_a, **_k: pytest.fail("the program ran"))
    path = _npz(tmp_path / "r.npz", **members)
    assert run(["audit", "--against", str(path), "train.py"]) == 64
    assert complaint in capsys.readouterr().err


def test_what_is_no_archive_is_refused(tmp_path, capsys):
    assert run(["audit", "--against", str(tmp_path / "none.npz"), "train.py"]) == 64
    assert "No such file" in capsys.readouterr().err
    path = tmp_path / "r.npz"
    path.write_bytes(json.dumps({"w": [1.0]}).encode())
    assert run(["audit", "--against", str(path), "train.py"]) == 64
    assert "is no npz file" in capsys.readouterr().err


def test_an_archive_that_would_unpack_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("retrograde.gradients.other.LARGEST", 100)
    np.savez_compressed(tmp_path / "r.npz", w=np.zeros(1000))
    with pytest.raises(OtherGradientsError, match="at most"):
        read_others(tmp_path / "r.npz")
    assert LARGEST > 100


def test_arrays_come_back_as_they_were_written(tmp_path):
    w, b = np.arange(6.0).reshape(2, 3), np.array([1, 2], dtype=np.int32)
    np.savez_compressed(tmp_path / "r.npz", **{"net.w": w, "b@12": b, "f": np.asfortranarray(w.astype(np.float32))})
    others = read_others(tmp_path / "r.npz")
    assert set(others) == {("net.w", 0), ("b", 12), ("f", 0)}
    np.testing.assert_array_equal(others["net.w", 0], w)
    np.testing.assert_array_equal(others["f", 0], w)
    np.testing.assert_array_equal(others["b", 12], b)


def test_the_command_itself_still_imports_no_warp():
    code = "import sys, retrograde.cli.audit; sys.exit('warp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
