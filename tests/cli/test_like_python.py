"""A program under audit cannot tell that it is not run by `python`."""

from __future__ import annotations

import sys

import pytest

PYTHON = (sys.executable,)

MIRROR = """\
import __main__, os, sys, threading
print(sys.argv, sys.path[0], os.getcwd())
print(__name__, __file__, __package__, __spec__ and __spec__.name, __builtins__.__name__, __doc__)
print(__main__.__file__, __main__ is sys.modules["__main__"], sorted(vars(__main__)))
print(sys.stdin.read().upper(), threading.active_count(), sys.flags.optimize)
import beside
print("to stderr", file=sys.stderr)
"""


def both(shell, *call, stdin=""):
    """What the program prints under `python`, and under audit with the report in a file."""
    plain = shell.run(*call, stdin=stdin, launcher=PYTHON)
    options = ["--output", str(shell.temporary.parent / "report.txt")]
    program = list(call)
    if program[0] == "-m":
        program[2:2] = ["--"] if program[2:] else []
    elif program[1:]:
        program.insert(1, "--")
    audited = shell.run("audit", *options, *program, stdin=stdin)
    assert shell.left_behind() == []
    return plain, audited


@pytest.mark.parametrize("args", [(), ("--lr", "0.1", "--", "-m", "")])
def test_script_sees_its_arguments_folder_and_streams(shell, args):
    shell.write("jobs/train.py", MIRROR)
    shell.write("jobs/beside.py", "print('beside the script', __name__)")
    plain, audited = both(shell, "jobs/train.py", *args, stdin="standard input")
    assert "STANDARD INPUT" in plain.stdout
    assert audited.stdout == plain.stdout
    assert audited.stderr == plain.stderr
    assert audited.returncode == 0


def test_module_and_package_see_what_python_m_shows(shell):
    shell.write("pkg/__init__.py", "")
    shell.write("pkg/__main__.py", MIRROR)
    shell.write("pkg/train.py", MIRROR)
    shell.write("beside.py", "print('in the working folder')")
    for name in ("pkg", "pkg.train"):
        plain, audited = both(shell, "-m", name, "--lr", "0.1")
        assert "working folder" in plain.stdout
        assert audited.stdout == plain.stdout


def test_folder_with_main(shell):
    shell.write("app/__main__.py", MIRROR)
    shell.write("app/beside.py", "print('in the app')")
    plain, audited = both(shell, "app")
    assert "in the app" in plain.stdout
    assert audited.stdout == plain.stdout


def test_files_of_the_working_folder_do_not_shadow_the_auditors_imports(shell):
    for name in ("json", "click", "rich", "pickle", "numpy", "retrograde"):
        shell.write(f"{name}.py", "raise SystemExit('shadowed')")
    shell.write("elsewhere/train.py", "print('ran')")
    result = shell.run("audit", "elsewhere/train.py")
    assert result.stdout.startswith("ran\n")
    assert result.returncode == 0


def test_multiprocessing_finds_the_main_module(shell):
    shell.write(
        "train.py",
        "import multiprocessing\n"
        "def square(x):\n    return x * x\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(1) as pool:\n"
        "        print(pool.map(square, [2, 3]))\n",
    )
    plain, audited = both(shell, "train.py")
    assert plain.stdout == "[4, 9]\n"
    assert audited.stdout == plain.stdout


def test_exit_handlers_run(shell):
    shell.write("train.py", "import atexit\natexit.register(print, 'goodbye')\nprint('hello')")
    plain, audited = both(shell, "train.py")
    assert audited.stdout == plain.stdout == "hello\ngoodbye\n"


RAISING = {
    "plain": "def f(x):\n    return 1 / x\n\nf(0)\n",
    "chained": "try:\n    {}['k']\nexcept KeyError as e:\n    raise ValueError('worse') from e\n",
    "group": "raise ExceptionGroup('several', [ValueError(1), ExceptionGroup('inner', [OSError(2)])])\n",
    "syntax": "def f(:\n    pass\n",
    "import": "import no_such_module\n",
    "own hook": "import sys\nsys.excepthook = lambda *a: print('HOOK', a[0].__name__, file=sys.stderr)\n1 / 0\n",
    "note": "e = ValueError('x')\ne.add_note('a note')\nraise e\n",
}


@pytest.mark.parametrize("source", RAISING.values(), ids=RAISING)
def test_a_traceback_is_the_programs_own(shell, source):
    shell.write("train.py", source)
    plain, audited = both(shell, "train.py")
    assert plain.returncode == 1
    assert audited.stderr == plain.stderr
    assert audited.returncode == 3


@pytest.mark.parametrize("call", ["", "0", "None", "3", "'a message'", "True"])
def test_sys_exit(shell, call):
    shell.write("train.py", f"import sys\nprint('before')\nsys.exit({call})\nprint('never')")
    plain, audited = both(shell, "train.py")
    assert (audited.stdout, audited.stderr) == (plain.stdout, plain.stderr)
    assert audited.returncode == 0
