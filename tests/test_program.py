"""Running a program in this process; `tests/cli/test_like_python.py` compares with `python` itself."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from types import ModuleType

import pytest

import retrograde
from retrograde.program import End, execute, remove_temporary_folders, temporary_folders
from retrograde.request import AuditRequest

OBSERVER = Path(retrograde.__file__).parent / "trace" / "planted.py"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Runs a source text as a program, and gives this process its own state back afterwards."""
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])

    def run(source: str):
        path = tmp_path / "train.py"
        path.write_text(source)
        return execute(AuditRequest(script=str(path)))

    return run


@pytest.fixture
def observed(monkeypatch: pytest.MonkeyPatch):
    """Makes a module `observed` whose `call` goes through a frame of the auditor to a callee in another module."""

    def make(callee_module: str, callee: str, observer: str = "def call(x):\n    return callee(x)\n") -> None:
        inner = ModuleType(callee_module)
        exec(compile(callee, f"<{callee_module}>", "exec"), inner.__dict__)
        outer = ModuleType("observed")
        outer.__dict__["callee"] = inner.__dict__.get("callee")
        exec(compile(observer, str(OBSERVER), "exec"), outer.__dict__)
        monkeypatch.setitem(sys.modules, "observed", outer)

    return make


PROGRAM = "from observed import call\ndef step():\n    call(0)\nstep()\n"


def test_an_error_of_the_observed_call_is_the_programs_and_the_observer_is_not_in_it(script, observed, capsys):
    observed("warp.planted", "def callee(x):\n    return 1 / x\n")
    ending = script(PROGRAM)
    assert (ending.end, ending.ran, ending.reason) == (End.RAISED, False, "ZeroDivisionError: division by zero")
    err = capsys.readouterr().err
    assert "in step" in err
    assert "in callee" in err
    assert "planted.py" not in err
    assert "program.py" not in err


def test_an_error_in_the_observer_is_not_the_programs(script, observed):
    observed("warp.planted", "", observer="def call(x):\n    return 1 / x\n")
    with pytest.raises(ZeroDivisionError):
        script(PROGRAM)


def test_an_error_in_what_the_observer_uses_is_not_the_programs(script, observed):
    observed("numpy.planted", "def callee(x):\n    return 1 / x\n")
    with pytest.raises(ZeroDivisionError):
        script(PROGRAM)


def test_an_error_of_the_observed_call_that_the_program_handles_is_no_error(script, observed):
    observed("warp.planted", "def callee(x):\n    return 1 / x\n")
    assert (
        script(f"try:\n    {PROGRAM.replace(chr(10), chr(10) + '    ')}\nexcept OSError:\n    pass\n").end is End.RAISED
    )
    handled = "from observed import call\ntry:\n    call(0)\nexcept ZeroDivisionError:\n    pass\n"
    assert script(handled).end is End.FINISHED


def test_temporary_folders_are_removed_as_at_the_end_of_the_interpreter():
    with tempfile.TemporaryDirectory() as older:
        spare = temporary_folders()
        newer = tempfile.TemporaryDirectory()
        other = tempfile.mkdtemp()
        remove_temporary_folders(spare)
        assert not Path(newer.name).exists()
        assert Path(older).exists()
        assert Path(other).exists()
    Path(other).rmdir()


def test_ctrl_c_is_not_an_ending(script):
    with pytest.raises(KeyboardInterrupt):
        script("raise KeyboardInterrupt")


@pytest.mark.parametrize(
    ("call", "status", "reason"),
    [
        ("", 0, ""),
        ("0", 0, ""),
        ("3", 3, "The program exited with status 3."),
        ("-1", 255, "The program exited with status -1."),
        ("'no data'", 1, "The program exited with the message: no data"),
    ],
)
def test_sys_exit(script, call, status, reason):
    ending = script(f"import sys\nsys.exit({call})")
    assert (ending.end, ending.status, ending.reason) == (End.EXITED, status, reason)
