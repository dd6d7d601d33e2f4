"""Whose line made a call, and what the program calls its arrays."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import FrameType, FunctionType, ModuleType
from typing import Any, cast

from retrograde.trace.warp_api import wp

_WARP = os.path.dirname(os.path.abspath(wp.__file__)) + os.sep
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_PROGRAMS_OF_WARP = (_WARP + "examples" + os.sep, _WARP + "tests" + os.sep)
_TORCH = f"{os.sep}site-packages{os.sep}torch{os.sep}"

_CHAIN = 4
_NO_OWNERS = (type, ModuleType, FunctionType, wp.Kernel, wp.Function, wp.Module, wp.Tape)
"""What refers to arrays, if it does, not as the program calls them."""

Key = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class CallSite:
    """The innermost line of the user's program under way.

    Attributes:
        file, line, function: Where.
        chain: File, line and bytecode instruction of this frame and of those that called it: it tells two calls
            on one line apart, and calls that all come through one helper of the program.
    """

    file: str
    line: int
    function: str
    chain: tuple[tuple[str, int, int], ...] = ()

    @property
    def key(self) -> Key:
        """Identity of the call in the source."""
        return self.chain or ((self.file, self.line, -1),)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


NOWHERE = CallSite("", 0, "")


def user_frame(start: FrameType | None = None) -> FrameType | None:
    """Innermost frame that belongs neither to Warp nor to the auditor."""
    frame = start if start is not None else inspect.currentframe()
    while frame is not None and not is_user_file(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def is_user_file(path: str) -> bool:
    """Whether a file is the user's: not Warp's library, not ours, not frozen machinery."""
    if path.startswith(_PROGRAMS_OF_WARP):
        return True
    return not (path.startswith((_WARP, _OURS, "<frozen")) or path == "<string>" or _TORCH in path)


def is_ours(path: str) -> bool:
    """Whether a file is the auditor's."""
    return path.startswith(_OURS)


def call_site(frame: FrameType | None = None) -> CallSite:
    """The call site of the innermost user frame."""
    found = user_frame(frame if frame is not None else inspect.currentframe())
    if found is None:
        return NOWHERE
    code = found.f_code
    return CallSite(code.co_filename, found.f_lineno, code.co_name, _chain(found))


def _chain(frame: FrameType | None) -> tuple[tuple[str, int, int], ...]:
    chain: list[tuple[str, int, int]] = []
    while frame is not None and len(chain) < _CHAIN:
        if is_user_file(frame.f_code.co_filename):
            chain.append((frame.f_code.co_filename, frame.f_lineno, frame.f_lasti))
        frame = frame.f_back
    return tuple(chain)


def name_of(array: Any, frame: FrameType | None) -> str | None:
    """What the frames around a call call an array: a variable, an attribute, an item.

    Searches the innermost user frame first, then its callers and the module's globals, looking one
    level into containers, structs and objects.
    """
    fallback: str | None = None
    depth = 0
    while frame is not None and depth < 12:
        if is_user_file(frame.f_code.co_filename):
            for scope in (frame.f_locals, frame.f_globals):
                direct, nested = _search(array, scope)
                if direct is not None:
                    return direct
                fallback = fallback or nested
            depth += 1
        frame = frame.f_back
    return fallback


def _search(array: Any, scope: dict[str, Any]) -> tuple[str | None, str | None]:
    nested: str | None = None
    for name, value in list(scope.items()):
        if value is array and not name.startswith("__"):
            return name, None
        if nested is None and not name.startswith("__"):
            inner = next(_inside(array, value), None)
            if inner is not None:
                nested = name + inner
    return None, nested


def _inside(array: Any, value: Any) -> Iterator[str]:
    if isinstance(value, list | tuple):
        for index in _positions(array, cast("Sequence[Any]", value)):
            yield f"[{index}]"
    elif isinstance(value, dict):
        for key, item in list(cast("dict[Any, Any]", value).items())[:4096]:
            if item is array:
                yield f"[{key!r}]"
    elif not isinstance(value, _NO_OWNERS) and hasattr(value, "__dict__"):
        for key, item in list(cast("dict[str, Any]", vars(value)).items()):
            if item is array:
                yield f".{key.lstrip('_')}" if isinstance(value, wp.array) else f".{key}"
            elif isinstance(item, list | tuple):
                for index in _positions(array, cast("Sequence[Any]", item)):
                    yield f".{key}[{index}]"
            elif isinstance(item, dict):
                entries = list(cast("dict[Any, Any]", item).items())[:4096]
                yield from (f".{key}[{name!r}]" for name, entry in entries if entry is array)


def _positions(array: Any, items: Sequence[Any]) -> Iterator[int]:
    return (index for index, item in enumerate(items[:4096]) if item is array)
