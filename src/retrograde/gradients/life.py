"""One life of one parameter, and what its gradient buffer went through.

A life is the time during which a parameter's contents stay as they are: a forward pass reads them, a backward pass
differentiates, an update ends the life. Accumulating gradients over several backward passes without an update is one
life.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from retrograde.gradients.by_number import NumberUse
from retrograde.gradients.consumption import Reading, assembled
from retrograde.gradients.memory import gradient_values
from retrograde.gradients.orphans import Orphan
from retrograde.trace.arrays import ArrayRef
from retrograde.trace.operations import Operation

Float = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Life:
    """One life of one parameter.

    Attributes:
        name: What the program calls the parameter.
        ref: The parameter.
        iteration: Zero-based number of the life.
        first: Operation that first reads the contents.
        slot: Index of the access by which it does.
        offset: Address of the parameter minus the address of the array accessed [byte].
        backwards: Backward passes whose gradients the consumer can have seen.
        update: Operation that ends the life, None where the parameter is made anew or the program ends.
        readings: Readings of the gradient that make up what was consumed.
        consumed: The gradient that was used.
        taped: The gradient at the end of the backward passes.
        cleared: A clear of the gradient between the backward pass and its use, if any.
        earlier: Gradients taped for earlier lives, the latest first.
        numbers: Where launches are given the contents by value, for a parameter that no operation reads.
        orphan: A step that should have changed the parameter and changed another array.
        meant: The gradient that the tape left for the parameter, where such a step took another one or none.
        in_torch: Whether it is a parameter of torch: used, differentiated and updated there.
        inner: Of a parameter of torch, the lives of its contents in Warp within torch's backward passes.
        nested: Whether its backward passes run within those of torch.
    """

    name: str
    ref: ArrayRef
    iteration: int
    first: Operation
    slot: int
    offset: int
    backwards: tuple[Operation, ...]
    update: Operation | None
    readings: tuple[Reading, ...]
    consumed: Float | None
    taped: Float | None
    cleared: Operation | None = None
    earlier: tuple[Float, ...] = field(default=())
    numbers: tuple[NumberUse, ...] = field(default=())
    orphan: Orphan | None = None
    meant: Float | None = None
    in_torch: bool = False
    inner: tuple[Life, ...] = field(default=())
    nested: bool = False

    @property
    def last(self) -> int:
        """Index of the last backward pass."""
        return self.backwards[-1].index


def taped_gradient(ref: ArrayRef, backwards: Sequence[Operation], readings: Sequence[Reading]) -> Float | None:
    """What the tape left: the buffer's contents after each pass that was read on its own, added."""
    gradient = ref.gradient_extent
    if gradient is None:
        return None
    ends = [backwards[-1]]
    if len(readings) > 1:
        limits = [r.operation.index for r in readings]
        ends = [max((b for b in backwards if b.index < limit), key=lambda b: b.index) for limit in limits]
    found = [
        gradient_values(data, ref)
        for b in ends
        if b.backward is not None and (data := assembled(b.backward.taped, gradient)) is not None
    ]
    return sum(found[1:], found[0]) if found else None


def fresh_gradient(life: Life) -> Float | None:
    """What the life's own backward passes added to the gradient buffer; None where that was not seen."""
    if life.orphan is not None:
        return life.meant
    if life.taped is None or life.ref.gradient is None or len(life.readings) > 1:
        return None
    started = first_to_add(life)
    return life.taped if started is None else life.taped - started[1]


def first_to_add(life: Life) -> tuple[Operation, Float] | None:
    """The first backward pass of a life that adds to its gradient buffer, and what lay there before it."""
    return next(_additions(life), None)


def added_to(life: Life) -> list[tuple[Operation, Float]]:
    """For each reading of a life's gradient, the first pass that added to what was read, and what lay there before."""
    found: list[tuple[Operation, Float]] = []
    begin = -1
    for end in [r.operation.index for r in life.readings[:-1]] + [life.last + 1]:
        found += [(o, old) for o, old in _additions(life) if begin < o.index < end][:1]
        begin = end
    return found


def _additions(life: Life) -> Iterator[tuple[Operation, Float]]:
    gradient = life.ref.gradient_extent
    for operation in life.backwards if gradient is not None else ():
        assert gradient is not None
        before = assembled(operation.backward.before, gradient) if operation.backward is not None else None
        if before is not None:
            yield operation, gradient_values(before, life.ref)


def is_bookkeeping_clean(life: Life) -> bool:
    """Whether what was used is what the tape left, and the tape began with empty buffers.

    In torch, and in Warp within torch; of what torch makes of it in between nothing is known.
    """
    if life.in_torch and not (life.inner and all(is_bookkeeping_clean(n) for n in life.inner)):
        return False
    fresh = fresh_gradient(life)
    if life.consumed is None or life.taped is None or fresh is None:
        return False
    empty = all(o.backward is not None and not o.backward.leftovers for o in life.backwards)
    return empty and np.array_equal(life.consumed, life.taped) and np.array_equal(fresh, life.taped)
