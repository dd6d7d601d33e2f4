"""The objective where something replaced it before backward began.

A program may report its loss and clear it for the next round, still before `backward()`: by a fill, or by a kernel
on the tape. What backward begins from is then no longer what was computed, and no function of the parameters: the
objective is what the array held before.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from retrograde.gradients.backward_on import has_adjoint
from retrograde.gradients.binding import run_adjoint
from retrograde.gradients.memory import Memory
from retrograde.gradients.objective import Objective
from retrograde.gradients.sweep import SeedTerm
from retrograde.gradients.window import Window
from retrograde.trace.arrays import ArrayRef
from retrograde.trace.operations import Access, Kind, LaunchCall, Operation
from retrograde.trace.plan import Term
from retrograde.trace.usage import Path


def before_resets(window: Window, objective: Objective) -> Objective:
    """The objective, each part of it read before whatever replaced it."""
    if len(objective.terms) != len(objective.seeds):
        return objective
    seeds, used, terms = list(objective.seeds), list(objective.used), list(objective.terms)
    total = objective.value
    for number, seed in enumerate(objective.seeds):
        operation = _replaced_by(window, seed)
        slot = None if operation is None else _slot(operation, seed.ref)
        if operation is None or slot is None:
            continue
        seeds[number] = replace(seed, index=operation.index)
        used[number] = replace(used[number], index=operation.index)
        terms[number] = Term(operation.ordinal, (seed.weights,), slot)
        if total is not None:
            late, early = (_value(window, s) for s in (seed, seeds[number]))
            total += early - late
    return replace(objective, seeds=tuple(seeds), used=tuple(used), terms=tuple(terms), value=total)


def _value(window: Window, seed: SeedTerm) -> float:
    return float(np.vdot(seed.weights, window.contents_before(seed.index).values(seed.ref)))


def _slot(operation: Operation, ref: ArrayRef) -> int | None:
    """Position of the very array among those that an operation touches."""
    return next((n for n, a in enumerate(operation.accesses) if a.ref.pointer == ref.pointer), None)


def _replaced_by(window: Window, seed: SeedTerm) -> Operation | None:
    """The first of the operations that replaced what was computed, None where backward begins from that itself."""
    extent = seed.ref.extent
    writers = [
        (o, a)
        for o in window.operations[: seed.index - window.first]
        for a in o.accesses
        if a.usage.writes and a.ref.extent.overlaps(extent)
    ]
    found: Operation | None = None
    for operation, access in reversed(writers):
        if operation is writers[0][0] or not _replaces(window, operation, access, seed.ref):
            break
        found = operation
    return found


def _replaces(window: Window, operation: Operation, access: Access, ref: ArrayRef) -> bool:
    """Whether what an operation leaves in an array has nothing to do with what the program computed."""
    if not access.usage.store or access.usage.accumulate or not access.ref.extent.contains(ref.extent):
        return False
    if operation.kind is Kind.FILL:
        return True
    if operation.kind is Kind.HOST_WRITE:
        return operation.route is None and operation.data is not None and not operation.data.any()
    call = operation.call
    return isinstance(call, LaunchCall) and has_adjoint(call) and _passes_nothing_on(window, operation, call, ref)


def _passes_nothing_on(window: Window, operation: Operation, call: LaunchCall, ref: ArrayRef) -> bool:
    """Whether the adjoint of a launch leaves nothing of an adjoint on one of its results."""
    contents = window.contents_before(operation.index + 1)
    shadow = Memory(window.blocks)
    shadow.set_values(ref, np.ones(ref.full_shape))

    def after(position: int, path: Path, ref: ArrayRef) -> Memory:
        return contents

    run_adjoint(call, after, shadow)
    return not any(shadow.read(block).any() for block in shadow.blocks)
