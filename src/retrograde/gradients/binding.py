"""Launches on other memory: the recorded arguments with their pointers moved into copies.

Warp takes array descriptors verbatim, so a launch is rebound by handing it fresh descriptors: same
shape, strides and type, contents in one copy of memory, gradient in another. The gradient of a
descriptor and the adjoint argument are the same shadow, and `retain_grad` is off, because only then do
Warp's store adjoints consume what they pass on.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from retrograde.gradients.backward_on import with_backward
from retrograde.gradients.memory import Memory
from retrograde.gradients.twins.compile import quietly
from retrograde.trace.arguments import Argument, StructRef, field
from retrograde.trace.arrays import ArrayRef
from retrograde.trace.builds import Builds, kept_in
from retrograde.trace.extents import Bytes, read_bytes
from retrograde.trace.objects import ObjectRef, built_again, built_on
from retrograde.trace.operations import LaunchCall
from retrograde.trace.usage import Path
from retrograde.trace.warp_api import types, wp

Contents = Callable[[int, Path, ArrayRef], Memory]
Blind = Callable[[ArrayRef, bool], bool]
_RETAIN = 1


@dataclass(frozen=True)
class _Packed:
    """A struct argument that is packed already."""

    structure: ctypes.Structure

    def __ctype__(self) -> ctypes.Structure:
        return self.structure


class _Holders:
    """Arrays of structs that hold arrays, for the time of one launch: copies that point into other memory.

    Args:
        shadow: Where the gradients of the arrays held lie, if anywhere.
        blind: Arrays that have none.
        kept: Identities of array objects whose adjoint a store passes on but does not consume.
    """

    def __init__(self, shadow: Memory | None, blind: Blind, kept: frozenset[int] = frozenset()) -> None:
        self.shadow = shadow
        self.blind = blind
        self.kept = kept
        self._copies: list[tuple[ArrayRef, Memory, Memory]] = []
        self._built: list[Any] = []

    def pointer(self, ref: ArrayRef, contents: Callable[[ArrayRef], Memory]) -> int:
        """Where to find an array in place of its own memory; `contents` says which copy an array's contents are in."""
        memory = contents(ref)
        if not ref.held:
            return memory.pointer(ref.device, ref.pointer)
        own = Memory((ref.extent,))
        data = memory.read(ref.extent)
        for held in ref.held:
            there = contents(held.ref).pointer(ref.device, held.ref.pointer)
            gradient = _shadow_pointer(held.ref, self.shadow, self.blind, in_struct=True)
            _point(data, ref.pointer - ref.extent.low + held.offset, there, gradient)
        own.write(ref.extent, data)
        self._copies.append((ref, own, memory))
        return own.pointer(ref.device, ref.pointer)

    def object(self, argument: ObjectRef, contents: Callable[[str, ArrayRef], Memory]) -> int:
        """The number of an object on other memory: its own where its arrays hold there what they hold now."""
        there = {name: contents(name, ref) for name, ref in argument.arrays.items()}
        pairs = [(there[name].read(ref.extent), read_bytes(ref.extent)) for name, ref in argument.arrays.items()]
        if not argument.is_written and all(np.array_equal(a, b) for a, b in pairs):
            return argument.identity
        if argument.builds is None:
            arrays = {name: _array_in(there[name], ref) for name, ref in argument.arrays.items()}
            self._built.append(built_on(argument.item, arrays))
        else:
            (count,) = (there[name].read(ref.extent) for name, ref in argument.arrays.items())
            self._built.append(_as_built(argument.builds, count, argument.item))
        return int(self._built[-1].id)

    def flags(self, ref: ArrayRef) -> int:
        """Warp's flags for an array."""
        return _RETAIN if id(ref.array) in self.kept else 0

    def give_back(self) -> None:
        """Take over what the launch wrote to the copies, but for where they point."""
        for ref, own, memory in self._copies:
            before, after = memory.read(ref.extent), own.read(ref.extent)
            for held in ref.held:
                start = ref.pointer - ref.extent.low + held.offset
                stop = start + ctypes.sizeof(types.array_t)
                after[start:stop] = before[start:stop]
            memory.write(ref.extent, after)


def _array_in(memory: Memory, ref: ArrayRef) -> Any:
    pointer = memory.pointer(ref.device, ref.pointer)
    return wp.array(ptr=pointer, shape=ref.shape, strides=ref.strides, dtype=ref.array.dtype, device=ref.device)


def _as_built(builds: Builds, count: Bytes, present: Any) -> Any:
    """An object as it was when it was built for the time that a count says; as it is where it never was."""
    number, calls = builds.calls(count)
    if not calls:
        return present
    if builds.made_again is None or builds.made_again[0] != number:
        memory = Memory.covering(kept.ref for kept in kept_in(calls))
        for kept in kept_in(calls):
            memory.write(kept.ref.extent, kept.data)
        item = built_again(builds, calls, lambda kept: _array_in(memory, kept.ref))
        builds.made_again = number, item, memory
    return builds.made_again[1]


def _point(data: Bytes, at: int, pointer: int, gradient: int) -> None:
    for offset, address in ((types.array_t.data.offset, pointer), (types.array_t.grad.offset, gradient)):
        data[at + offset : at + offset + 8] = np.frombuffer(np.uint64(address).tobytes(), dtype=np.uint8)


def run_forward(call: LaunchCall, contents: Memory, kernel: Any = None, extra: Sequence[Any] = ()) -> None:
    """Run a recorded launch on a copy of memory.

    Args:
        call: The launch.
        contents: The memory.
        kernel: A twin in place of the recorded kernel.
        extra: The twin's further arguments.
    """
    holders = _Holders(None, _sees_all)
    inputs = _inputs(call, contents, holders)
    with _as_loud_as(kernel):
        _launch(call, [*inputs, *extra], kernel)
    holders.give_back()


def prepared_forward(call: LaunchCall, contents: Memory) -> Callable[[], None]:
    """A recorded launch on a copy of memory, bound once to be run many times.

    What lies behind arrays that hold arrays, and in objects, is looked up anew in every run.
    """
    if any(_looks_further(argument) for argument in call.arguments):
        return lambda: run_forward(call, contents)
    bound = _launch(call, _inputs(call, contents, _Holders(None, _sees_all)), record_cmd=True)
    return lambda: run_forward(call, contents) if bound is None else bound.launch()


def _looks_further(argument: Argument) -> bool:
    """Whether an argument depends on what memory holds."""
    if isinstance(argument, ArrayRef):
        return bool(argument.held)
    if isinstance(argument, StructRef):
        return any(ref.held for ref in argument.arrays.values())
    return isinstance(argument, ObjectRef)


def _inputs(call: LaunchCall, contents: Memory, holders: _Holders) -> list[Any]:
    labels = [a.label for a in call.kernel.adj.args]
    return [
        _forward(argument, lambda position, path, ref: contents, position, label, holders)
        for position, (argument, label) in enumerate(zip(call.arguments, labels, strict=True))
    ]


def _launch(call: LaunchCall, inputs: list[Any], kernel: Any = None, **options: Any) -> Any:
    return wp.launch(
        call.kernel if kernel is None else kernel,
        call.dim,
        inputs=inputs,
        device=call.device,
        record_tape=False,
        max_blocks=call.max_blocks,
        block_dim=call.block_dim,
        **options,
    )


def run_adjoint(
    call: LaunchCall,
    contents: Contents,
    shadow: Memory,
    blind: Blind | None = None,
    kept: frozenset[int] = frozenset(),
    kernel: Any = None,
    extra: Sequence[Any] = (),
) -> None:
    """Run the adjoint of a recorded launch.

    Args:
        call: The launch.
        contents: Which copy of memory an array's contents come from.
        shadow: Adjoints, one for each address.
        blind: Arrays that have no adjoint; told whether the array came in a struct.
        kept: Identities of array objects whose adjoint a store does not consume.
        kernel: A twin in place of the recorded kernel.
        extra: The twin's further arguments.
    """
    hidden = _sees_all if blind is None else blind
    labels = [a.label for a in call.kernel.adj.args]
    holders = _Holders(shadow, hidden, kept)
    inputs = [
        _forward(a, contents, i, label, holders)
        for i, (a, label) in enumerate(zip(call.arguments, labels, strict=True))
    ]
    adjoints = [_adjoint(a, shadow, hidden) for a in call.arguments]
    for value in extra:
        if isinstance(value, wp.array) and value.grad is not None:
            value.grad.zero_()
    with _as_loud_as(kernel):
        wp.launch(
            with_backward(call) if kernel is None else kernel,
            call.dim,
            inputs=[*inputs, *extra],
            adj_inputs=[*adjoints, *(None for _ in extra)],
            device=call.device,
            adjoint=True,
            record_tape=False,
            max_blocks=call.max_blocks,
            block_dim=call.block_dim,
        )


def _as_loud_as(kernel: Any) -> AbstractContextManager[None]:
    """Twins are loaded without a word: the user knows nothing of them."""
    return nullcontext() if kernel is None else quietly()


def _sees_all(ref: ArrayRef, in_struct: bool) -> bool:
    return False


def _forward(argument: Argument, contents: Contents, position: int, label: str, holders: _Holders) -> Any:
    if isinstance(argument, ArrayRef):
        return _array(argument, lambda ref: contents(position, (label,), ref), holders)
    if isinstance(argument, StructRef):
        structure = argument.copy()
        for path, ref in argument.arrays.items():
            member = field(structure, path)
            whole = (label, *path)
            member.data = holders.pointer(ref, lambda ref, whole=whole: contents(position, whole, ref))
            member.grad = _shadow_pointer(ref, holders.shadow, holders.blind, in_struct=True)
            member.flags = holders.flags(ref)
        return _Packed(structure)
    if isinstance(argument, ObjectRef):
        return holders.object(argument, lambda name, ref: contents(position, (label, name), ref))
    return argument


def _adjoint(argument: Argument, shadow: Memory, blind: Blind) -> Any:
    if isinstance(argument, ArrayRef):
        pointer = _shadow_pointer(argument, shadow, blind)
        return _descriptor(argument, pointer, 0) if pointer else None
    if isinstance(argument, StructRef):
        structure = argument.copy()
        for path, ref in argument.arrays.items():
            member = field(structure, path)
            member.data = _shadow_pointer(ref, shadow, blind, in_struct=True)
            member.grad = 0
        return _Packed(structure)
    return None


def _shadow_pointer(ref: ArrayRef, shadow: Memory | None, blind: Blind, in_struct: bool = False) -> int:
    if shadow is None or not ref.differentiable or blind(ref, in_struct):
        return 0
    return shadow.pointer(ref.device, ref.pointer)


def _array(ref: ArrayRef, contents: Callable[[ArrayRef], Memory], holders: _Holders) -> Any:
    pointer = holders.pointer(ref, contents)
    gradient = _shadow_pointer(ref, holders.shadow, holders.blind)
    if not ref.indices:
        return _descriptor(ref, pointer, gradient, holders.flags(ref))
    dtype = ref.array.data.dtype
    layout: dict[str, Any] = {"shape": ref.shape, "strides": ref.strides, "dtype": dtype, "device": ref.device}
    base = wp.array(ptr=pointer, **layout)
    if gradient:
        base.grad = wp.array(ptr=gradient, **layout)
    return wp.indexedarray(base, list(ref.array.indices)[: len(ref.shape)])


def _descriptor(ref: ArrayRef, data: int, gradient: int, flags: int = 0) -> Any:
    layout = {"ndim": len(ref.shape), "shape": ref.shape, "strides": ref.strides}
    return types.array_t(data=data, grad=gradient, flags=flags, **layout)
