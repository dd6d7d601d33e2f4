"""A reverse sweep over recorded operations: what a perfect tape would give, or a given imperfect one.

Memory is rolled back operation by operation while adjoints flow through a shadow of it. Every
property that makes the result ideal can be switched off alone (`Policy`): that is how causes are proven.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

from retrograde.gradients.backward_on import has_adjoint, with_backward
from retrograde.gradients.binding import run_adjoint
from retrograde.gradients.callbacks import run_callback
from retrograde.gradients.clock import UNTIMED, Clock
from retrograde.gradients.copies import CopyAdjoint, adjoint_of_copy
from retrograde.gradients.memory import Memory, gradient_values
from retrograde.gradients.policy import IDEAL, Moment, Policy, Treatment
from retrograde.gradients.window import Window
from retrograde.trace.arrays import ArrayRef
from retrograde.trace.crossings import FROM_OUTSIDE
from retrograde.trace.extents import Bytes, Extent, meets, merge
from retrograde.trace.operations import Access, CopyCall, LaunchCall, Operation
from retrograde.trace.usage import Path

Float = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SeedTerm:
    """A part of the objective: weights on an array's elements when a backward pass begins.

    Attributes:
        index: Operation just before which the array is read.
        ref: The array.
        weights: Its weights, in the array's full shape.
        backward: The backward pass that the program itself seeded with it; its index unless something else
            overwrote the array in between.
    """

    index: int
    ref: ArrayRef
    weights: Float
    backward: int = -1


@dataclass(frozen=True, eq=False)
class Target:
    """A gradient that is wanted: of an array, as its adjoint when an operation has first read it."""

    ref: ArrayRef
    index: int


class Listener(Protocol):
    """Told of the operations that a sweep goes back through."""

    def before(self, operation: Operation, shadow: Memory) -> None:
        """The sweep is about to go back through an operation."""
        ...

    def after(self, operation: Operation, contents: Memory, shadow: Memory) -> None:
        """The sweep has gone back through an operation; contents are those before it."""
        ...


class Sweep:
    """Sweeps over one window.

    Args:
        window: The operations.
        seeds: The objective.
        treatments: How launches' adjoints are to be run, by operation index.
        begin: Index of the operation at which the sweep ends; the window's first if None. What lies before it is
            there for `Policy.again`.
        clock: When a sweep must be over; a sweep that is not raises `OutOfTimeError`.
    """

    def __init__(
        self,
        window: Window,
        seeds: tuple[SeedTerm, ...],
        treatments: Mapping[int, Treatment],
        begin: int | None = None,
        clock: Clock = UNTIMED,
    ) -> None:
        self.window = window
        self.seeds = seeds
        self.treatments = treatments
        self.begin = window.first if begin is None else begin
        self.clock = clock
        self._plain = Treatment()
        self._seen: dict[int, dict[Path, tuple[Float, Float]]] = {}

    def run(
        self, targets: tuple[Target, ...], policy: Policy = IDEAL, listener: Listener | None = None
    ) -> tuple[Float, ...]:
        """Gradients of the objective with respect to the targets.

        With `policy.tapes` set, the sweep follows these tapes only; for the gradient of several
        backward passes that know nothing of each other, run it once a tape and add.
        """
        shadow = Memory(self.window.blocks, policy.joined)
        found = self._sweep(shadow, targets, policy, listener)
        if not policy.again:
            return found
        more = self._once_more(targets, policy)
        return tuple(a + b for a, b in zip(found, more, strict=True))

    def _sweep(
        self, shadow: Memory, targets: tuple[Target, ...], policy: Policy, listener: Listener | None = None
    ) -> tuple[Float, ...]:
        truth = self.window.contents_at_end()
        stale = truth if not policy.stale else self.window.contents_at_end()
        found: dict[int, Float] = {}
        for operation in reversed(self.window.operations):
            if operation.index < self.begin:
                break
            self.clock.check()
            for index, extent in policy.cuts:
                if index == operation.index:
                    shadow.write(extent, np.zeros(extent.size, dtype=np.uint8))
            if not self._takes_part(operation, policy):
                self._roll_back(operation, truth, stale, policy)
            elif listener is None:
                self._adjoint(operation, truth, stale, shadow, policy)
            else:
                listener.before(operation, shadow)
                self._adjoint(operation, truth, stale, shadow, policy)
                listener.after(operation, truth, shadow)
            self._seed(operation, shadow, policy, targets)
            for position, target in enumerate(targets):
                if target.index == operation.index:
                    found[position] = shadow.values(target.ref)
        return tuple(found.get(i, np.zeros(t.ref.full_shape)) for i, t in enumerate(targets))

    def _once_more(self, targets: tuple[Target, ...], policy: Policy) -> tuple[Float, ...]:
        """What earlier operations of tapes that were entered again add: run as a tape does, on present contents.

        No clear comes in between, for a tape records none.
        """
        unheard = frozenset(o.site.key for o in self.window.operations if o.kind in FROM_OUTSIDE and o.tape is None)
        shadow = Memory(self.window.blocks, policy.joined)
        self._sweep(shadow, targets, policy.without(uncleared=policy.uncleared | unheard))
        for target in targets:
            end_of_life(target.ref, shadow)
        present = self.window.contents_at_end()

        def as_it_is(position: int, path: Path, ref: ArrayRef) -> Memory:
            return present

        for operation in reversed(self.window.operations):
            if operation.index >= self.begin or operation.tape not in policy.again:
                continue
            call = operation.call
            function = self.window.recording.callbacks.get(operation.index)
            if isinstance(call, LaunchCall):
                if self._takes_part(operation, policy):
                    run_adjoint(call, as_it_is, shadow, kept=policy.kept)
            elif isinstance(call, CopyCall):
                adjoint_of_copy(call, shadow, self._copy_adjoint(operation, call, policy))
            elif function is not None:
                run_callback(function, (a.ref for a in operation.accesses), present, shadow)
        return tuple(shadow.values(t.ref) for t in targets)

    # -- one operation -----------------------------------------------------------------------------

    def _takes_part(self, operation: Operation, policy: Policy) -> bool:
        key = operation.site.key
        if key in policy.skipped or (operation.tape is None and key in policy.unrecorded):
            return False
        if operation.launch is not None and not self._has_usable_adjoint(operation, operation.launch, policy):
            return False
        if policy.tapes is None:
            return True
        return operation.tape is None or operation.tape in policy.tapes

    def _has_usable_adjoint(self, operation: Operation, call: LaunchCall, policy: Policy) -> bool:
        if call.opaque or operation.index in self.window.stood_for or operation.index in policy.omitted:
            return False
        return has_adjoint(call) or (
            operation.index in self.window.upstream
            and call.kernel.key not in policy.disabled
            and with_backward(call) is not None
        )

    def _seed(self, operation: Operation, shadow: Memory, policy: Policy, targets: tuple[Target, ...]) -> None:
        kept = operation.index in policy.leftovers
        if operation.backward is not None and (kept or operation.tape in policy.again):
            own = [e for t in targets if (e := t.ref.gradient_extent) is not None]
            if not kept:
                own += [e for a in self._accessed(operation.tape) if (e := a.gradient_extent) is not None]
            self._leave(operation.backward.leftovers, operation, shadow, own)
        for term in self.seeds:
            if (term.backward if term.index in policy.late else term.index) == operation.index:
                shadow.set_values(term.ref, shadow.values(term.ref) + term.weights)

    def _leave(
        self, leftovers: Mapping[Extent, Bytes], operation: Operation, shadow: Memory, own: Sequence[Extent]
    ) -> None:
        """Put the gradients that lay in the buffers into the shadow, but for those of the targets themselves.

        What was left behind a write that passes nothing back was left because of that, and passes nothing back either.
        """
        seen: set[int] = set()
        passing, blocked = self._writers(operation)
        replaced = operation.backward.replaced if operation.backward is not None else frozenset[int]()
        for ref in self._taped_refs(operation.tape):
            extent = ref.gradient_extent
            if extent is None or extent.low in seen or extent not in leftovers or any(extent.overlaps(e) for e in own):
                continue
            if extent.low in replaced or (meets(ref.extent, blocked) and not meets(ref.extent, passing)):
                continue
            seen.add(extent.low)
            for leaf in ref.leaves:
                if shadow.covers(leaf.extent):
                    shadow.set_values(leaf, shadow.values(leaf) + gradient_values(leftovers[extent], leaf, extent))

    def _writers(self, backward: Operation) -> tuple[tuple[Extent, ...], tuple[Extent, ...]]:
        """Memory that the window writes before a pass: what the pass goes back through, and what it does not."""
        passing: list[Extent] = []
        blocked: list[Extent] = []
        for operation in self.window.operations[: backward.index - self.window.first]:
            recorded = operation.tape is not None and (operation.launch is None or has_adjoint(operation.launch))
            back = recorded or operation.index in self.window.stood_for
            (passing if back else blocked).extend(a.ref.extent for a in operation.accesses if a.usage.writes)
        return merge(passing), merge(blocked)

    def _accessed(self, tape: int | None) -> list[ArrayRef]:
        """Arrays that a tape uses from the beginning of the sweep on."""
        return [a.ref for o in self.window.operations if o.index >= self.begin and o.tape == tape for a in o.accesses]

    def _taped_refs(self, tape: int | None) -> list[ArrayRef]:
        return [a.ref for o in self.window.operations if o.tape == tape for a in o.accesses]

    def _roll_back(self, operation: Operation, truth: Memory, stale: Memory, policy: Policy) -> None:
        entries = self.window.undo(operation.index)
        truth.undo(entries)
        if stale is not truth and operation.site.key not in policy.stale:
            stale.undo(entries)

    def _adjoint(self, operation: Operation, truth: Memory, stale: Memory, shadow: Memory, policy: Policy) -> None:
        call = operation.call
        if isinstance(call, LaunchCall):
            self._launch(operation, call, truth, stale, shadow, policy)
            return
        function = self.window.recording.callbacks.get(operation.index)
        if function is not None:
            self._callback(operation, function, truth, shadow, policy)
        self._roll_back(operation, truth, stale, policy)
        if isinstance(call, CopyCall):
            adjoint_of_copy(call, shadow, self._copy_adjoint(operation, call, policy))
        elif operation.kind in FROM_OUTSIDE and operation.site.key not in policy.uncleared:
            for access in operation.accesses:
                if access.usage.writes:
                    end_of_life(access.ref, shadow)

    def _callback(
        self, operation: Operation, function: Callable[[], None], truth: Memory, shadow: Memory, policy: Policy
    ) -> None:
        treatment = self.treatments.get(operation.index, self._plain)
        if treatment.disbelieved and treatment.label not in policy.faults:
            return
        assigned = () if treatment.label in policy.faults else treatment.assigned
        kept = [(ref, shadow.values(ref)) for ref in assigned]
        run_callback(function, (a.ref for o in self.window.operations for a in o.accesses), truth, shadow)
        for ref, values in kept:
            shadow.set_values(ref, shadow.values(ref) + values)

    def _copy_adjoint(self, operation: Operation, call: CopyCall, policy: Policy) -> CopyAdjoint:
        return CopyAdjoint(
            blind=any((id(ref.array), False) in policy.blind for ref in (call.destination, call.source)),
            kept=id(call.destination.array) in policy.kept,
            replaces=operation.site.key in policy.replacing,
        )

    def _launch(
        self, operation: Operation, call: LaunchCall, truth: Memory, stale: Memory, shadow: Memory, policy: Policy
    ) -> None:
        treatment = self.treatments.get(operation.index, self._plain)
        if call.kernel.key in policy.plain_adjoint:
            treatment = replace(treatment, vjp=None, cure=None)
        entries = self.window.undo(operation.index)
        own = operation.site.key in policy.stale_own

        severed = [a.ref for a in operation.accesses if (operation.index, a.path) in policy.severed]

        def blind(ref: ArrayRef, in_struct: bool) -> bool:
            return (id(ref.array), in_struct) in policy.blind or any(ref is s for s in severed)

        hidden = blind if policy.blind or severed else None
        cure = treatment.cure
        if cure is not None and not own and (cure.counts or not cure.labels <= policy.faults):
            self._roll_back(operation, truth, stale, policy)
            left = cure.labels & policy.faults
            borrowed = self._borrowed(operation, policy, truth, stale, lambda a: a.usage.writes)
            both = (truth, stale) if borrowed is None else (borrowed, borrowed)
            cure.adjoint(operation, both, shadow, left, hidden)
            return
        if treatment.vjp is not None and not own:
            self._roll_back(operation, truth, stale, policy)
            kept = [(ref, shadow.values(ref)) for ref in severed]
            borrowed = self._borrowed(operation, policy, truth, stale, lambda a: a.usage.writes)
            treatment.vjp(operation, truth if borrowed is None else borrowed, shadow)
            for ref, values in kept:
                shadow.set_values(ref, values)
            return
        early = () if own else [u for u in entries if self._moment(operation, u.extent, treatment) is Moment.BEFORE]
        truth.undo(early)
        if stale is not truth and operation.site.key not in policy.stale:
            stale.undo(early)

        def is_early(ref: ArrayRef) -> bool:
            return any(u.extent.overlaps(ref.extent) for u in early)

        borrowed = self._borrowed(operation, policy, truth, stale, lambda a: is_early(a.ref))

        def contents(position: int, path: Path, ref: ArrayRef) -> Memory:
            own = truth if is_early(ref) else stale
            return own if borrowed is None else borrowed

        run_adjoint(call, contents, shadow, hidden, policy.kept)
        self._roll_back(operation, truth, stale, policy)

    def _borrowed(
        self, operation: Operation, policy: Policy, truth: Memory, stale: Memory, is_true: Callable[[Access], bool]
    ) -> Memory | None:
        """Contents for a launch with what another launch of its kernel saw; None where it borrows nothing.

        What a launch sees that lends to others is noted: where `is_true` holds the true contents, else stale ones.
        """
        lenders, by_borrower = _lending(policy.lent, policy.echoed)

        def seen(access: Access) -> Float:
            return (truth if is_true(access) else stale).values(access.ref)

        if operation.index in lenders:
            self._seen[operation.index] = {a.path: (seen(a), truth.values(a.ref)) for a in operation.accesses}
        changes: list[tuple[ArrayRef, Float]] = []
        for lender, whole in by_borrower.get(operation.index, ()):
            if lender not in self._seen:
                continue
            for access in operation.accesses:
                values, true = self._seen[lender].get(access.path, (np.empty(0), np.empty(0)))
                if values.shape == access.ref.full_shape and (whole or not np.array_equal(values, true)):
                    changes.append((access.ref, values if whole else np.where(values == true, seen(access), values)))
        if not changes:
            return None
        found = Memory(self.window.blocks)
        found.copy_from(stale)
        for access in operation.accesses:
            found.set_values(access.ref, seen(access))
        for ref, values in changes:
            found.set_values(ref, values)
        return found

    def _moment(self, operation: Operation, extent: Extent, treatment: Treatment) -> Moment:
        for access in operation.accesses:
            if access.usage.writes and access.ref.extent.overlaps(extent) and access.path in treatment.by_array:
                return treatment.by_array[access.path]
        return treatment.moment


@lru_cache(maxsize=4)
def _lending(
    lent: frozenset[tuple[int, int]], echoed: frozenset[tuple[int, int]]
) -> tuple[frozenset[int], Mapping[int, Sequence[tuple[int, bool]]]]:
    """Launches that lend what they saw; and for each that borrows from whom, and whether all of it."""
    found: dict[int, list[tuple[int, bool]]] = {}
    for pairs, whole in ((echoed, False), (lent, True)):
        for lender, borrower in sorted(pairs):
            found.setdefault(borrower, []).append((lender, whole))
    return frozenset(lender for lender, _ in lent | echoed), found


def end_of_life(ref: ArrayRef, shadow: Memory) -> None:
    """An overwrite from outside: what was there before cannot have mattered any more."""
    for leaf in ref.leaves:
        if shadow.covers(leaf.extent):
            shadow.set_values(leaf, np.zeros(leaf.full_shape))
