"""Turns observed calls into a `Recording`; in a re-execution, perturbs and reads instead.

The recorder is told of a call before it runs (`begin`) and after (`commit`). Before a call that
writes, the contents about to be lost are kept, so that memory can be rolled back to any operation.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, cast

import numpy as np

from retrograde.trace.arguments import Argument, arrays_of, freeze, refs_in, with_owners
from retrograde.trace.arrays import ArrayRef, Held, describe, is_tangled
from retrograde.trace.callsite import NOWHERE, CallSite, call_site, user_frame
from retrograde.trace.carried import with_sources
from retrograde.trace.contents import ROOM, Contents, Room
from retrograde.trace.expressions import Reduction, reported_reduction
from retrograde.trace.extents import Bytes, Extent, read_bytes
from retrograde.trace.names import Names
from retrograde.trace.objects import ObjectRef, Objects, read_by
from retrograde.trace.operations import (
    BUILT,
    BY_HAND,
    Access,
    BackwardCall,
    CopyCall,
    Kind,
    LaunchCall,
    Operation,
    Recording,
    Undo,
)
from retrograde.trace.passes import Everything, leaves_of, outputs_of, sides_of, value_of
from retrograde.trace.plan import Outcome, Plan
from retrograde.trace.probe import Probe
from retrograde.trace.randomness import state_of_generators
from retrograde.trace.tapes import TapeIdentities, TapeState, gradient_contents, seeds_of
from retrograde.trace.threads import RecordedThread
from retrograde.trace.usage import KernelUsage, Path, Usage, kernel_usage
from retrograde.trace.volumes import without_settled_volumes
from retrograde.trace.warp_api import wp
from retrograde.trace.watches import Watches, is_used_later, locate_write

LOAD = Usage(load=True)
STORE = Usage(store=True)
_STARTS = (Kind.HOST_WRITE, Kind.COPY, Kind.LAUNCH, Kind.FILL, Kind.ROUTINE, Kind.TORCH)


@dataclass(eq=False)
class Pending:
    """A call under way."""

    index: int
    ordinal: int
    kind: Kind
    site: CallSite
    frame: FrameType | None
    tape: int | None = None
    accesses: tuple[Access, ...] = ()
    call: LaunchCall | CopyCall | BackwardCall | None = None
    gradients: dict[Extent, Bytes] = field(default_factory=dict[Extent, Bytes])
    viewed: dict[Extent, bool] = field(default_factory=dict[Extent, bool])


class Recorder:
    """Collects operations.

    Args:
        on_boundary: Called when an iteration may be beginning, before anything else happens; it may
            fork snapshots, or end the program.
        room: Where overwritten contents may be kept.
    """

    def __init__(self, on_boundary: Callable[[Recorder], None], room: Room = ROOM) -> None:
        self.on_boundary = on_boundary
        self.probe: Probe | None = None
        self.operations: list[Operation] = []
        self.names = Names()
        self.sites: dict[int, CallSite] = {}
        self.tapes = TapeIdentities()
        self.open_tape: int | None = None
        self.watches = Watches()
        self.notes: list[str] = []
        self.failure: str | None = None
        self.out_of_reach: str | None = None
        self.thread = RecordedThread()
        self.ordinal = -1
        self.backwards = 0
        self._contents = Contents(room)
        self._usages: dict[Any, KernelUsage] = {}
        self._since_backward = False
        self._in_backward: int | None = None
        self._seen_tape = False
        self.callbacks: dict[int, Callable[[], None]] = {}
        self._draws: bytes | None = None
        self.seeded: set[str] = set()
        self._site: CallSite | None = None
        self._passed_on: set[int] = set()
        self.stepping = False
        self._seen_torch = False
        self.in_torch: Callable[[], Mapping[int, Mapping[int, int]]] = dict
        self._arrays: dict[tuple[object, ...], Any] = {}
        self.objects = Objects()

    @staticmethod
    def here() -> CallSite:
        """The user's line under way."""
        frame = user_frame(inspect.currentframe())
        return call_site(frame) if frame is not None else NOWHERE

    @contextmanager
    def at(self, site: CallSite) -> Generator[None]:
        """Take calls for calls of another line: the one that captured them."""
        self._site = site
        try:
            yield
        finally:
            self._site = None

    def learn(self, arguments: Iterable[Any]) -> None:
        """Learn the names of arrays where the program has them at hand."""
        frame = user_frame(inspect.currentframe())
        for argument in arguments:
            for ref in refs_in(argument):
                self._learn(ref, frame)

    # -- the life of a call ------------------------------------------------------------------------

    def begin(self, kind: Kind, accesses: Iterable[Access], tape: int | None = None) -> Pending:
        """A call of the program is about to run."""
        accesses = tuple(accesses)
        self.thread.admit(a.ref.extent for a in accesses)
        self._notice_host_writes()
        self.ordinal += 1
        frame = user_frame(inspect.currentframe())
        site = self._site if self._site is not None else self.here()
        pending = Pending(len(self.operations), self.ordinal, kind, site, frame, tape, accesses)
        if self._is_opening(kind) or (self._since_backward and kind is not Kind.HOST_READ and self._may_start(pending)):
            self._since_backward = False
            if self.probe is None:
                self.on_boundary(self)
        if self.probe is not None:
            self.probe.inject(pending.ordinal, accesses)
            if kind is not Kind.BACKWARD:
                self.probe.read_before(pending.ordinal, accesses)
            return pending
        for access in pending.accesses:
            self._learn(access.ref, frame)
            if access.usage.load or access.usage.accumulate:
                self._keep_gradient(pending, access.ref)
            if access.usage.writes:
                self._contents.keep(pending.index, access.ref.extent)
        if kind is Kind.HOST_WRITE:
            # Those that the program sees through NumPy views.
            pending.gradients.update(self._contents.of_gradients([w.extent for w in self.watches.live()]))
        elif kind in (Kind.CLEAR, Kind.FILL):
            written = [a.ref.extent for a in pending.accesses]
            pending.viewed = {
                w.extent: is_used_later(frame, w.view()) for w in self.watches.live() if w.extent in written
            }
        return pending

    def commit(
        self,
        pending: Pending,
        data: Bytes | None = None,
        route: str | None = None,
        expression: Reduction | None = None,
    ) -> None:
        """The call has run."""
        for access in pending.accesses:
            if access.usage.writes:
                self.watches.refresh(access.ref.extent)
        if self.probe is not None:
            self.probe.crossings.note(pending.ordinal, pending.kind, pending.accesses, pending.call)
            return
        self.operations.append(
            Operation(
                index=len(self.operations),
                ordinal=pending.ordinal,
                kind=pending.kind,
                site=pending.site,
                tape=pending.tape,
                accesses=pending.accesses,
                call=pending.call,
                data=data,
                gradients=pending.gradients,
                route=route,
                expression=expression,
                viewed=pending.viewed,
                within=self.open_tape,
            )
        )

    def _is_opening(self, kind: Kind) -> bool:
        """Whether the program begins here, or a part of it that what came before is not needed for again."""
        in_tape, in_torch = self.open_tape is not None, kind is Kind.TORCH
        opening = self.ordinal == 0 or (in_tape and not self._seen_tape) or (in_torch and not self._seen_torch)
        self._seen_tape, self._seen_torch = self._seen_tape or in_tape, self._seen_torch or in_torch
        return opening

    def _may_start(self, pending: Pending) -> bool:
        """Whether an iteration can begin with this call: a tape is open, or a host value comes in.

        Not within a step of torch, which would be taken again in every re-execution.
        """
        return not self.stepping and (self.open_tape is not None or pending.kind in _STARTS)

    # -- launches and copies -----------------------------------------------------------------------

    def launch(self, kernel: Any, dim: Any, arguments: list[Any], device: str, taped: bool, **options: Any) -> Pending:
        """A forward launch is about to run."""
        usage, frozen, accesses = self._taken_apart(kernel, arguments)
        pending = self.begin(Kind.LAUNCH, accesses, self.open_tape if taped else None)
        if self.probe is None:
            self._name_objects(frozen, pending.frame)
        opaque = any(is_tangled(a.ref.array) for a in accesses)
        call = LaunchCall(kernel, dim, frozen, device, random=usage.random, opaque=opaque, **options)
        pending.call = call if self.probe is None else self.probe.with_injected(call, self.ordinal)
        return pending

    def _name_objects(self, arguments: Iterable[Argument], frame: FrameType | None) -> None:
        for argument in arguments:
            if isinstance(argument, ObjectRef) and argument.is_written:
                for ref in argument.arrays.values():
                    if id(ref.array) not in self.names.by_array:
                        self.names.learn_as(ref.array, argument.item, frame)

    def _taken_apart(
        self, kernel: Any, arguments: list[Any]
    ) -> tuple[KernelUsage, tuple[Argument, ...], tuple[Access, ...]]:
        """What a kernel does with its arguments, these as they are now, and the arrays in them."""
        usage = self._usages.get(kernel)
        if usage is None:
            usage = self._usages[kernel] = kernel_usage(kernel)
        given = self.objects.resolved(arguments, kernel)
        frozen = tuple(with_owners(freeze(a), self._owner) for a in given)
        labels = [a.label for a in kernel.adj.args]
        accesses = tuple(
            Access(ref, LOAD if _only_read(frozen[position], path) else usage.of(path), position, path)
            for position, path, ref in arrays_of(frozen, labels)
        )
        # Those of volumes come last: where they are left out of the recording, the others keep their places.
        return usage, frozen, tuple(sorted(accesses, key=lambda a: _is_volume(frozen[a.position])))

    def _owner(self, held: Held) -> Any:
        """The array object behind a descriptor in memory: one seen before at that place, else one made for it."""
        ref = held.ref
        key = (ref.pointer, ref.shape, ref.strides)
        if key not in self._arrays:
            layout: dict[str, Any] = {"shape": ref.shape, "strides": ref.strides, "device": ref.device}
            self._arrays[key] = wp.array(ptr=ref.pointer, dtype=held.dtype, **layout)
        return self._arrays[key]

    def copy(self, destination: Any, source: Any, offsets: tuple[int, int], count: int, taped: bool) -> Pending | None:
        """A copy between arrays is about to run."""
        to, of = describe(destination), describe(source)
        if to is None or of is None:
            return None
        whole = offsets == (0, 0) and count in (0, of.array.size) and of.array.size == to.array.size
        usage = STORE if whole else Usage(store=True)
        accesses = (Access(to, usage, 0, ("dest",)), Access(of, LOAD, 1, ("src",)))
        on_tape = taped and to.gradient is not None and of.gradient is not None
        pending = self.begin(Kind.COPY, accesses, self.open_tape if on_tape else None)
        pending.call = CopyCall(to, of, offsets[0], offsets[1], count or int(of.array.size))
        return pending

    def fill(self, array: Any) -> Pending | None:
        """A fill is about to run."""
        ref = describe(array)
        if ref is None:
            return None
        return self.begin(Kind.FILL, (Access(ref, STORE, 0, ("self",)),))

    def created(self, array: Any, from_host: bool, shared_with: Any = None) -> None:
        """An array came into being; its first contents are a fill or a host write."""
        ref = describe(array)
        if ref is None:
            return
        kind = Kind.HOST_WRITE if from_host else Kind.FILL
        pending = self.begin(kind, ())
        pending.accesses = (Access(ref, STORE, 0, ("self",)),)
        if self.probe is None:
            self._learn(ref, None)
            self.sites[id(array)] = pending.site
        if from_host:
            self.commit_write(pending)
        else:
            self.commit_fill(pending)
        if shared_with is not None:
            self.watches.add(ref, shared_with)

    # -- the host ----------------------------------------------------------------------------------

    def host_read(self, array: Any) -> Pending | None:
        """The host is about to read an array."""
        ref = describe(array)
        if ref is None:
            return None
        return self.begin(Kind.HOST_READ, (Access(ref, LOAD, 0, ("self",)),))

    def host_read_done(self, pending: Pending, view: Any) -> None:
        """The host has read an array."""
        ref = pending.accesses[0].ref
        if self.probe is None:
            expression = None
            if ref.differentiable and pending.frame is not None and ref.size > 1:
                expression = reported_reduction(pending.frame, view)
            self.commit(pending, read_bytes(ref.extent), expression=expression)
        else:
            self.commit(pending)
        if ref.device == "cpu" and isinstance(view, np.ndarray) and view.size:
            low, _ = np.lib.array_utils.byte_bounds(cast("np.ndarray[Any, Any]", view))
            if ref.extent.low <= low < ref.extent.high:
                self.watches.add(ref, view)

    def host_write(self, array: Any) -> Pending | None:
        """The host is about to write an array."""
        ref = describe(array)
        if ref is None:
            return None
        return self.begin(Kind.HOST_WRITE, (Access(ref, STORE, 0, ("self",)),))

    def commit_write(self, pending: Pending) -> None:
        """A host write has run."""
        self.commit(pending, None if self.probe is not None else self._contents.copy(pending.accesses[0].ref.extent))

    def routine(self, inputs: Sequence[ArrayRef], outputs: Sequence[ArrayRef]) -> Pending:
        """A library routine is about to read and write some arrays."""
        accesses = [Access(r, STORE, i, ("outputs",)) for i, r in enumerate(outputs)]
        accesses += [Access(r, LOAD, i, ("inputs",)) for i, r in enumerate(inputs, len(outputs))]
        return self.begin(Kind.ROUTINE, accesses)

    def commit_routine(self, pending: Pending, made: Any) -> None:
        """A library routine has run, and may have made its result."""
        ref = describe(made)
        if ref is not None and not any(a.ref.pointer == ref.pointer for a in pending.accesses):
            pending.accesses = (Access(ref, STORE, len(pending.accesses), ("outputs",)), *pending.accesses)
            self._learn(ref, None)
        self._commit_routine(pending)

    def _commit_routine(self, pending: Pending, route: str | None = None) -> None:
        written = [a.ref.extent for a in pending.accesses if a.usage.writes]
        data = [read_bytes(e) for e in written] if self.probe is None else []
        self.commit(pending, np.concatenate(data) if data else None, route)

    def build(self, item: Any, method: str, given: Mapping[str, Any]) -> Pending | None:
        """An object that kernels search is about to be made, or built on what some arrays hold."""
        read, builds = read_by(item, method, given), self.objects.builds(item)
        if not read:
            self._note_build(item, method, given)
            return None
        pending = self.routine(read, () if builds is None else (builds.ref,))
        if builds is not None and self.probe is None:
            self.names.learn_as(builds.count, item, pending.frame)
        return pending

    def commit_build(self, pending: Pending, item: Any, method: str, given: Mapping[str, Any]) -> None:
        """An object has been built."""
        self._note_build(item, method, given)
        self._commit_routine(pending, BUILT)

    def _note_build(self, item: Any, method: str, given: Mapping[str, Any]) -> None:
        builds = self.objects.builds(item)
        if builds is None or self.probe is not None:
            return
        note = "There was no room to keep what hash grids or BVHs were built on."
        if not builds.add(item, method, given, self._contents.spare) and note not in self.notes:
            self.notes.append(note)

    def commit_fill(self, pending: Pending) -> None:
        """A fill has run; the bytes of one element tell its value."""
        ref = pending.accesses[0].ref
        first = Extent(ref.device, ref.pointer, ref.pointer + ref.item)
        self.commit(pending, None if self.probe is not None else read_bytes(first))

    def fail(self, error: Exception) -> None:
        """Something of ours went wrong: end the recording, or the re-execution."""
        self.failure = f"{type(error).__name__}: {error}"
        if self.probe is not None:
            self.probe.fail(self.failure)

    def clear(self, tape: TapeState) -> Pending:
        """The gradients of a tape are about to be cleared."""
        refs: dict[int, ArrayRef] = {}
        for gradient in tape.gradients.values():
            ref = describe(gradient)
            if ref is not None:
                refs[ref.pointer] = ref
        return self.begin(Kind.CLEAR, [Access(r, STORE, i, ("gradients",)) for i, r in enumerate(refs.values())])

    def _notice_host_writes(self) -> None:
        for change in self.watches.changes():
            access = Access(change.watch.ref, STORE, 0, ("self",))
            if self.probe is not None:
                self.probe.crossings.note(self.ordinal, Kind.HOST_WRITE, (access,), None)
                continue
            index = len(self.operations)
            self._contents.add(index, Undo(change.watch.extent, change.before))
            frame = user_frame(inspect.currentframe())
            last = self.operations[-1].site if self.operations else NOWHERE
            site = locate_write(frame, change.watch.view(), last.line) or self._site_of_view(change.watch.extent, frame)
            self.operations.append(
                Operation(
                    index=index,
                    ordinal=self.ordinal,
                    kind=Kind.HOST_WRITE,
                    site=site,
                    accesses=(access,),
                    data=change.watch.last,
                    route="NumPy view",
                    within=self.open_tape,
                )
            )

    def _site_of_view(self, extent: Extent, frame: FrameType | None) -> CallSite:
        """Where a view was handed out: what writes through it may lie anywhere the view went to."""
        for operation in reversed(self.operations):
            if operation.kind is Kind.HOST_READ and operation.accesses[0].ref.extent == extent:
                return operation.site
        return call_site(frame) if frame is not None else NOWHERE

    # -- tapes -------------------------------------------------------------------------------------

    def enter(self, tape: Any, anew: bool = False) -> None:
        """A tape was opened; where a graph is launched, as if it were another than at the launch before."""
        self.thread.open_tape()
        self._notice_host_writes()
        self.open_tape = self.tapes.renew(tape) if anew else self.tapes.of(tape)

    def leave(self) -> None:
        """The open tape was closed."""
        self.thread.admit(())
        self._notice_host_writes()
        self.open_tape = None

    def callback(self, tape: Any, function: Any, arrays: Iterable[Any]) -> None:
        """`Tape.record_func` was called."""
        refs = [r for r in map(describe, arrays) if r is not None]
        pending = self.begin(Kind.CALLBACK, [Access(r, LOAD, i, ("arrays",)) for i, r in enumerate(refs)])
        pending.tape = self.tapes.of(tape)
        pending.call = None
        self.commit(pending)
        if self.probe is None:
            self.callbacks[self.operations[-1].index] = function

    def backward(self, tape: TapeState, loss: Any, grads: dict[Any, Any] | None) -> tuple[Pending, dict[str, Any]]:
        """A backward pass is about to run."""
        self.thread.open_tape()
        number = self.tapes.of(tape.tape)
        self._in_backward = len(self.operations) if self.probe is None else None
        loss_ref = describe(loss) if loss is not None else None
        pending = self.begin(Kind.BACKWARD, [Access(loss_ref, LOAD, 0, ("loss",))] if loss_ref is not None else [])
        pending.tape = number
        outputs = Everything() if self.probe is not None else outputs_of(self.operations, number)
        seeds = seeds_of(tape, loss, grads, outputs, self._contents.gradients)
        if self.probe is not None:
            self.probe.read_terms(pending.ordinal, loss_ref, seeds)
            return pending, {}
        reused = self.tapes.count_backward(number) > 0
        leaves = leaves_of(self.operations, number)
        details = {
            "tape": number,
            "loss": loss_ref,
            "seeds": with_sources(seeds, self.operations),
            "leftovers": gradient_contents(tape),
            "before": {e: read_bytes(e) for e in leaves},
            "leaves": leaves,
            "reused": reused,
            "value": value_of(loss_ref, seeds),
        }
        return pending, details

    def backward_done(self, pending: Pending, details: dict[str, Any]) -> None:
        """A backward pass has run."""
        self.end_of_backward(pending, details.pop("leaves", ()), details)

    def end_of_backward(self, pending: Pending, leaves: Iterable[Extent], details: dict[str, Any]) -> None:
        """A backward pass has run, and left its gradients in some buffers."""
        self.backwards += 1
        self._since_backward = True
        self._in_backward = None
        self.watches.refresh_all()
        if self.probe is not None:
            return
        draws = state_of_generators(pending.frame, self.seeded)
        details["draws"] = self._draws is not None and draws != self._draws
        self._draws = draws
        pending.call = BackwardCall(taped={e: read_bytes(e) for e in leaves}, **details)
        self.commit(pending)

    def launch_in_backward(self, kernel: Any, arguments: list[Any]) -> None:
        """A function recorded on a tape, which a backward pass runs, is about to launch a kernel."""
        if self._in_backward is not None:
            accesses = self._taken_apart(kernel, arguments)[2]
            self.write_in_backward([a.ref for a in accesses if a.usage.writes])

    def write_in_backward(self, refs: Iterable[ArrayRef]) -> None:
        """A function that a backward pass runs is about to write to some arrays, beside the gradients."""
        if self._in_backward is not None:
            for ref in refs:
                self._contents.keep_in_backward(self._in_backward, ref.extent)

    def adjoint_launch(
        self, kernel: Any, values: list[Any], adjoints: list[Any]
    ) -> tuple[Pending, dict[str, Any]] | None:
        """A launch of a kernel's adjoint by hand is about to run: a backward pass of one launch.

        Args:
            kernel: The kernel.
            values: Its arguments.
            adjoints: Adjoints of its arguments, None where an argument's own gradient buffer serves.
        """
        usage = self._usages.get(kernel) or self._usages.setdefault(kernel, kernel_usage(kernel))
        leaves, seeds = sides_of(kernel, usage, values, adjoints, self._passed_on)
        if not seeds:
            return None
        pending = self.begin(Kind.BACKWARD, [Access(ref, LOAD, i, BY_HAND) for i, ref in enumerate(leaves)])
        pending.tape = self.tapes.fresh()
        if self.probe is not None:
            self.probe.read_terms(pending.ordinal, None, tuple(seeds))
            return pending, {}
        extents = [e for ref in leaves if (e := ref.gradient_extent) is not None]
        before = {e: read_bytes(e) for e in extents}
        return pending, {
            "tape": pending.tape,
            "loss": None,
            "seeds": tuple(seeds),
            "leftovers": {e: data for e, data in before.items() if data.any()},
            "before": before,
            "leaves": extents,
            "reused": False,
            "value": value_of(None, tuple(seeds)),
        }

    def adjoint_done(self, pending: Pending, details: dict[str, Any]) -> None:
        """The launch of an adjoint has run; what it left in buffers may seed the next one."""
        self._passed_on.update(e.low for e in details.get("leaves", ()))
        self.backward_done(pending, details)

    # -- contents and names ------------------------------------------------------------------------

    def _keep_gradient(self, pending: Pending, ref: ArrayRef) -> None:
        """Keep what a gradient buffer held when something read it."""
        if self.open_tape is None and ref.pointer in self._contents.gradients:
            pending.gradients[ref.extent] = read_bytes(ref.extent)

    def _learn(self, ref: ArrayRef, frame: FrameType | None) -> None:
        self._contents.know(ref)
        self._arrays.setdefault((ref.pointer, ref.shape, ref.strides), ref.array)
        self.names.learn(ref, frame)

    # -- the end -----------------------------------------------------------------------------------

    def begin_re_execution(self, plan: Plan, finish: Callable[[Outcome], None]) -> None:
        """From now on carry out a plan instead of recording."""
        self.probe = Probe(plan, finish)

    def obstacle(self) -> str | None:
        """Why nothing can be said about the program, None where something can."""
        return self.out_of_reach or self.thread.obstacle(self.operations)

    def result(self) -> Recording:
        """Everything so far."""
        return Recording(
            operations=without_settled_volumes(self.operations),
            undo={k: tuple(v) for k, v in self._contents.undo.items()},
            names=dict(self.names.by_array),
            sites=dict(self.sites),
            notes=tuple(self.notes),
            callbacks=dict(self.callbacks),
            in_torch=self.in_torch(),
            segments=self._contents.segments,
        )


def _is_volume(argument: Argument) -> bool:
    return isinstance(argument, ObjectRef) and argument.is_written


def _only_read(argument: object, path: Path) -> bool:
    """Whether an array is one that kernels can only read: indices, or what an object holds."""
    return (isinstance(argument, ObjectRef) and not _is_volume(argument)) or path[-1].startswith("indices")
