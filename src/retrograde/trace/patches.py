"""Patches on other libraries' calls, and how an observed call is told and run."""

from __future__ import annotations

import functools
import os
import threading
import weakref
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, cast

from retrograde.trace.graphs import Capture, Step, graph_under_way
from retrograde.trace.imports import WhenImported
from retrograde.trace.recorder import Recorder
from retrograde.trace.threads import ForeignCallError
from retrograde.trace.torch_bridge import TorchBridge
from retrograde.trace.warp_api import context, torch_interop, wp

Call = Callable[..., Any]


class Patches:
    """Puts wrappers in place of calls, remembers what was there, and runs calls that are told of."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._nesting = threading.local()
        self._saved: list[tuple[Any, str, Any]] = []
        self._launch_arguments: dict[int, tuple[Any, list[Any]]] = {}
        self._captures: weakref.WeakKeyDictionary[Any, Capture] = weakref.WeakKeyDictionary()
        self._torch = TorchBridge(recorder, torch_interop.from_torch)
        self._waiting: WhenImported | None = None
        self._hooks: list[Any] = []
        recorder.in_torch = self._torch.places

    def _patch(self, owner: Any, name: str, wrapper: Callable[[Call], Call]) -> None:
        original = _found(owner, name)
        self._saved.append((owner, name, original))
        setattr(owner, name, functools.wraps(original)(wrapper(original)))

    def _patch_property(self, owner: Any, name: str, wrapper: Callable[[Call], Call]) -> None:
        original = cast("property", _found(owner, name))
        self._saved.append((owner, name, original))
        setattr(owner, name, property(wrapper(cast("Call", original.fget))))

    def _patch_function(
        self, name: str, wrapper: Callable[[Call], Call], owners: tuple[Any, Any] = (context, wp)
    ) -> None:
        """Patch a function under each of its names; somebody else may have put another function in one's place."""
        patched: dict[Any, Call] = {}
        for owner in owners:
            if (original := getattr(owner, name, None)) is not None:
                if original not in patched:
                    patched[original] = functools.wraps(original)(wrapper(original))
                self._saved.append((owner, name, original))
                setattr(owner, name, patched[original])

    def _tell(self, method: Call, *args: Any, **kwargs: Any) -> Any:
        """Tell the recorder something. A failure of ours ends the recording, never the program."""
        if self.recorder.failure is not None or self.recorder.thread.process != os.getpid():
            return None
        try:
            return method(*args, **kwargs)
        except ForeignCallError:
            return None
        except Exception as error:
            self.recorder.fail(error)
            return None

    @property
    def _depth(self) -> int:
        """How many observed calls the present thread is inside of."""
        return getattr(self._nesting, "depth", 0)

    @contextmanager
    def _inside(self) -> Generator[None]:
        self._nesting.depth = self._depth + 1
        try:
            yield
        finally:
            self._nesting.depth -= 1

    def _observe(
        self, begin: Callable[[], Any], run: Callable[[], Any], finish: Callable[[Any], None] | None = None
    ) -> Any:
        """Run a call, told of before and after; where it is captured, told of whenever its graph is launched.

        Args:
            begin: Tells of the call. What it needs to know is frozen: it may run later, and again.
            run: The call.
            finish: Tells that it has run, given what `begin` returned; not called where that is None.
        """
        capture = self._capture
        with self._inside():
            if capture is not None:
                result, switch = capture.call(run)
                if switch is not None:
                    capture.steps.append(Step(switch, begin, finish, self.recorder.here()))
                return result
            pending = self._tell(begin)
            result = run()
            if pending is not None:
                self._tell(self.recorder.commit if finish is None else finish, pending)
            return result

    @property
    def _capture(self) -> Capture | None:
        """The capture under way."""
        graph = graph_under_way()
        capture = None if graph is None else self._captures.get(graph)
        return capture if capture is not None and capture.obstacle is None else None

    def _note(self, begin: Callable[[], Any]) -> None:
        """Tell of something that runs nothing; within a capture, at each launch of the graph."""
        if (capture := self._capture) is None:
            self._tell(begin)
            return
        with self._inside():
            capture.note(begin, self.recorder.here())


def _found(owner: Any, name: str) -> Any:
    """What is there now; of a class, what it has itself.

    Raises:
        AttributeError: Nothing is there.
    """
    if isinstance(owner, type) and name not in vars(owner):
        raise AttributeError(f"{owner.__name__} has no {name}", name=name, obj=owner)
    return vars(owner)[name] if isinstance(owner, type) else getattr(owner, name)
