"""Replay in double precision: the recorded operations run forward on a copy of memory with wider numbers.

Slopes that rounding hides in single precision are measured on it. It is trusted only where it gives the program's own
objective at the point itself, to the precision that the program has.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from retrograde.gradients.clock import UNTIMED, Clock
from retrograde.gradients.memory import Memory
from retrograde.gradients.sweep import SeedTerm
from retrograde.gradients.twins.compile import TwinError, quietly
from retrograde.gradients.twins.double import double_kernel, double_type, double_value, is_struct
from retrograde.gradients.window import Window
from retrograde.trace.arguments import Argument, StructRef
from retrograde.trace.arrays import ArrayRef
from retrograde.trace.extents import Extent
from retrograde.trace.operations import CopyCall, Kind, LaunchCall, Operation
from retrograde.trace.warp_api import types, wp

Float = npt.NDArray[np.float64]


class WideReplay:
    """Runs a window forward in double precision.

    Args:
        window: The operations.
        seeds: The objective.
        clock: When a run must be over; one that is not raises `OutOfTimeError`.

    Raises:
        TwinError: Something in the window has no translation; the message names it.
    """

    def __init__(self, window: Window, seeds: tuple[SeedTerm, ...], clock: Clock = UNTIMED) -> None:
        self.window, self.seeds, self.clock = window, seeds, clock
        refs = [window.parameter, *(a.ref for o in window.operations for a in o.accesses)]
        self._memory = _WideMemory(window.blocks, refs)
        self._start = window.contents_before(window.first)
        self._wide = _Wide(self._memory, [o.launch for o in window.operations if o.launch is not None])

    def value(self, ref: ArrayRef, at: int, values: Float | None) -> float:
        """The objective with other contents of an array, written just before an operation.

        Raises:
            TwinError: Warp cannot compile a translated kernel.
        """
        memory = self._memory
        for block in self.window.blocks:
            memory.take(block, self._start.read(block))
        total = 0.0
        for operation in self.window.operations:
            if operation.index == at and values is not None:
                memory.view(ref)[...] = values
            for seed in self.seeds:
                if seed.index == operation.index:
                    total += float(np.vdot(seed.weights, memory.view(seed.ref)))
            self.clock.check()
            self._step(operation)
        return total

    def _step(self, operation: Operation) -> None:
        memory = self._memory
        if operation.launch is not None:
            self._wide.launch(operation.launch)
        elif isinstance(operation.call, CopyCall):
            _copy(operation.call, memory)
        elif operation.data is not None and operation.kind is Kind.FILL:
            ref = operation.accesses[0].ref
            memory.elements(ref)[...] = _widened(operation.data.tobytes(), ref)
        elif operation.data is not None and operation.kind is Kind.HOST_WRITE:
            memory.take(operation.accesses[0].ref.extent, operation.data)


class WideLaunch:
    """One launch in double precision.

    Args:
        operation: The launch.
        before: Contents just before it.
        backward: Whether its adjoint is wanted.

    Raises:
        TwinError: It has no translation; the message says why.
    """

    def __init__(self, operation: Operation, before: Memory, backward: bool = False) -> None:
        assert operation.launch is not None
        self._call = operation.launch
        self._before = before
        refs = [a.ref for a in operation.accesses]
        self._memory = _WideMemory(before.blocks, refs)
        self._shadow = _WideMemory(before.blocks, refs) if backward else None
        self._wide = _Wide(self._memory, [operation.launch], self._shadow)

    def run(self, shifts: Sequence[tuple[ArrayRef, Float]]) -> None:
        """Launch it with its arrays moved, each by as much as is given.

        Raises:
            TwinError: Warp cannot compile the translated kernel.
        """
        for block in self._before.blocks:
            self._memory.take(block, self._before.read(block))
        for ref, shift in shifts:
            self._memory.view(ref)[...] += shift.reshape(ref.full_shape)
        self._wide.launch(self._call)

    def adjoint(self, weights: Sequence[tuple[ArrayRef, Float]]) -> list[Float]:
        """Adjoints once the launch has gone backward, of the arrays whose adjoints are given.

        Raises:
            TwinError: Warp cannot compile the translated kernel.
        """
        assert self._shadow is not None
        self.run(())
        for ref, values in weights:
            self._shadow.view(ref)[...] = values.reshape(ref.full_shape)
        self._wide.launch(self._call, adjoint=True)
        return [np.array(self._shadow.view(ref), dtype=np.float64).reshape(-1) for ref, _ in weights]

    def values(self, ref: ArrayRef) -> Float:
        """What the launch left in an array, flat."""
        return np.array(self._memory.view(ref), dtype=np.float64).reshape(-1)


class _Wide:
    """Launches in double precision, on memory of their own, and with a shadow of it backward too."""

    def __init__(self, memory: _WideMemory, launches: Iterable[LaunchCall], shadow: _WideMemory | None = None) -> None:
        self._memory = memory
        self._shadow = shadow
        self._kernels: dict[int, Any] = {}
        for call in launches:
            if id(call.kernel) not in self._kernels:
                self._kernels[id(call.kernel)] = double_kernel(call.kernel, backward=shadow is not None)

    def launch(self, call: LaunchCall, adjoint: bool = False) -> None:
        inputs = [self._argument(a) for a in call.arguments]
        backward: dict[str, Any] = {}
        if adjoint:
            backward = {"adjoint": True, "adj_inputs": [self._adjoint(a) for a in call.arguments]}
        try:
            with quietly():
                wp.launch(
                    self._kernels[id(call.kernel)],
                    call.dim,
                    inputs=inputs,
                    device=call.device,
                    record_tape=False,
                    max_blocks=call.max_blocks,
                    block_dim=call.block_dim,
                    **backward,
                )
        except Exception as error:
            message = str(error).strip().splitlines()
            raise TwinError(f"{call.kernel.key}: {message[-1] if message else type(error).__name__}") from error

    def _argument(self, argument: Argument) -> Any:
        if isinstance(argument, ArrayRef):
            return self._memory.descriptor(argument, self._shadow)
        if isinstance(argument, StructRef) and self._shadow is not None:
            raise TwinError("an argument is a struct")
        if isinstance(argument, StructRef):
            return self._struct(argument.cls, argument.copy(), argument.arrays, ())
        return double_value(argument)

    def _adjoint(self, argument: Argument) -> Any:
        if self._shadow is None or not isinstance(argument, ArrayRef) or not argument.differentiable:
            return None
        return self._shadow.descriptor(argument)

    def _struct(self, kind: Any, packed: Any, arrays: Mapping[Any, ArrayRef], path: tuple[str, ...]) -> Any:
        made = double_type(kind)()
        for name, variable in kind.vars.items():
            ref = arrays.get((*path, name))
            if ref is not None:
                setattr(made, name, self._memory.array(ref))
            elif is_struct(variable.type):
                setattr(made, name, self._struct(variable.type, getattr(packed, name), arrays, (*path, name)))
            elif not isinstance(variable.type, wp.array):
                setattr(made, name, _member(getattr(packed, name), variable.type))
        return made


def _member(value: Any, kind: Any) -> Any:
    """A scalar or a vector of a packed struct in double precision."""
    if isinstance(value, ctypes.Array):
        numbers: Any = np.ctypeslib.as_array(cast("Any", value)).reshape(-1)
        return double_type(kind)(*numbers.tolist())
    return double_value(value)


class _WideMemory:
    """A copy of a window's memory in which every float is a double.

    Raises:
        TwinError: A block holds numbers of several kinds, lies on a device, or is read through indices.
    """

    def __init__(self, blocks: Iterable[Extent], refs: Sequence[ArrayRef]) -> None:
        self._factors = {block: _factor(refs, block) for block in blocks}
        self._buffers: dict[Extent, Any] = {}
        for block, factor in self._factors.items():
            self._buffers[block] = np.zeros(-(-block.size * factor // 8) + 1, dtype=np.float64)

    def _block(self, ref: ArrayRef | Extent) -> Extent:
        extent = ref if isinstance(ref, Extent) else ref.extent
        return next(b for b in self._factors if b.overlaps(extent) or b.low == extent.low)

    def _pointer(self, ref: ArrayRef) -> tuple[int, int]:
        """Address of an array's first element in this copy, and how many times wider it is."""
        block = self._block(ref)
        factor = self._factors[block]
        return int(self._buffers[block].ctypes.data) + factor * (ref.pointer - block.low), factor

    def take(self, extent: Extent, data: npt.NDArray[np.uint8]) -> None:
        """Take the bytes of a range of the program's memory."""
        block = self._block(extent)
        factor = self._factors[block]
        start = factor * (extent.low - block.low)
        if factor == 1:
            self._buffers[block].view(np.uint8)[start : start + extent.size] = data
            return
        scalar = np.float32 if factor == 2 else np.float16
        numbers = np.frombuffer(data.tobytes(), dtype=scalar).astype(np.float64)
        self._buffers[block][start // 8 : start // 8 + numbers.size] = numbers

    def view(self, ref: ArrayRef) -> npt.NDArray[Any]:
        """An array's numbers, components of vectors as trailing axes, sharing memory with this copy."""
        return self._numbers(ref, ref.full_shape, ref.full_strides)

    def elements(self, ref: ArrayRef) -> npt.NDArray[Any]:
        """The same for arrays that may hold integers or structs: as numbers where it holds floats, else as bytes."""
        if ref.scalar is not None:
            return self.view(ref)
        return self._numbers(ref, (*ref.shape, ref.item), (*ref.strides, 1))

    def _numbers(self, ref: ArrayRef, shape: tuple[int, ...], strides: tuple[int, ...]) -> npt.NDArray[Any]:
        pointer, factor = self._pointer(ref)
        buffer = self._buffers[self._block(ref)]
        kind = np.float64 if ref.scalar is not None else np.uint8
        offset = pointer - int(buffer.ctypes.data)
        return np.ndarray(shape, kind, buffer=buffer.data, offset=offset, strides=tuple(factor * s for s in strides))

    def descriptor(self, ref: ArrayRef, shadow: _WideMemory | None = None) -> Any:
        """What a kernel is handed for an array."""
        pointer, factor = self._pointer(ref)
        gradient = 0 if shadow is None or not ref.differentiable else shadow._pointer(ref)[0]
        strides = tuple(factor * s for s in ref.strides)
        return types.array_t(
            data=pointer, grad=gradient, flags=0, ndim=len(ref.shape), shape=ref.shape, strides=strides
        )

    def array(self, ref: ArrayRef) -> Any:
        """What a struct's field is set to for an array."""
        pointer, factor = self._pointer(ref)
        strides = tuple(factor * s for s in ref.strides)
        dtype = double_type(ref.array.dtype)
        return wp.array(ptr=pointer, shape=ref.shape, strides=strides, dtype=dtype, device="cpu", copy=False)


def _factor(refs: Sequence[ArrayRef], block: Extent) -> int:
    """How many times wider a block's numbers become."""
    inside = [r for r in refs if r.extent.overlaps(block)]
    if block.device != "cpu":
        raise TwinError(f"an array lies on {block.device}")
    if any(r.indices or r.fields or r.held for r in inside):
        raise TwinError("an array of structs, or one read through indices, is used")
    widths = {8 // np.dtype(r.scalar).itemsize if r.scalar is not None else 1 for r in inside} or {1}
    if len(widths) > 1:
        raise TwinError("one piece of memory is read as numbers of several kinds")
    return widths.pop()


def _copy(call: CopyCall, memory: _WideMemory) -> None:
    source = memory.elements(call.source)
    inner = source.shape[len(call.source.shape) :]
    flat = source.reshape((-1, *inner))[call.source_offset : call.source_offset + call.count].copy()
    target = memory.elements(call.destination)
    whole = target.reshape((-1, *inner)).copy()
    whole[call.destination_offset : call.destination_offset + call.count] = flat
    target[...] = whole.reshape(target.shape)


def _widened(data: bytes, ref: ArrayRef) -> npt.NDArray[Any]:
    if ref.scalar is None:
        return np.frombuffer(data, dtype=np.uint8)
    return np.frombuffer(data, dtype=ref.scalar).astype(np.float64).reshape(ref.inner)
