"""Carries a schedule out: steps forward, steps recorded, steps reversed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retrograde.checkpoint.actions import Action, Advance, Record, Restore, Reverse, Schedule
from retrograde.checkpoint.schedules import Tapered
from retrograde.checkpoint.states import add, assign, copy_contents, gradients_like, leaves, like, size_of, wp
from retrograde.checkpoint.storage import Kept

Step = Callable[[int, Any, Any], None]
_CONTEXTS = ("warp._src.context", "warp.context")


@dataclass(frozen=True)
class Report:
    """What one gradient took.

    Attributes:
        steps: Steps of the horizon.
        computed: Steps that were computed in all, forward and again for the gradient.
        peak_states: Most states that were in memory at once, gradients of states counted like states.
        state_bytes: Memory of one state [byte].
    """

    steps: int
    computed: int
    peak_states: int
    state_bytes: int

    @property
    def recomputation(self) -> float:
        """Steps computed, over steps of the horizon."""
        return self.computed / self.steps

    @property
    def peak_bytes(self) -> int:
        """Most memory that states took [byte]."""
        return self.peak_states * self.state_bytes


@dataclass(frozen=True, eq=False)
class Advanced:
    """A state after many steps.

    Attributes:
        state: The state, of the make of the one at the start.
    """

    state: Any
    _horizon: _Horizon

    @property
    def report(self) -> Report:
        """What was done so far; complete once `backward` has run."""
        return self._horizon.report()


def advance(
    step: Step,
    start: Any,
    steps: int,
    *,
    schedule: Schedule | None = None,
    parameters: Sequence[Any] = (),
    folder: Path | None = None,
) -> Advanced:
    """Run a stepping function many times, with a gradient in bounded memory.

    Inside a `wp.Tape` block the whole run is one recorded operation: `backward` on that tape carries the gradient of
    the state at the end to that at the start, and adds to the gradients of all arrays that the steps read.

    Args:
        step: `step(n, before, after)` launches what makes the state `after` from the state `before` in step n. It
            must write every element of `after` that anything reads, must not write `before` or what it keeps outside
            (a loss that grows from step to step belongs into the state), and must do the same each time.
        start: The state before step 0: an array, a struct of arrays, or a tuple, list, dictionary or dataclass of
            these. Arrays with `requires_grad` carry a gradient; the others are carried along.
        steps: Number of steps.
        schedule: Which states are kept; `Tapered()` if None.
        parameters: Other arrays with gradients that the steps read, so that `tape.zero()` clears them too.
        folder: Where states that a schedule keeps on disk go.

    Raises:
        StateError: The state holds something else than arrays.
        ValueError: There are no steps, or the schedule contradicts itself.
    """
    if steps < 1:
        raise ValueError(f"steps: expected a positive number, got {steps}")
    tape = _active_tape()
    horizon = _Horizon(step, start, steps, schedule or Tapered(), folder)
    if tape is None:
        horizon.run_plainly()
    else:
        with _paused(tape):
            horizon.run_forward()
        arrays = [a for state in (start, horizon.final) for _, a in leaves(state) if a.requires_grad]
        tape.record_func(horizon.run_backward, [*arrays, *(p for p in parameters if p.requires_grad)])
    return Advanced(horizon.final, horizon)


class _Horizon:
    """One run."""

    def __init__(self, step: Step, start: Any, steps: int, schedule: Schedule, folder: Path | None) -> None:
        self.step, self.start, self.steps, self.schedule = step, start, steps, schedule
        self.final = like(start, gradients_like(start))
        self._gradients = (gradients_like(start), gradients_like(start))
        self._carried = gradients_like(start)
        self._here, self._there = like(start), like(start)
        self._kept = Kept(folder)
        self._states: list[Any] = []
        self._tapes: list[Any] = []
        self._waiting: Iterator[Action] | None = None
        self._next: Reverse | None = None
        self._computed = self._peak = 0

    def report(self) -> Report:
        return Report(self.steps, self._computed, self._peak, size_of(self.start))

    def run_plainly(self) -> None:
        """All steps, nothing kept."""
        assign(self._here, self.start)
        self._advance(0, self.steps)
        assign(self.final, self._here)

    def run_forward(self) -> None:
        """Up to the end, and no further than the first reversal."""
        self._kept.clear()
        self._states, self._tapes = [], []
        assign(self._here, self.start)
        self._waiting = self.schedule.actions(self.steps)
        for action in self._waiting:
            if isinstance(action, Reverse):
                self._next = action
                break
            self._carry_out(action)
        if self._next is None or self._next.stop != self.steps or not self._states:
            raise ValueError(f"the schedule does not record the last of {self.steps} steps before it reverses")
        assign(self.final, self._states[-1])

    def run_backward(self) -> None:
        """From the gradient of the state at the end to that of the state at the start."""
        if self._waiting is None:  # a second backward pass over the same run
            self.run_forward()
        assert self._waiting is not None
        assert self._next is not None
        self._seed()
        self._reverse(self._next)
        reached = self._next.start
        for action in self._waiting:
            if isinstance(action, Reverse):
                if action.stop != reached:
                    raise ValueError(f"the schedule reverses to step {reached} and goes on from step {action.stop}")
                self._reverse(action)
                reached = action.start
            else:
                self._carry_out(action)
        if reached != 0:
            raise ValueError(f"the schedule ends before it has reversed the first {reached} steps")
        self._deliver()
        self._waiting = self._next = None
        self._kept.clear()

    # -- actions -----------------------------------------------------------------------------------

    def _carry_out(self, action: Action) -> None:
        if isinstance(action, Restore):
            self._kept.restore(action.step, self._here, action.drop)
        elif isinstance(action, Advance | Record):
            if action.keep is not None:
                self._kept.keep(action.start, self._here, action.keep)
            if isinstance(action, Advance):
                self._advance(action.start, action.stop)
            else:
                self._record(action.start, action.stop)
        self._look()

    def _advance(self, start: int, stop: int) -> None:
        for n in range(start, stop):
            self.step(n, self._here, self._there)
            self._here, self._there = self._there, self._here
        self._computed += stop - start

    def _record(self, start: int, stop: int) -> None:
        """Each step on a tape of its own; neighbours have different gradients, every other state shares one.

        The adjoint that has been carried so far is kept apart: `wp.copy` in a step copies gradients too.
        """
        for gradients in self._gradients:
            _clear(gradients)
        self._states = [like(self._here, self._gradients[start % 2])]
        self._tapes = []
        for n in range(start, stop):
            after = like(self._here, self._gradients[(n + 1) % 2])
            with wp.Tape() as tape:
                self.step(n, self._states[-1], after)
            self._tapes.append(tape)
            self._states.append(after)
        self._computed += stop - start

    def _reverse(self, action: Reverse) -> None:
        if len(self._tapes) != action.stop - action.start:
            raise ValueError(f"the schedule reverses steps {action.start} to {action.stop}, which are not recorded")
        _copy(self._gradients[action.stop % 2], self._carried)
        for n in reversed(range(action.start, action.stop)):
            _clear(self._gradients[n % 2])
            self._tapes.pop().backward()
            self._states.pop()
        _copy(self._carried, self._gradients[action.start % 2])
        self._states = []

    def _seed(self) -> None:
        """The gradient of the state at the end becomes the adjoint that is carried."""
        _copy(self._carried, [array.grad for _, array in leaves(self.final)])
        _clear([array.grad for _, array in leaves(self.final)])

    def _deliver(self) -> None:
        """Add the adjoint that was carried to the first state to the gradient of the start."""
        for carried, (_, array) in zip(self._carried, leaves(self.start), strict=True):
            if carried is not None:
                add(array.grad, carried)

    def _look(self) -> None:
        fixed = 2 + 3 + 2  # the two that take turns, their gradients and the adjoint, the end and its gradient
        self._peak = max(self._peak, self._kept.in_memory + len(self._states) + fixed)


def _clear(gradients: Sequence[Any]) -> None:
    for gradient in gradients:
        if gradient is not None:
            gradient.zero_()


def _copy(to: Sequence[Any], gradients: Sequence[Any]) -> None:
    for target, source in zip(to, gradients, strict=True):
        if target is not None:
            copy_contents(target, source)


def _active_tape() -> Any:
    for name in _CONTEXTS:
        try:
            context: Any = importlib.import_module(name)
        except ImportError:
            continue
        return None if context.runtime is None else context.runtime.tape
    raise ImportError(f"no Warp runtime in {' or '.join(_CONTEXTS)}: this version of Warp is not supported")


@contextmanager
def _paused(tape: Any) -> Generator[None]:
    """Leave a tape's block for a while."""
    tape.__exit__(None, None, None)
    try:
        yield
    finally:
        tape.__enter__()
