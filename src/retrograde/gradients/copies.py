"""The adjoint of a copy between arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from retrograde.gradients.memory import Memory
from retrograde.trace.arrays import ArrayRef
from retrograde.trace.operations import CopyCall


@dataclass(frozen=True)
class CopyAdjoint:
    """How the adjoint of one copy is run; as it stands, as it should be.

    Attributes:
        blind: The source has no adjoint: what comes back to the destination is lost.
        kept: The destination's adjoint stays where it is (`retain_grad`).
        replaces: The source's adjoint is replaced instead of added to, and the destination's stays: Warp before 1.17.
    """

    blind: bool = False
    kept: bool = False
    replaces: bool = False


PLAIN = CopyAdjoint()


def adjoint_of_copy(call: CopyCall, shadow: Memory, how: CopyAdjoint = PLAIN) -> None:
    """Move the destination's adjoint to the source.

    Args:
        call: The copy.
        shadow: Adjoints, changed.
        how: What is switched off.
    """
    for to, of in zip(call.destination.leaves, call.source.leaves, strict=False):
        _move(call, to, of, shadow, how)


def _move(call: CopyCall, to: ArrayRef, of: ArrayRef, shadow: Memory, how: CopyAdjoint) -> None:
    whole = call.count == to.array.size == of.array.size
    width = int(np.prod(to.inner, dtype=np.int64))
    first, last = (
        (0, to.size) if whole else (call.destination_offset * width, (call.destination_offset + call.count) * width)
    )
    incoming = shadow.values(to).reshape(-1)
    moved = incoming[first:last].copy()
    if not (how.kept or how.replaces):
        incoming[first:last] = 0.0
        shadow.set_values(to, incoming.reshape(to.full_shape))
    if how.blind:
        return
    outgoing = shadow.values(of).reshape(-1)
    start = 0 if whole else call.source_offset * width
    part = slice(start, start + moved.size)
    outgoing[part] = moved if how.replaces else outgoing[part] + moved
    shadow.set_values(of, outgoing.reshape(of.full_shape))
