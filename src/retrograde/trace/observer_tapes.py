"""Observes what a program does with its tapes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from retrograde.trace.patches import Call, Patches
from retrograde.trace.recorder import Pending
from retrograde.trace.tapes import TapeState


class TapeCalls(Patches):
    """Wrappers of `wp.Tape`'s methods."""

    def _entry_to_tell(self, this: Any) -> Callable[[], None]:
        """How to tell, at each launch of a graph, that a tape is open; each launch records what a new tape would."""
        return partial(self.recorder.enter, this, anew=not this.launches)

    def _tape_enter(self, original: Call) -> Call:
        def enter(this: Any) -> Any:
            result = original(this)
            self._note(self._entry_to_tell(this) if self._capture else partial(self.recorder.enter, this))
            return result

        return enter

    def _tape_exit(self, original: Call) -> Call:
        def leave(this: Any, *args: Any) -> Any:
            if self._capture is not None:
                self._note(self.recorder.leave)
            if self.recorder.open_tape is not None:
                self._tell(self.recorder.leave)
            return original(this, *args)

        return leave

    def _tape_backward(self, original: Call) -> Call:
        def backward(this: Any, loss: Any = None, grads: Any = None) -> Any:
            if self._depth:
                return original(this, loss, grads)

            def finish(told: tuple[Pending, dict[str, Any]]) -> None:
                self.recorder.backward_done(*told)

            begin = partial(self.recorder.backward, TapeState.of(this), loss, dict(grads or {}))
            return self._observe(begin, lambda: original(this, loss, grads), finish)

        return backward

    def _tape_zero(self, original: Call) -> Call:
        def zero(this: Any) -> Any:
            if self._depth:
                return original(this)
            return self._observe(partial(self.recorder.clear, TapeState.of(this)), lambda: original(this))

        return zero

    def _tape_reset(self, original: Call) -> Call:
        def reset(this: Any) -> Any:
            if self._depth:
                return original(this)
            result = self._observe(partial(self.recorder.clear, TapeState.of(this)), lambda: original(this))
            self._note(partial(self.recorder.tapes.renew, this))
            return result

        return reset

    def _record_func(self, original: Call) -> Call:
        def record_func(this: Any, backward: Any, arrays: Any) -> Any:
            if not self._depth:
                self._note(partial(self.recorder.callback, this, backward, list(arrays)))
            return original(this, backward, arrays)

        return record_func
