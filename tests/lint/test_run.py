"""Files, folders, comments and settings of `retrograde lint`, as its user meets them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

_KERNEL = """import warp as wp


@wp.kernel
def scale(a: wp.array(dtype=float)):
    a[wp.tid()] *= 2.0{comment}
"""


def _lint(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "retrograde", "lint", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def _write(folder: Path, comment: str = "", name: str = "train.py") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_KERNEL.format(comment=comment), encoding="utf-8")
    return path


def test_a_suspicion_names_file_line_and_code(tmp_path: Path) -> None:
    _write(tmp_path)
    done = _lint(".", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("train.py:6:5: RG401 ")
    assert "An audit" in done.stdout
    assert done.stderr == ""


def test_nothing_found_is_success(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text("print(1)\n", encoding="utf-8")
    done = _lint(tmp_path, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "0 suspicions in 1 file with 0 kernels and functions.\n")


def test_a_comment_with_a_reason_lets_a_line_pass(tmp_path: Path) -> None:
    _write(tmp_path, "  # retrograde: ignore[RG401] never differentiated")
    assert _lint(".", cwd=tmp_path).returncode == 0


def test_a_comment_above_lets_the_next_line_pass(tmp_path: Path) -> None:
    text = _KERNEL.format(comment="").replace("    a[", "    # retrograde: ignore[RG401] never differentiated\n    a[")
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    assert _lint(".", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("comment", ["  # retrograde: ignore[RG401]", "  # retrograde: ignore"])
def test_a_comment_without_reason_or_code_lets_nothing_pass(tmp_path: Path, comment: str) -> None:
    _write(tmp_path, comment)
    done = _lint(".", cwd=tmp_path)
    assert done.returncode == 1
    assert "gives no reason" in done.stdout or "names no code" in done.stderr


def test_a_comment_with_nothing_to_ignore_is_told(tmp_path: Path) -> None:
    _write(tmp_path, "  # retrograde: ignore[RG401, RG403] never differentiated")
    other = "import warp as wp\nx = 1  # retrograde: ignore[RG101] it is so\n"
    (tmp_path / "other.py").write_text(other, encoding="utf-8")
    done = _lint(".", cwd=tmp_path)
    assert done.returncode == 0
    assert "other.py:2: nothing to ignore here for RG101." in done.stderr


def test_json_is_one_object(tmp_path: Path) -> None:
    _write(tmp_path)
    document = json.loads(_lint("--format", "json", ".", cwd=tmp_path).stdout)
    assert document["schema"] == 1
    (suspicion,) = document["suspicions"]
    assert (suspicion["code"], suspicion["name"], suspicion["line"]) == ("RG401", "in-place-multiply", 6)


def test_select_and_ignore_take_beginnings_of_codes(tmp_path: Path) -> None:
    _write(tmp_path)
    assert _lint("--select", "RG1,RG2", ".", cwd=tmp_path).returncode == 0
    assert _lint("--select", "RG4", ".", cwd=tmp_path).returncode == 1
    assert _lint("--select", "RG4", "--ignore", "rg401", ".", cwd=tmp_path).returncode == 0


def test_settings_are_read_from_the_nearest_pyproject(tmp_path: Path) -> None:
    _write(tmp_path, name="package/train.py")
    _write(tmp_path, name="vendored/train.py")
    settings = '[tool.retrograde]\nexclude = ["vendored"]\n'
    (tmp_path / "pyproject.toml").write_text(settings, encoding="utf-8")
    assert _lint(".", cwd=tmp_path).stdout.count("RG401 `") == 1
    (tmp_path / "pyproject.toml").write_text(settings + 'ignore = ["RG401"]\n', encoding="utf-8")
    assert _lint("package", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool.retrograde]\nignored = []\n", "no setting 'ignored'"),
        ('[tool.retrograde]\nselect = "RG4"\n', "list of strings"),
        ('[tool.retrograde]\nselect = ["RG9"]\n', "no pattern RG9"),
        ("[tool.retrograde\n", "pyproject.toml"),
    ],
)
def test_wrong_settings_are_refused_with_the_place(tmp_path: Path, text: str, said: str) -> None:
    _write(tmp_path)
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    done = _lint(".", cwd=tmp_path)
    assert done.returncode == 64
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"def f(:\n", "line 1"),
        (b"x = '\xff'\n", "encoding"),
        (b"\0\0\0", "Python"),
        (b"# coding: nonsense\n", "encoding"),
        (b"x = " + b"(" * 5000 + b")" * 5000, "bad.py"),
        (b"import warp\nx = " + b"-" * 20000 + b"1", "bad.py"),
        (b"#" * (6 << 20), "5 MB"),
    ],
    ids=["syntax", "bytes", "nul", "coding", "nested", "signs", "large"],
)
def test_files_that_are_no_python_are_named_and_the_others_looked_at(tmp_path: Path, data: bytes, said: str) -> None:
    _write(tmp_path)
    (tmp_path / "bad.py").write_bytes(data)
    done = _lint(".", cwd=tmp_path)
    assert done.returncode == 3
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert "train.py:6:5: RG401" in done.stdout


def test_a_folder_above_or_hidden_is_looked_at_when_it_is_named(tmp_path: Path) -> None:
    _write(tmp_path, name="project/train.py")
    _write(tmp_path, name=".hidden/train.py")
    (tmp_path / "here").mkdir()
    assert _lint("../project", cwd=tmp_path / "here").stdout.startswith("../project/train.py:6:5: RG401")
    assert _lint(".hidden", cwd=tmp_path).stdout.startswith(".hidden/train.py:6:5: RG401")
    assert _lint(".", cwd=tmp_path).stdout.count("RG401 `") == 1


def test_no_paths_and_no_such_path_are_usage_errors(tmp_path: Path) -> None:
    assert _lint(cwd=tmp_path).returncode == 64
    done = _lint("nowhere", cwd=tmp_path)
    assert done.returncode == 64
    assert "nowhere" in done.stderr


def test_functions_of_kernels_without_adjoint_are_let_pass_over_files(tmp_path: Path) -> None:
    functions = "import warp as wp\n\n@wp.func\ndef twice(a: wp.array(dtype=float), i: int):\n    a[i] *= 2.0\n"
    (tmp_path / "functions.py").write_text(functions, encoding="utf-8")
    kernel = (
        "import warp as wp\nfrom functions import twice\n\n"
        "@wp.kernel{}\ndef k(a: wp.array(dtype=float)):\n    twice(a, wp.tid())\n"
    )
    (tmp_path / "kernels.py").write_text(kernel.format("(enable_backward=False)"), encoding="utf-8")
    assert _lint(".", cwd=tmp_path).returncode == 0
    (tmp_path / "kernels.py").write_text(kernel.format(""), encoding="utf-8")
    assert _lint(".", cwd=tmp_path).returncode == 1


def test_lint_starts_without_warp(tmp_path: Path) -> None:
    _write(tmp_path)
    code = "import sys; from retrograde.cli.main import run; run(['lint', '.']); sys.exit('warp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
