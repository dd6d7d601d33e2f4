"""The arguments of a launch, frozen as the launch saw them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from retrograde.trace.arrays import ArrayRef, Held, describe
from retrograde.trace.objects import ObjectRef
from retrograde.trace.usage import Path
from retrograde.trace.warp_api import wp


@dataclass(frozen=True, eq=False)
class StructRef:
    """A struct argument: a copy of its memory, and the arrays its fields held.

    Attributes:
        layout: The `ctypes` structure type.
        memory: The bytes that were handed to the kernel.
        arrays: Arrays by the path of fields that leads to them, with the gradient that a tape would use.
        packed: Address of the gradient that the packed field carried, 0 where it had none: it differs
            from the array's own where the flag was set after the struct took the array.
        cls: Warp's description of the struct.
    """

    layout: type[ctypes.Structure]
    memory: bytes
    arrays: Mapping[Path, ArrayRef]
    packed: Mapping[Path, int]
    cls: Any

    def copy(self) -> ctypes.Structure:
        """A fresh structure with the recorded bytes."""
        return self.layout.from_buffer_copy(self.memory)


Argument = ArrayRef | StructRef | ObjectRef | object


def freeze(value: Any) -> Argument:
    """Freeze one argument."""
    if isinstance(value, wp.array | wp.indexedarray):
        described = describe(value)
        return value if described is None else described
    if hasattr(value, "_cls") and hasattr(value, "_ctype"):
        return _freeze_struct(value)
    if isinstance(value, ctypes.Array):
        return _copy_of(cast("Any", value))
    return value


def _copy_of(value: Any) -> Any:
    return type(value)(*value)


def _freeze_struct(value: Any) -> StructRef:
    packed: Any = value.__ctype__()
    arrays: dict[Path, ArrayRef] = {}
    gradients: dict[Path, int] = {}
    for path, field in struct_arrays(value):
        described = describe(field)
        if described is None:
            continue
        arrays[path] = described
        gradients[path] = _packed_gradient(packed, path)
    layout = cast("type[ctypes.Structure]", type(packed))
    return StructRef(layout, bytes(packed), arrays, gradients, value._cls)


def struct_arrays(value: Any, prefix: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Arrays held by a struct and by the structs inside it."""
    for name in value._cls.vars:
        field = getattr(value, name, None)
        if isinstance(field, wp.array | wp.indexedarray):
            yield (*prefix, name), field
        elif hasattr(field, "_cls") and hasattr(field, "_ctype"):
            yield from struct_arrays(field, (*prefix, name))


def field(structure: Any, path: Path) -> Any:
    """The member of a ctypes structure at a path of names."""
    for name in path:
        structure = getattr(structure, name)
    return structure


def _packed_gradient(structure: Any, path: Path) -> int:
    member = field(structure, path)
    member = getattr(member, "data", member) if not isinstance(getattr(member, "data", 0), int) else member
    return int(getattr(member, "grad", 0) or 0)


def with_owners(argument: Argument, owner: Callable[[Held], Any]) -> Argument:
    """An argument with the array objects of the arrays that its arrays of structs hold.

    Args:
        argument: The argument.
        owner: Finds them.
    """
    if isinstance(argument, ArrayRef) and argument.held:
        held = tuple(replace(h, ref=replace(h.ref, array=owner(h))) for h in argument.held)
        return replace(argument, held=held)
    if isinstance(argument, StructRef) and any(r.held for r in argument.arrays.values()):
        arrays = {path: with_owners(ref, owner) for path, ref in argument.arrays.items()}
        return replace(argument, arrays=cast("dict[Path, ArrayRef]", arrays))
    return argument


def refs_in(argument: Any) -> Iterator[ArrayRef]:
    """The arrays of one argument, frozen or not."""
    frozen = freeze(argument)
    if isinstance(frozen, ArrayRef):
        yield frozen
    elif isinstance(frozen, StructRef):
        yield from frozen.arrays.values()


def arrays_of(arguments: Sequence[Argument], labels: Sequence[str]) -> Iterator[tuple[int, Path, ArrayRef]]:
    """Every array among the arguments with its position and path."""
    for position, (argument, label) in enumerate(zip(arguments, labels, strict=True)):
        if isinstance(argument, ArrayRef):
            yield position, (label,), argument
            for axis, index in enumerate(argument.indices):
                if index is not None:
                    yield position, (label, f"indices{axis}"), index
            for held in argument.held:
                yield position, (label, *held.path), held.ref
        elif isinstance(argument, StructRef):
            for path, ref in argument.arrays.items():
                yield position, (label, *path), ref
                for held in ref.held:
                    yield position, (label, *path, *held.path), held.ref
        elif isinstance(argument, ObjectRef):
            for name, ref in argument.arrays.items():
                yield position, (label, name), ref
