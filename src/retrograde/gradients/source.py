"""Where values of the objective come from: the program run again, or the recorded operations run again."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from retrograde.gradients.clock import UNTIMED, Clock
from retrograde.gradients.execution import Snapshots
from retrograde.gradients.forked import side_by_side
from retrograde.gradients.life import Life
from retrograde.gradients.links import Evaluate
from retrograde.gradients.objective import Objective
from retrograde.gradients.replay import Replay
from retrograde.gradients.rungs import How
from retrograde.trace.plan import Injection, NumberInjection, Outcome, Plan

Float = npt.NDArray[np.float64]
Wait = Callable[[], list[float]]
_SLOW = 0.02
_WORKERS = 2
_BETWEEN_CHECKS = 2.0


@dataclass(eq=False)
class Source:
    """Values of the objective with other contents of one parameter.

    Attributes:
        how: How they are had.
        begin: Takes contents of the parameter, several at once; what it returns waits for their values, which must be
            done before the next are begun.
        failure: Why a value was not had, where one was not.
        cost: Time that all values took, those had side by side added up [s].
        evaluations: Number of values.
        known: Values that were had, by a digest of the contents.
    """

    how: How
    begin: Callable[[Sequence[Float]], Wait]
    failure: str | None = None
    cost: float = 0.0
    evaluations: int = 0
    known: dict[bytes, float] = field(default_factory=dict[bytes, float], repr=False)

    def values(self, contents: Sequence[Float]) -> list[float]:
        """The values for some contents of the parameter."""
        return self.begin(contents)()

    def values_once(self, contents: Sequence[Float]) -> list[float]:
        """The same, but what `values_once` has had for the same contents, or `know` was told, is not computed again."""
        keys = [_digest(c) for c in contents]
        missing = {key: c for key, c in zip(keys, contents, strict=True) if key not in self.known}
        self.known.update(zip(missing, self.values(list(missing.values())), strict=True))
        return [self.known[key] for key in keys]

    def know(self, contents: Float, value: float) -> None:
        """Keep a value that is known already."""
        self.known[_digest(contents)] = value

    @property
    def is_slow(self) -> bool:
        """Whether a value takes long enough to be sparing with them."""
        return self.evaluations > 0 and self.cost / self.evaluations > _SLOW


def _digest(contents: Float) -> bytes:
    return hashlib.blake2b(np.ascontiguousarray(contents).tobytes(), digest_size=16).digest()


def rerun(
    life: Life, objective: Objective, snapshots: Snapshots, limit: float, clock: Clock = UNTIMED
) -> Evaluate | None:
    """How to run the user's own program again with other contents of a parameter; None where that cannot be done.

    Args:
        life: The parameter, and where it is first read.
        objective: What to read.
        snapshots: Waiting copies of the program.
        limit: Time allowed for each run [s].
        clock: When all runs must be over; where they are not, `OutOfTimeError` is raised.
    """
    begin = _beginner(life, objective, snapshots, limit, clock)
    return None if begin is None else lambda contents, watched: begin(contents, watched)()


def _beginner(
    life: Life, objective: Objective, snapshots: Snapshots, limit: float, clock: Clock
) -> Callable[[Sequence[Float], frozenset[int]], Callable[[], list[Outcome]]] | None:
    begin = snapshots.beginner(life.first.ordinal)
    if begin is None:
        return None
    scalar = np.dtype(life.ref.scalar if life.ref.scalar is not None else np.float32)

    def begin_plans(contents: Sequence[Float], watched: frozenset[int]) -> Callable[[], list[Outcome]]:
        plans = [_plan(life, objective, c.astype(scalar), watched) for c in contents]

        def some(first: int, count: int) -> Callable[[], list[Outcome]]:
            clock.check()
            return begin(plans[first : first + count], _WORKERS, min(limit, clock.left))

        outcomes = some(0, _WORKERS)

        def wait() -> list[Outcome]:
            found = outcomes()
            while len(found) < len(plans):
                seconds = max(outcome.seconds for outcome in found)
                at_once = _WORKERS * max(1, round(_BETWEEN_CHECKS / max(seconds, 1e-3)))
                found += some(len(found), at_once)()
            clock.check()
            return found

        return wait

    return begin_plans


def _plan(life: Life, objective: Objective, contents: npt.NDArray[np.floating], watched: frozenset[int]) -> Plan:
    """A run with other contents of the parameter: of the array when it is first read, or of the numbers made of it."""
    if not life.numbers:
        injection = Injection(life.first.ordinal, life.slot, life.offset, life.ref.full_strides, contents)
        return Plan((injection,), objective.terms, watched)
    flat = contents.reshape(-1)
    by_launch: dict[int, dict[int, float]] = {}
    for use in life.numbers:
        by_launch.setdefault(use.ordinal, {})[use.index] = float(flat[use.element])
    numbers = tuple(NumberInjection(ordinal, values) for ordinal, values in by_launch.items())
    return Plan((), objective.terms, watched, numbers)


def re_execution(
    life: Life, objective: Objective, snapshots: Snapshots, limit: float, clock: Clock = UNTIMED
) -> Source | None:
    """Values by running the user's own program again, as `rerun` does; None where that cannot be done."""
    begin_plans = _beginner(life, objective, snapshots, limit, clock)
    if begin_plans is None:
        return None

    def begin(contents: Sequence[Float]) -> Wait:
        outcomes = begin_plans(contents, frozenset())

        def wait() -> list[float]:
            found = outcomes()
            source.cost += sum(outcome.seconds for outcome in found)
            source.evaluations += len(found)
            for outcome in found:
                source.failure = source.failure or outcome.failure
            return [outcome.total for outcome in found]

        return wait

    source = Source(How.RE_EXECUTION, begin)
    return source


def replay_source(life: Life, replay: Replay) -> Source:
    """Values by running the recorded operations again, once they are waited for."""

    def timed(contents: Float) -> tuple[float, float]:
        started = time.perf_counter()
        value = replay.value(life.ref, life.first.index, contents)
        return value, time.perf_counter() - started

    def begin(contents: Sequence[Float]) -> Wait:
        return lambda: values(contents)

    def values(contents: Sequence[Float]) -> list[float]:
        each = source.cost / source.evaluations if source.evaluations else 0.0
        found = side_by_side(timed, contents, each)
        source.cost += sum(seconds for _, seconds in found)
        source.evaluations += len(contents)
        return [value for value, _ in found]

    source = Source(How.REPLAY, begin)
    return source
