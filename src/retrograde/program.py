"""Runs a program in this process as `python` would run it."""

from __future__ import annotations

import gc
import importlib.machinery
import importlib.util
import os
import sys
import tempfile
import traceback
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import Any

from retrograde.request import AuditRequest

_PACKAGE = Path(__file__).resolve().parent
_AUDITOR = tuple(
    str(_PACKAGE / part)
    for part in (
        "program.py",
        "audit.py",
        f"trace{os.sep}",
        f"gradients{os.sep}",
        f"causes{os.sep}",
        f"report{os.sep}",
        f"cli{os.sep}",
    )
)
_OBSERVED = "warp"


class End(Enum):
    """How a program ended; the value is a phrase for messages."""

    FINISHED = "ran to its end"
    EXITED = "called sys.exit"
    RAISED = "raised an exception"
    NOT_FOUND = "could not be found"


@dataclass(frozen=True)
class Ending:
    """How a program ended.

    Attributes:
        end: In which way.
        status: The exit status that `python` would have had.
        reason: One line for a report: the exception's last line, the file that is missing; else empty.
    """

    end: End = End.FINISHED
    status: int = 0
    reason: str = ""

    @property
    def ran(self) -> bool:
        """Whether the program ran to an end of its own making, which an uncaught exception is not."""
        return self.end in (End.FINISHED, End.EXITED)


@dataclass(frozen=True)
class _Loaded:
    code: CodeType
    module: ModuleType
    argv0: str


class _MissingProgramError(Exception):
    pass


def execute(request: AuditRequest) -> Ending:
    """Run the program of `request` to its end, in this process.

    The program sees the `sys.argv`, `sys.path[0]` and `__main__` that it has under `python`, and they stay in place
    afterwards. What it raises is shown on standard error by its own `sys.excepthook`, without the frames of the
    auditor.

    Raises:
        KeyboardInterrupt: The program was interrupted.
        Exception: Something in the auditor failed while it observed the program.
    """
    try:
        loaded = _load(request)
    except _MissingProgramError as error:
        return Ending(End.NOT_FOUND, 2, str(error))
    except Exception as error:
        return _show(error)
    sys.argv[:] = [loaded.argv0, *request.args]
    sys.modules["__main__"] = loaded.module
    try:
        exec(loaded.code, loaded.module.__dict__)
    except SystemExit as error:
        return _exited(error)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if _is_auditors(error):
            raise
        return _show(error)
    finally:
        _flush()
    return Ending()


def temporary_folders() -> frozenset[str]:
    """Names of the folders of all `TemporaryDirectory` objects of this process."""
    return frozenset(str(folder.name) for folder in _temporary_directories())


def remove_temporary_folders(spare: frozenset[str]) -> None:
    """Remove the folders of every `TemporaryDirectory`, Warp's included, as the end of the interpreter would.

    For a process that ends by `os._exit`, so that no handler of the program runs.

    Args:
        spare: Names to leave alone: a forked process also knows those of its parent.
    """
    for folder in _temporary_directories():
        if str(folder.name) not in spare:
            folder.cleanup()


def _temporary_directories() -> list[Any]:
    # By its type: to ask for the class of an object that stands in for another may run the program's code.
    kind = tempfile.TemporaryDirectory
    return [item for item in gc.get_referrers(kind, *_subclasses(kind)) if issubclass(type(item), kind)]


def _subclasses(kind: type) -> list[type]:
    found = type.__subclasses__(kind)
    return found + [below for one in found for below in _subclasses(one)]


def _load(request: AuditRequest) -> _Loaded:
    if request.module is not None:
        return _load_module(request.module)
    assert request.script is not None
    if Path(request.script).is_dir() or _is_container(request.script):
        return _load_container(request.script)
    return _load_script(request.script)


def _load_script(script: str) -> _Loaded:
    path = Path(script)
    _set_first_path(str(path.resolve().parent))
    try:
        source = path.read_bytes()
    except OSError as error:
        raise _MissingProgramError(f"{script}: {error.strerror}.") from error
    absolute = str(Path(os.path.abspath(script)))
    code = compile(source, absolute, "exec", dont_inherit=True)
    loader = importlib.machinery.SourceFileLoader("__main__", absolute)
    module = _main_module(absolute, loader)
    return _Loaded(code, module, script)


def _load_module(name: str) -> _Loaded:
    _set_first_path(os.getcwd())
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            name = f"{name}.__main__"
            spec = importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        raise _MissingProgramError(f"No module named {error.name}.") from error
    if spec is None:
        raise _MissingProgramError(f"No module named {name}.")
    return _load_spec(spec, spec.origin or name)


def _load_container(path: str) -> _Loaded:
    _set_first_path(os.path.abspath(path))
    spec = importlib.machinery.PathFinder.find_spec("__main__", [path])
    if spec is None:
        raise _MissingProgramError(f"{path}: there is no __main__ module in it.")
    return _load_spec(spec, path)


def _load_spec(spec: importlib.machinery.ModuleSpec, argv0: str) -> _Loaded:
    get_code = getattr(spec.loader, "get_code", None)
    code = None if get_code is None else get_code(spec.name)
    if not isinstance(code, CodeType):
        raise _MissingProgramError(f"{spec.name} has no Python code.")
    module = _main_module(spec.origin, spec.loader)
    module.__spec__ = spec
    module.__package__ = spec.parent
    module.__dict__["__cached__"] = spec.cached
    return _Loaded(code, module, argv0)


def _main_module(file: str | None, loader: object) -> ModuleType:
    module = ModuleType("__main__")
    namespace = module.__dict__
    namespace["__builtins__"] = sys.modules["builtins"]
    namespace["__file__"] = file
    namespace["__loader__"] = loader
    namespace["__cached__"] = None
    namespace["__annotations__"] = {}
    return module


def _set_first_path(folder: str) -> None:
    if not os.environ.get("PYTHONSAFEPATH"):
        sys.path.insert(0, folder)


def _is_container(path: str) -> bool:
    return importlib.machinery.PathFinder.find_spec("__main__", [path]) is not None


def _exited(error: SystemExit) -> Ending:
    if error.code is None or error.code == 0:
        return Ending(End.EXITED)
    if isinstance(error.code, int):
        return Ending(End.EXITED, error.code & 0xFF, f"The program exited with status {error.code}.")
    print(error.code, file=sys.stderr)  # noqa: T201
    return Ending(End.EXITED, 1, f"The program exited with the message: {error.code}")


def _show(error: BaseException) -> Ending:
    """Show an exception of the program as `python` would; the frames of the auditor are cut out of it for good."""
    _strip(error, set())
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except Exception as fault:  # of the program's own hook, or for want of one
        _strip(fault, set())
        print("Error in sys.excepthook:", file=sys.stderr)  # noqa: T201
        sys.__excepthook__(type(fault), fault, fault.__traceback__)
        print("\nOriginal exception was:", file=sys.stderr)  # noqa: T201
        sys.__excepthook__(type(error), error, error.__traceback__)
    return Ending(End.RAISED, 1, traceback.format_exception_only(error)[-1].strip())


def _strip(error: BaseException | None, seen: set[int]) -> None:
    if error is None or id(error) in seen:
        return
    seen.add(id(error))
    error.__traceback__ = _without_auditor(error.__traceback__)
    _strip(error.__cause__, seen)
    _strip(error.__context__, seen)
    if isinstance(error, BaseExceptionGroup):
        for member in error.exceptions:  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
            _strip(member, seen)  # pyright: ignore[reportUnknownArgumentType]


def _without_auditor(frames: TracebackType | None) -> TracebackType | None:
    kept = [frame for frame in _chain(frames) if not _in_auditor(frame)]
    if not kept:
        return None
    for frame, following in pairwise(kept):
        frame.tb_next = following
    kept[-1].tb_next = None
    return kept[0]


def _is_auditors(error: BaseException) -> bool:
    """Whether the auditor itself failed: its innermost frame called something else than the call that it observes."""
    frames = _chain(error.__traceback__)
    ours = [index for index, frame in enumerate(frames) if _in_auditor(frame)]
    if not ours or ours[-1] == 0:
        return False
    following = frames[ours[-1] + 1 :]
    if not following:
        return True
    module = str(following[0].tb_frame.f_globals.get("__name__", ""))
    return module.partition(".")[0] != _OBSERVED


def _chain(frames: TracebackType | None) -> list[TracebackType]:
    chain: list[TracebackType] = []
    while frames is not None:
        chain.append(frames)
        frames = frames.tb_next
    return chain


def _in_auditor(frame: TracebackType) -> bool:
    return frame.tb_frame.f_code.co_filename.startswith(_AUDITOR)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:  # pyright: ignore[reportUnnecessaryComparison]
            stream.flush()
