"""Which arrays are parameters: float arrays whose gradient the program reads for itself."""

from __future__ import annotations

from collections.abc import Sequence, Set

from retrograde.gradients.consumption import put_aside, touches
from retrograde.gradients.leaves import TapedUses
from retrograde.trace.arrays import ArrayRef
from retrograde.trace.extents import Extent
from retrograde.trace.operations import Kind, Recording


def find_owners(recording: Recording) -> tuple[list[ArrayRef], bool]:
    """Leaves whose gradient buffers are read outside backward passes; where none is, all that the tapes read.

    Returns:
        The leaves, and whether their gradients are read.
    """
    by_gradient: dict[int, ArrayRef] = {}
    for operation in recording.operations:
        for access in operation.accesses:
            for leaf in access.ref.leaves if access.ref.gradient is not None else ():
                assert leaf.gradient is not None
                known = by_gradient.get(leaf.gradient)
                if known is None or known.size < leaf.size:
                    by_gradient[leaf.gradient] = leaf
    read = _read_for_themselves(recording)
    uses = TapedUses.of(recording, list(by_gradient.values()))
    leaves = [ref for ref in by_gradient.values() if uses.is_leaf(ref)]
    chosen = [ref for ref in leaves if _is_read(ref, read)]
    if chosen:
        return chosen, True
    return [ref for ref in leaves if uses.is_launched(ref)], False


def reads_gradients(recording: Recording) -> bool:
    """Whether the program has read a leaf's gradient for itself."""
    return find_owners(recording)[1]


def _is_read(ref: ArrayRef, read: Set[Extent]) -> bool:
    """Whether the gradient was among the ranges read: from its beginning on, or with the struct that it is part of."""
    gradient = ref.gradient_extent
    assert gradient is not None
    if ref.field:
        return any(e.contains(gradient) for e in read)
    return any(e.low == gradient.low for e in read)


def _read_for_themselves(recording: Recording) -> set[Extent]:
    """Gradient buffers that the program reads, but for what it reads to seed another backward pass with it.

    The line that reads such a gradient may read one more, which nothing is left to be seeded with.
    """
    readings = [o for o in recording.operations if o.kind is not Kind.HOST_WRITE and o.gradients]
    lines, before = set(put_aside(recording)), -1
    for operation in recording.operations:
        if operation.backward is None:
            continue
        carried = {s.source for s in operation.backward.seeds if s.source is not None}
        between = [o for o in readings if before < o.index < operation.index] if carried else []
        lines |= {o.site.key for o in between if not carried.isdisjoint(o.gradients)}
        before = operation.index
    return {extent for o in readings if o.site.key not in lines for extent in o.gradients}


def first_use(recording: Recording, ref: ArrayRef) -> int:
    """Index of the first operation that touches an array."""
    extent = ref.extent
    return next((o.index for o in recording.operations if any(touches(o, extent))), len(recording.operations))


def made_anew_by_name(recording: Recording, owners: Sequence[ArrayRef]) -> dict[str, list[ArrayRef]]:
    """Arrays by name: a parameter built anew in each iteration has several."""
    named: dict[str, list[ArrayRef]] = {}
    for ref in sorted(owners, key=lambda r: first_use(recording, r)):
        named.setdefault(recording.name(ref), []).append(ref)
    return named
