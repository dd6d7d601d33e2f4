"""Captured graphs, taken apart: every call that was captured can be run on its own.

While Warp captures on the CPU nothing runs: what would have run is written down, and each launch of the
graph runs it all. Here each call of the program that is captured is put behind a switch of its own (a branch
of Warp's captured `if`), so that a launch of the graph can be told call by call. With all switches on, as
they are outside a launch, the graph is the one that the program captured.
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from retrograde.trace.callsite import NOWHERE, CallSite
from retrograde.trace.warp_api import context, wp

Begin = Callable[[], Any]
Finish = Callable[[Any], None]
_CHUNK = 1024


@dataclass(frozen=True, eq=False)
class Step:
    """One captured call.

    Attributes:
        switch: Number of the switch in front of what it runs; None where it runs nothing.
        begin: Tells of the call before it runs.
        finish: Tells of it afterwards, given what `begin` returned.
        site: The line that made the call when the graph was captured.
    """

    switch: int | None
    begin: Begin | None = None
    finish: Finish | None = None
    site: CallSite = NOWHERE


class Capture:
    """A graph while it is captured, and afterwards.

    Attributes:
        steps: What was captured, in order.
        obstacle: Why the graph cannot be run step by step, None where it can.
    """

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.obstacle: str | None = None
        self._flags: list[npt.NDArray[np.int32]] = []
        self._arrays: list[Any] = []
        self._count = 0
        self._start: Any = None
        self._before = 0
        self._open()

    # -- while it is captured ----------------------------------------------------------------------

    def call(self, run: Callable[[], Any]) -> tuple[Any, int | None]:
        """Run one call of the program, and give what it captures a switch: its number, None where it is nothing.

        What was captured unseen since the last call gets one too.
        """
        self.pause()
        self._open()
        result = run()
        switch = self._close()
        self._open()
        return result, switch

    def note(self, begin: Begin, site: CallSite) -> None:
        """Something to tell at this point of every launch, although nothing runs."""
        self.pause()
        self.steps.append(Step(None, begin, None, site))
        self._open()

    def pause(self) -> None:
        """Put what was captured since the last call, unseen, behind a switch: the capture ends, or pauses."""
        switch = self._close()
        if switch is not None:
            self.steps.append(Step(switch))

    def resume(self) -> None:
        """The capture goes on."""
        self._open()

    def _open(self) -> None:
        state = _state()
        self._before = _core().wp_apic_get_operation_count(state)
        self._start = _core().wp_apic_begin_branch(state)

    def _close(self) -> int | None:
        if self._start is None:
            return None
        state, core = _state(), _core()
        empty = core.wp_apic_get_operation_count(state) == self._before
        body = ctypes.c_void_p(core.wp_apic_end_branch(state, self._start))
        self._start = None
        if empty:
            core.wp_apic_free_branch_body(body)
            return None
        region, offset = self._place(self._count)
        core.wp_apic_record_conditional(state, _if(), region, offset, body, None)
        self._count += 1
        return self._count - 1

    def _place(self, switch: int) -> tuple[int, int]:
        chunk, position = divmod(switch, _CHUNK)
        if chunk == len(self._arrays):
            self._flags.append(np.ones(_CHUNK, dtype=np.int32))
            self._arrays.append(wp.array(self._flags[-1], dtype=wp.int32, device="cpu", copy=False))
        region, offset = _active().track_array(self._arrays[chunk])
        return region, offset + position * self._flags[chunk].itemsize

    # -- when it is launched -----------------------------------------------------------------------

    def set_all(self, value: bool) -> None:
        """Turn all switches on or off."""
        for flags in self._flags:
            flags[:] = value

    def only(self, switch: int, run: Callable[[], Any]) -> None:
        """Run the graph with one switch on; all must be off before."""
        chunk, position = divmod(switch, _CHUNK)
        self._flags[chunk][position] = 1
        try:
            run()
        finally:
            self._flags[chunk][position] = 0


def can_be_taken_apart() -> bool:
    """Whether the capture under way can: on the CPU, by a Warp that captures there."""
    active = _active()
    return active is not None and active.device.is_cpu and hasattr(_core(), "wp_apic_begin_branch")


def graph_under_way() -> Any:
    """The graph that is being captured on the CPU, None without one."""
    return getattr(context.runtime, "_apic_graph", None)


def _active() -> Any:
    return getattr(context.runtime, "_apic_capture", None)


def _state() -> Any:
    return _active().apic_state


def _core() -> Any:
    return context.runtime.core


def _if() -> int:
    return int(importlib.import_module("warp._src.apic.types").APIC_OP_IF)
