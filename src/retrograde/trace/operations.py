"""What a program did, one immutable record an operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from retrograde.trace.arguments import Argument
from retrograde.trace.arrays import ArrayRef
from retrograde.trace.callsite import CallSite
from retrograde.trace.expressions import Reduction
from retrograde.trace.extents import Bytes, Extent
from retrograde.trace.usage import Path, Usage


class Kind(Enum):
    """Kinds of operations; the value is the word used for them in reports."""

    LAUNCH = "launch"
    COPY = "copy"
    FILL = "fill"
    HOST_READ = "host read"
    HOST_WRITE = "host write"
    BACKWARD = "backward"
    CLEAR = "clear of gradients"
    CALLBACK = "recorded function"
    ROUTINE = "library routine"
    TORCH = "use by torch"


TORCH = 0
"""Stands for torch's autograd where the number of a tape is expected."""

BY_HAND: Path = ("adjoint",)
"""Path of an array whose gradient an adjoint launched by hand adds to."""

SHARED = "memory shared with torch"
"""Route of a host read that only hands memory to torch."""

BUILT = "an object built again"
"""Route of a library routine that builds what kernels search."""


@dataclass(frozen=True, eq=False)
class Access:
    """One array that an operation touched.

    Attributes:
        ref: The array as it was.
        usage: What was done to it.
        position: Index of the argument.
        path: Label of the argument, and the fields below it.
    """

    ref: ArrayRef
    usage: Usage
    position: int = 0
    path: Path = ()


@dataclass(frozen=True, eq=False)
class LaunchCall:
    """A forward launch.

    Attributes:
        kernel: The kernel, its overload resolved.
        dim: Launch dimensions.
        arguments: All arguments in order.
        max_blocks, block_dim: As given.
        random: Whether the kernel draws random numbers.
        opaque: Whether it reaches arrays that are not among its arguments, so that it cannot run on other memory.
    """

    kernel: Any
    dim: Any
    arguments: tuple[Argument, ...]
    device: str
    max_blocks: int = 0
    block_dim: int | None = None
    random: bool = False
    opaque: bool = False


@dataclass(frozen=True, eq=False)
class CopyCall:
    """A copy between arrays, in elements; `count` elements from flat offsets."""

    destination: ArrayRef
    source: ArrayRef
    destination_offset: int
    source_offset: int
    count: int


@dataclass(frozen=True, eq=False)
class Seed:
    """An incoming gradient of a backward pass: weights on the elements of an array.

    Attributes:
        ref: The array.
        weights: The weights, packed.
        explicit: Whether they were handed over, or found in the array's gradient buffer.
        source: The gradient buffer in which an earlier backward pass had left them; None where they are the
            program's own.
    """

    ref: ArrayRef
    weights: Bytes
    explicit: bool
    source: Extent | None = None

    @property
    def continued(self) -> bool:
        """Whether it carries an earlier backward pass on."""
        return self.source is not None

    def values(self) -> npt.NDArray[np.float64]:
        """The weights in the full shape of the array."""
        scalar = np.dtype(self.ref.scalar if self.ref.scalar is not None else np.float32)
        return np.frombuffer(self.weights, dtype=scalar).astype(np.float64).reshape(self.ref.full_shape)


@dataclass(frozen=True, eq=False)
class BackwardCall:
    """One `Tape.backward`, one adjoint launch by hand, or one backward pass of torch.

    Attributes:
        tape: Identity of the tape.
        loss: The loss array handed over, None where seeds were given another way.
        seeds: Seeds handed over or found in gradient buffers.
        leftovers: Gradient buffers of the tape's arrays that were not zero when it began.
        before: What the gradients of the tape's leaves held when it began.
        taped: What they held at its end.
        reused: Whether this tape ran backward before.
        draws: Whether the host drew random numbers since the backward pass before.
        value: What the loss, or the seeds' weighted sum, was when it began; None where neither was seen.
    """

    tape: int
    loss: ArrayRef | None
    seeds: tuple[Seed, ...]
    leftovers: Mapping[Extent, Bytes]
    before: Mapping[Extent, Bytes]
    taped: Mapping[Extent, Bytes]
    reused: bool
    draws: bool = False
    value: float | None = None

    @property
    def continues(self) -> bool:
        """Whether the pass carries an earlier one on, or was seeded with nothing, as if that had left nothing."""
        return any(s.continued for s in self.seeds) or (self.loss is None and not self.seeds)

    @property
    def replaced(self) -> frozenset[int]:
        """Addresses of the gradient buffers that the call itself sets: what lay there before does not matter."""
        handed = [s.ref for s in self.seeds if s.explicit] + ([self.loss] if self.loss is not None else [])
        return frozenset(ref.gradient for ref in handed if ref.gradient is not None)


@dataclass(frozen=True, eq=False)
class Operation:
    """One thing the program did.

    Attributes:
        index: Position in the recording.
        ordinal: Position among the calls the program made itself, equal in every execution.
        kind: What it was.
        site: The user's line.
        tape: Identity of the tape that recorded it, None off the tape.
        within: Identity of the tape that was open, whether it recorded the operation or not.
        accesses: Arrays touched.
        call: The details, by kind.
        data: Bytes read or written by the host; of a fill, the bytes of one element; of a library routine, those of
            all arrays that it wrote, one after the other.
        gradients: Contents of gradient buffers at the moment they were read.
        route: How the write came, for the report.
        viewed: Gradient buffers that NumPy views of the program showed when they were about to be cleared, and
            whether the program goes on to use such a view.
        expression: The number that the program computes from a host read.
    """

    index: int
    ordinal: int
    kind: Kind
    site: CallSite
    tape: int | None = None
    accesses: tuple[Access, ...] = ()
    call: LaunchCall | CopyCall | BackwardCall | None = None
    data: Bytes | None = None
    gradients: Mapping[Extent, Bytes] = field(default_factory=dict[Extent, Bytes])
    route: str | None = None
    expression: Reduction | None = None
    viewed: Mapping[Extent, bool] = field(default_factory=dict[Extent, bool])
    within: int | None = None

    @property
    def launch(self) -> LaunchCall | None:
        """The launch, if it is one."""
        return self.call if isinstance(self.call, LaunchCall) else None

    @property
    def copy(self) -> CopyCall | None:
        """The copy, if it is one."""
        return self.call if isinstance(self.call, CopyCall) else None

    @property
    def backward(self) -> BackwardCall | None:
        """The backward pass, if it is one."""
        return self.call if isinstance(self.call, BackwardCall) else None

    @property
    def label(self) -> str:
        """A few words for reports."""
        if self.launch is not None:
            return f"launch of {self.launch.kernel.key}"
        return "build" if self.route == BUILT else self.kind.value


@dataclass(frozen=True, eq=False)
class Undo:
    """Contents that an operation was about to overwrite."""

    extent: Extent
    data: Bytes


@dataclass(frozen=True, eq=False)
class Segment:
    """A stretch of operations of whose overwritten contents only those at its beginning are kept.

    Attributes:
        begin, end: Index of its first operation, and of the first one after it.
        dropped: Ranges overwritten whose contents were not kept, by operation index.
    """

    begin: int
    end: int
    dropped: Mapping[int, tuple[Extent, ...]]


@dataclass(frozen=True, eq=False)
class Recording:
    """Everything observed of one execution.

    Attributes:
        operations: In program order.
        undo: Overwritten contents by operation index.
        names: Names of arrays by identity of the array object.
        sites: Call sites that created arrays, likewise.
        notes: What could not be observed, a sentence each.
        callbacks: Functions recorded with `Tape.record_func`, by operation index.
        in_torch: Addresses of the gradients of torch's parameters, each with those where torch itself kept it when a
            backward pass began, by the ordinal of the pass.
        segments: Stretches whose overwritten contents `undo` does not have, in program order.
    """

    operations: tuple[Operation, ...]
    undo: Mapping[int, tuple[Undo, ...]]
    names: Mapping[int, str]
    sites: Mapping[int, CallSite]
    notes: tuple[str, ...] = ()
    callbacks: Mapping[int, Callable[[], None]] = field(default_factory=dict[int, Callable[[], None]])
    in_torch: Mapping[int, Mapping[int, int]] = field(default_factory=dict[int, Mapping[int, int]])
    segments: tuple[Segment, ...] = ()

    def name(self, ref: ArrayRef) -> str:
        """What the program calls an array."""
        name = self.names.get(id(ref.array), "an unnamed array")
        return f"{name}.{ref.field}" if ref.field else name
