"""How values of the objective are to be had: by replay where it gives what the program gives when it runs again.

The program runs again beside everything that this process works out meanwhile.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from retrograde.gradients.clock import OutOfTimeError
from retrograde.gradients.differences import scale_of
from retrograde.gradients.ladder import Case
from retrograde.gradients.means import Means
from retrograde.gradients.replay import Replay
from retrograde.gradients.source import Source, Wait, re_execution, replay_source
from retrograde.trace.operations import Kind

Float = npt.NDArray[np.float64]
_MOVED = 0.1
_ARRAYS_IN_STRUCTS = "arrays inside arrays of structs"


@dataclass(frozen=True, eq=False)
class Choice:
    """How values of the objective are to be had.

    Attributes:
        source: Where they come from; None with a reason where they cannot be had.
        reason: One sentence.
        repeatable: Whether the unperturbed objective came out the same each time.
        unobserved: Names of arrays that something unobserved wrote.
        caveat: What the measurement rests on, where the program itself could not be run again.
        base: The objective at the parameter's own contents, as the source gives it; None where it was not asked.
    """

    source: Source | None
    reason: str = ""
    repeatable: bool = True
    unobserved: tuple[str, ...] = ()
    caveat: str | None = None
    base: float | None = None


@dataclass(eq=False)
class Anchor:
    """The program on its way once more, with other contents of the parameter; it must be waited for.

    Attributes:
        again: Where its values come from.
        moved: The other contents.
        own: The objective in the program's own run, None where it was not seen.
        wait: Waits for the values: of the program's own contents where `own` is None, and of the other contents.
    """

    again: Source
    moved: Float
    own: float | None
    wait: Wait
    _waited: bool = False

    def values(self) -> list[float]:
        """The objective with the program's own contents and with the others."""
        self._waited = True
        return self.wait() if self.own is None else [self.own, *self.wait()]

    def end(self) -> None:
        """Wait for the values if nobody has: no others may be begun before."""
        if not self._waited:
            with contextlib.suppress(OutOfTimeError):
                self.values()


def begin_anchor(case: Case, means: Means) -> Anchor | None:
    """Begin to run the program again; None where that cannot be done.

    Torch's part of a program cannot be replayed: there the program runs twice alike, which tells whether it can.
    """
    life = case.life
    again = re_execution(life, case.objective, means.snapshots, means.limit, means.clock)
    if again is None:
        return None
    means.say(f"running the program again for {life.name}, iteration {life.iteration}")
    moved = case.contents
    if not life.in_torch:
        moved = moved + _MOVED * scale_of(moved) * means.rng.standard_normal(moved.shape)
    own = None if life.in_torch else case.objective.value
    points = [moved] if own is not None else [case.contents, moved]
    try:
        return Anchor(again, moved, own, again.begin(points))
    except OutOfTimeError:
        return None


def choose(case: Case, anchor: Anchor | None) -> Choice:
    """Replay where it gives the very values that the program itself gives when run again, else the program.

    Args:
        case: What is judged.
        anchor: The program on its way, None where it cannot be run again.

    Raises:
        OutOfTimeError: The case's time is too short.
    """
    try:
        return _choose(case, anchor)
    finally:
        if anchor is not None:
            anchor.end()


def _choose(case: Case, anchor: Anchor | None) -> Choice:
    replay = Replay(case.window, case.objective.seeds, case.clock)
    faster = replay_source(case.life, replay)
    unobserved = (_ARRAYS_IN_STRUCTS,)
    if case.window.replayable and not case.life.in_torch:
        unobserved = tuple(case.recording.name(ref) for ref in replay.unobserved())
    if anchor is None:
        return _replay_alone(case, faster, unobserved, "the program cannot be run again here")
    replayed = [] if unobserved else faster.values([case.contents, anchor.moved])
    again, run = anchor.again, anchor.values()
    if again.failure is not None:
        return _replay_alone(case, faster, unobserved, f"the program could not be run again ({again.failure})")
    if case.life.in_torch:
        return Choice(again, repeatable=run[0] == run[1], base=run[0])
    if replayed and _same(replayed, run, case):
        return Choice(faster, base=replayed[0])
    first, second = again.values([case.contents, case.contents])
    return Choice(again, repeatable=first == second or not np.isfinite(first), unobserved=unobserved, base=first)


def _replay_alone(case: Case, replay: Source, unobserved: tuple[str, ...], why: str) -> Choice:
    """A replay that nothing anchors: not where anything could have passed through the host or unobserved."""
    through_host = bool(case.life.numbers) or any(
        o.kind is Kind.HOST_READ and any(a.ref.differentiable for a in o.accesses) for o in case.window.operations
    )
    if unobserved or through_host:
        reason = f"{why.capitalize()}, and a replay would miss what passes through the host or unobserved."
        return Choice(None, reason, unobserved=unobserved)
    return Choice(replay, caveat=f"by replay alone, because {why}")


def _same(replayed: list[float], run: list[float], case: Case) -> bool:
    """Whether two ways of getting the objective agree to rounding."""
    if not np.all(np.isfinite(run)):
        return False
    scalar = case.life.ref.scalar
    assert scalar is not None
    slack = 8.0 * float(np.finfo(scalar).eps) * max(abs(v) for v in run)
    change = 1e-3 * abs(run[1] - run[0])
    return all(abs(a - b) <= min(slack, max(change, 0.01 * slack)) for a, b in zip(replayed, run, strict=True))
