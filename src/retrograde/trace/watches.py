"""Host views: memory that NumPy can change without a call that could be observed."""

from __future__ import annotations

import ast
import linecache
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import FrameType
from typing import Any, cast

import numpy as np

from retrograde.trace.arrays import ArrayRef
from retrograde.trace.callsite import CallSite, is_user_file
from retrograde.trace.extents import Bytes, Extent, read_bytes


@dataclass(eq=False)
class Watch:
    """A NumPy array that shares memory with a Warp array, and the contents last seen through it."""

    ref: ArrayRef
    view: weakref.ref[Any]
    last: Bytes

    @property
    def extent(self) -> Extent:
        """Addresses of the array."""
        return self.ref.extent


@dataclass(frozen=True, eq=False)
class Change:
    """A write through a view: what was there before."""

    watch: Watch
    before: Bytes


class Watches:
    """The views that are out. A view that died is looked at once more and then forgotten."""

    def __init__(self) -> None:
        self._watches: list[Watch] = []

    def add(self, ref: ArrayRef, view: Any) -> None:
        """Watch a NumPy array that shares an array's memory."""
        extent = ref.extent
        for watch in self._watches:
            if watch.extent == extent and watch.view() is view:
                return
        self._watches.append(Watch(ref, weakref.ref(view), read_bytes(extent)))

    def live(self) -> Iterator[Watch]:
        """Views that the program still refers to."""
        return (w for w in self._watches if w.view() is not None)

    def changes(self) -> Iterator[Change]:
        """Writes since the last look, and an end to the watches whose views died."""
        if not self._watches:
            return
        kept: list[Watch] = []
        for watch in self._watches:
            now = read_bytes(watch.extent)
            if not np.array_equal(now, watch.last):
                before, watch.last = watch.last, now
                yield Change(watch, before)
            if watch.view() is not None:
                kept.append(watch)
        self._watches = kept

    def refresh_all(self) -> None:
        """Take note of observed writes anywhere."""
        for watch in self._watches:
            watch.last = read_bytes(watch.extent)

    def refresh(self, extent: Extent) -> None:
        """Take note of an observed write."""
        for watch in self._watches:
            if watch.extent.overlaps(extent):
                watch.last = read_bytes(watch.extent)


def locate_write(frame: FrameType | None, view: Any, since: int) -> CallSite | None:
    """The line that wrote through a view: an in-place statement on a name bound to it.

    Args:
        frame: The user's innermost frame when the change was noticed.
        view: The NumPy array, None where it died meanwhile.
        since: Line of the last operation before the change, in the same frame.
    """
    frames: list[FrameType] = []
    while frame is not None:
        if is_user_file(frame.f_code.co_filename):
            frames.append(frame)
        frame = frame.f_back
    named = (_search_frame(f, _names_of(f, view), since) for f in frames)
    temporary = (_search_frame(f, {"numpy()"}, since) for f in frames)
    return next((site for site in (*named, *temporary) if site is not None), None)


def _names_of(frame: FrameType, view: Any) -> set[str]:
    """Names that a frame has for an array, or for another view of the same memory."""
    return {
        name
        for name, value in {**frame.f_globals, **frame.f_locals}.items()
        if isinstance(value, np.ndarray)
        and view is not None
        and np.shares_memory(cast("np.ndarray[Any, Any]", value), view)
    }


def is_used_later(frame: FrameType | None, view: Any) -> bool:
    """Whether the code that a frame executes names a view again after the line that it is at."""
    if frame is None:
        return False
    code = frame.f_code
    last = max((line for _, _, line in code.co_lines() if line is not None), default=0)
    names = _names_of(frame, view)
    return any(name in names and frame.f_lineno < line <= last for line, name in _loads(code.co_filename))


@lru_cache(maxsize=64)
def _loads(file: str) -> tuple[tuple[int, str], ...]:
    """Lines that use a name, with the name."""
    tree = _parsed(file)
    if tree is None:
        return ()
    return tuple(
        (node.lineno, node.id)
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    )


def _parsed(file: str) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return None


def _search_frame(frame: FrameType, names: set[str], since: int) -> CallSite | None:
    """The latest in-place statement on one of some names in the code that a frame executes."""
    code = frame.f_code
    lines = [line for _, _, line in code.co_lines() if line is not None]
    first, last = min(lines, default=0), max(lines, default=0)
    candidates = [
        line for line, target in in_place_statements(code.co_filename) if target in names and first <= line <= last
    ]
    if not candidates:
        return None
    before = [line for line in candidates if line <= frame.f_lineno]
    between = [line for line in before if line >= since]
    return CallSite(code.co_filename, max(between or before or candidates), code.co_name)


@lru_cache(maxsize=64)
def in_place_statements(file: str) -> tuple[tuple[int, str], ...]:
    """Lines that change an array in place, with the name of the array ("numpy()" for a temporary)."""
    tree = _parsed(file)
    return () if tree is None else tuple(sorted(_in_place(tree)))


_METHODS = frozenset({"fill", "sort", "put", "partition", "itemset", "setfield"})
_FUNCTIONS = frozenset({"copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis"})


def _in_place(tree: ast.AST) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Subscript):
                    yield node.lineno, _base(target)
        elif isinstance(node, ast.AugAssign):
            yield node.lineno, _base(node.target)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in _METHODS:
                yield node.lineno, _base(node.func.value)
            elif node.func.attr in _FUNCTIONS and node.args:
                yield node.lineno, _base(node.args[0])
            for keyword in node.keywords:
                if keyword.arg == "out":
                    yield node.lineno, _base(keyword.value)


def _base(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "numpy":
        return "numpy()"
    return node.id if isinstance(node, ast.Name) else ""
