"""Seeds that carry an earlier backward pass on, although they did not come straight from its buffers.

Whoever splits a long horizon into segments hands the gradient of one segment's start to the segment before as its
seed: the buffer itself, a copy of it, or the numbers by way of NumPy. The numbers tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from retrograde.trace.arrays import ArrayRef
from retrograde.trace.extents import Extent, read_bytes
from retrograde.trace.operations import Kind, Operation, Seed


def with_sources(seeds: Sequence[Seed], operations: Sequence[Operation]) -> tuple[Seed, ...]:
    """Seeds, each with the gradient buffer in which an earlier backward pass had left it.

    Args:
        seeds: Seeds of a backward pass that is about to run.
        operations: What the program did before.
    """
    return tuple(s if s.source is not None else replace(s, source=_source(s, operations)) for s in seeds)


def _source(seed: Seed, operations: Sequence[Operation]) -> Extent | None:
    if not seed.weights.any():
        return None
    values = seed.values()
    varied = bool(np.any(values != values.flat[0]))
    for operation in reversed(operations):
        if operation.kind is not Kind.BACKWARD or operation.backward is None:
            continue
        for extent, data in operation.backward.taped.items():
            if data.size != seed.weights.size or not np.array_equal(data, seed.weights):
                continue
            if varied or _same_contents(seed.ref, extent, operation.tape, operations):
                return extent
    return None


def _same_contents(ref: ArrayRef, gradient: Extent, tape: int | None, operations: Sequence[Operation]) -> bool:
    """Whether an array holds what the owner of a gradient holds: a number alone may be equal by chance."""
    owner = next(
        (a.ref for o in operations if o.tape == tape for a in o.accesses if a.ref.gradient_extent == gradient), None
    )
    if owner is None or owner.extent.size != ref.extent.size:
        return False
    return np.array_equal(read_bytes(owner.extent), read_bytes(ref.extent))
