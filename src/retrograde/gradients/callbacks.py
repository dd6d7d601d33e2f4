"""Functions recorded with `Tape.record_func`, run within a sweep.

Such a function reads and writes the program's own arrays and gradients. For the time of the call these hold
what the sweep has: contents as they were when the function was recorded, and adjoints from the shadow. Afterwards
the adjoints go back to the shadow, and the program's memory is as it was.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

import numpy as np

from retrograde.gradients.memory import Memory
from retrograde.trace.arrays import ArrayRef
from retrograde.trace.callsite import CallSite, is_user_file
from retrograde.trace.extents import Bytes, Extent, read_bytes, write_bytes


def run_callback(function: Callable[[], None], refs: Iterable[ArrayRef], contents: Memory, shadow: Memory) -> None:
    """Run a recorded function between shadows copied in and out.

    Args:
        function: The function.
        refs: Arrays that it may use.
        contents: What they held.
        shadow: Their adjoints, changed by the function.
    """
    arrays = {r.extent: r for r in refs if contents.covers(r.extent)}
    gradients = {e: r for r in arrays.values() if r.differentiable and (e := r.gradient_extent) is not None}
    saved: list[tuple[Extent, Bytes]] = [(b, read_bytes(b)) for b in contents.blocks]
    saved += [(e, read_bytes(e)) for e in gradients]
    try:
        for block in contents.blocks:
            write_bytes(block, contents.read(block))
        for extent, ref in gradients.items():
            write_bytes(extent, shadow.read(ref.extent))
        function()
        for extent, ref in gradients.items():
            shadow.write(ref.extent, read_bytes(extent))
    finally:
        for extent, data in saved:
            write_bytes(extent, data)


def assigned_by(
    function: Callable[[], None], refs: Iterable[ArrayRef], contents: Memory, rng: np.random.Generator
) -> tuple[ArrayRef, ...]:
    """Arrays whose gradient a recorded function sets, whatever was there before, instead of adding to it.

    The function is run on random adjoints; then, for each array whose adjoint it changed, on another adjoint of that
    array alone. Where it clears a gradient, as it may with that of what it has computed, it does not set it.

    Args:
        function: The function.
        refs: Arrays that it may use.
        contents: What they held.
        rng: Random adjoints.
    """
    known = {r.extent: r for r in refs if contents.covers(r.extent) and r.differentiable and r.gradient is not None}
    seeds = {r: rng.standard_normal(r.full_shape) for r in known.values()}

    def run(changed: ArrayRef | None = None) -> Memory:
        shadow = Memory(contents.blocks)
        for ref, seed in seeds.items():
            shadow.set_values(ref, seed + 1.0 if ref is changed else seed)
        run_callback(function, known.values(), contents, shadow)
        return shadow

    first = run()
    found: list[ArrayRef] = []
    for ref in seeds:
        given = Memory(contents.blocks)
        given.set_values(ref, seeds[ref])
        left = first.values(ref)
        if left.any() and not np.array_equal(left, given.values(ref)):
            again = run(ref).values(ref)
            if np.array_equal(again, left):
                found.append(ref)
    return tuple(found)


def line_that_sets(
    function: Callable[[], None], refs: Iterable[ArrayRef], contents: Memory, wanted: ArrayRef
) -> CallSite | None:
    """The user's line in a recorded function after which an array's gradient is another one; None where none is seen.

    Args:
        function: The function; it is run once more, on adjoints of one.
        refs: Arrays that it may use.
        contents: What they held.
        wanted: The array.
    """
    extent = wanted.gradient_extent
    if extent is None:
        return None
    known = [r for r in refs if contents.covers(r.extent) and r.differentiable]
    shadow = Memory(contents.blocks)
    for ref in known:
        shadow.set_values(ref, np.ones(ref.full_shape))
    at: dict[FrameType, int] = {}
    found: list[CallSite] = []
    before: list[Bytes] = []

    def look(frame: FrameType) -> None:
        now = read_bytes(extent)
        if before and not found and frame in at and not np.array_equal(now, before[-1]):
            code = frame.f_code
            found.append(CallSite(code.co_filename, at[frame], code.co_name))
        before[:] = [now]

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if not is_user_file(frame.f_code.co_filename):
            return None
        if event in ("line", "return"):
            look(frame)
            at[frame] = frame.f_lineno
        return trace

    def traced() -> None:
        previous = sys.gettrace()
        sys.settrace(trace)
        try:
            function()
        finally:
            sys.settrace(previous)

    run_callback(traced, known, contents, shadow)
    return found[0] if found else None
