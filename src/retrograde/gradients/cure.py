"""Opens a kernel whose adjoint is not its derivative, and looks for the constructs that make it so.

Every construct that Warp may differentiate wrongly is rewritten, all in one twin at first. If that twin computes
what the kernel computes and passes the launch's own derivative test, rewrites are taken back one at a time: those that
the test cannot do without are the faults.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from retrograde.gradients.binding import Blind, run_adjoint, run_forward
from retrograde.gradients.clock import UNTIMED, Clock
from retrograde.gradients.forked import apart
from retrograde.gradients.launch_test import LaunchState, LaunchVerdict, judge
from retrograde.gradients.memory import Memory
from retrograde.gradients.policy import Moment
from retrograde.gradients.twins.finders import FINDERS
from retrograde.gradients.twins.rewrite import Rewrite, Twin, make_twin
from retrograde.gradients.twins.situation import Situation
from retrograde.gradients.twins.source import KernelSource, SourceUnavailableError, read_kernel
from retrograde.trace.arrays import ArrayRef
from retrograde.trace.operations import Operation
from retrograde.trace.usage import Path

Moments = Mapping[Path, Moment]


@dataclass(frozen=True, eq=False)
class Cure:
    """A twin that is what the launch's adjoint should be.

    Attributes:
        source: The kernel.
        rewrites: What is changed; each is needed.
        moments: Contents of the arrays that the launch both reads and writes.
        dimensions: Number of dimensions of the launch.
    """

    source: KernelSource
    rewrites: tuple[Rewrite, ...]
    moments: Moments
    dimensions: int
    _twins: dict[frozenset[str], Twin] = field(default_factory=dict[frozenset[str], Twin])

    @property
    def labels(self) -> frozenset[str]:
        """Identities of the faults."""
        return frozenset(r.label for r in self.rewrites)

    @property
    def counts(self) -> bool:
        """Whether the kernel takes indices from a counter."""
        return any(r.code == "RG406" for r in self.rewrites)

    def adjoint(
        self,
        operation: Operation,
        memory: tuple[Memory, Memory],
        shadow: Memory,
        left: frozenset[str],
        blind: Blind | None = None,
    ) -> None:
        """Run the adjoint of a launch.

        Args:
            operation: The launch.
            memory: Contents just before it, and those that its adjoint reads of the arrays that it does not write.
            shadow: Adjoints, changed.
            left: Faults to leave in.
            blind: Arrays that have no adjoint.
        """
        call = operation.launch
        assert call is not None
        before, others = memory
        twin = self._twin(left)
        after = Memory(before.blocks)
        after.copy_from(before)
        extra = twin.parameters.values(call)
        run_forward(call, after, twin.kernel, extra)
        written = [a for a in operation.accesses if a.usage.writes]
        early = [a.ref.extent for a in written if self.moments.get(a.path) is Moment.BEFORE]
        late = [a.ref.extent for a in written]

        def contents(position: int, path: Path, ref: ArrayRef) -> Memory:
            if any(e.overlaps(ref.extent) for e in early):
                return before
            return after if any(e.overlaps(ref.extent) for e in late) else others

        run_adjoint(call, contents, shadow, blind, kernel=twin.kernel, extra=extra)

    def passes(self, state: LaunchState, rng: np.random.Generator) -> bool:
        """Whether the twin computes what another launch of the kernel computed, and passes that launch's test."""
        twin = self._twin(frozenset())
        extra, same = state.run_twin(twin)
        return same and bool(judge(state, self.moments, rng, twin=twin, extra=extra).passed)

    def _twin(self, left: frozenset[str]) -> Twin:
        if left not in self._twins:
            self._twins[left] = make_twin(
                self.source, [r for r in self.rewrites if r.label not in left], self.dimensions
            )
        return self._twins[left]


def situation_of(
    state: LaunchState, verdict: LaunchVerdict, rng: np.random.Generator, risky: bool = False
) -> Situation | None:
    """What is known of a launch that fails its own test; None where its source cannot be read.

    Args:
        state: The launch.
        verdict: Result of its test as it is.
        rng: Random cotangents.
        risky: Whether the launch's adjoint may write anywhere.
    """
    try:
        source = read_kernel(state.call.kernel)
    except SourceUnavailableError:
        return None
    finite = risky or bool(np.isfinite(verdict.discrepancy))
    weights = [rng.uniform(0.5, 1.5, f.written.size) * f.written for f in state.fields]

    def backward(twin: Twin) -> Sequence[Any]:
        extra, _ = state.run_twin(twin)
        state.adjoint(weights, {}, twin, extra)
        return extra

    broken = () if finite else state.not_finite(weights)
    return Situation(source, state.call, finite, broken, lambda twin: state.run_twin(twin)[0], backward)


def find_cure(
    state: LaunchState,
    situation: Situation,
    moments: Sequence[Moments],
    rng: np.random.Generator,
    risky: bool = False,
    clock: Clock = UNTIMED,
) -> Cure | None:
    """The smallest set of rewrites with which the launch passes its own test; None where there is none.

    Args:
        state: The launch.
        situation: What is known of it.
        moments: Choices of contents to try.
        rng: Random directions.
        risky: Whether the launch's adjoint may write anywhere.
        clock: When the search must be over.

    Raises:
        OutOfTimeError: It is not.
    """
    return _Search(state, situation, moments, rng, risky, clock).run()


class _Search:
    """Tries sets of rewrites on one launch."""

    def __init__(
        self,
        state: LaunchState,
        situation: Situation,
        moments: Sequence[Moments],
        rng: np.random.Generator,
        risky: bool,
        clock: Clock,
    ) -> None:
        self.clock = clock
        self.state = state
        self.situation = situation
        self.moments = moments
        self.rng = rng
        self.risky = risky

    def run(self) -> Cure | None:
        found: list[Rewrite] = []
        for find in FINDERS:
            self.clock.check()
            try:
                found += find(self.situation)
            except Exception:  # Warp refuses some source that the finder would need to run
                continue
        if not found:
            return None
        passing = self.passes(found)
        if passing is None:
            found = [r for r in found if self.computes_the_same([r])]
            passing = self.passes(found) if found else None
        if passing is None:
            return None
        for rewrite in reversed(found.copy()):
            fewer = [r for r in found if r is not rewrite]
            without = self.passes(fewer) if fewer else None
            if without is not None:
                found, passing = fewer, without
        return Cure(self.situation.source, tuple(found), passing, self.situation.dimensions)

    def passes(self, rewrites: Sequence[Rewrite]) -> Moments | None:
        """The contents with which a twin passes the launch's test, None where it does not."""
        self.clock.check()
        try:
            twin = make_twin(self.situation.source, rewrites, self.situation.dimensions)
            extra, same = self.state.run_twin(twin)
        except Exception:
            return None
        if not same:
            return None
        if self.risky:
            return apart(lambda: self.first_that_passes(twin, extra))
        return self.first_that_passes(twin, extra)

    def first_that_passes(self, twin: Twin, extra: Sequence[Any]) -> Moments | None:
        for moments in self.moments:
            if judge(self.state, moments, self.rng, twin=twin, extra=extra).passed:
                return moments
        return None

    def computes_the_same(self, rewrites: Sequence[Rewrite]) -> bool:
        self.clock.check()
        try:
            return self.state.run_twin(make_twin(self.situation.source, rewrites, self.situation.dimensions))[1]
        except Exception:
            return False
