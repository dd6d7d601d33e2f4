"""A description of a Warp array as it was when an operation used it.

`wp.array` objects are mutable: gradients are attached, flags set, struct fields rebound. What an
operation saw is therefore copied into a frozen `ArrayRef`, which also keeps the array alive, so that
an address never means two things within one recording.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from retrograde.trace.extents import Extent, read_bytes, span
from retrograde.trace.warp_api import types, wp

_FLOAT_SCALARS: dict[Any, Any] = {
    wp.float16: np.float16,
    wp.float32: np.float32,
    wp.float64: np.float64,
    float: np.float32,
}


@dataclass(frozen=True, eq=False)
class ArrayRef:
    """An array at one moment.

    Attributes:
        array: The array object itself.
        pointer: Address of its first element.
        shape, strides: In elements and bytes.
        item: Size of an element [byte].
        scalar: NumPy type of the scalars that carry derivatives, None for integers and opaque types.
        inner: Shape of one element (vectors and matrices), () for scalars.
        device: Alias of the device.
        gradient: Address of the gradient buffer, None without one.
        retain: Whether `retain_grad` is set.
        indices: Descriptions of the index arrays of an indexed array.
        fields: Of an array of structs, the floating-point fields of the elements as strided arrays.
        field: Of such a field, its name.
        held: Of an array of structs, the arrays that its elements hold.
    """

    array: Any
    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    item: int
    scalar: type[np.floating[Any]] | None
    inner: tuple[int, ...]
    device: str
    gradient: int | None
    retain: bool
    indices: tuple[ArrayRef | None, ...] = ()
    fields: tuple[ArrayRef, ...] = ()
    field: str = ""
    held: tuple[Held, ...] = ()

    @cached_property
    def extent(self) -> Extent:
        """Addresses between the first and the last byte of the elements."""
        low, high = span(self.pointer, self.shape, self.strides, self.item)
        return Extent(self.device, low, high)

    @cached_property
    def gradient_extent(self) -> Extent | None:
        """Addresses of the gradient buffer, which has the array's own layout."""
        if self.gradient is None:
            return None
        low, high = span(self.gradient, self.shape, self.strides, self.item)
        return Extent(self.device, low, high)

    @property
    def differentiable(self) -> bool:
        """Whether its elements are floating point, or structs with floating-point fields."""
        return self.scalar is not None or bool(self.fields)

    @property
    def leaves(self) -> tuple[ArrayRef, ...]:
        """The floating-point arrays that it consists of: itself, the fields of its elements, or none."""
        return (self,) if self.scalar is not None else self.fields

    @property
    def full_shape(self) -> tuple[int, ...]:
        """Shape with the components of vectors and matrices as trailing axes."""
        return self.shape + self.inner

    @property
    def full_strides(self) -> tuple[int, ...]:
        """Strides that belong to `full_shape` [byte]."""
        if not self.inner or self.scalar is None:
            return self.strides
        step = np.dtype(self.scalar).itemsize
        inner: list[int] = []
        for count in reversed(self.inner):
            inner.insert(0, step)
            step *= count
        return self.strides + tuple(inner)

    @cached_property
    def size(self) -> int:
        """Number of scalars."""
        return math.prod(self.full_shape)


@dataclass(frozen=True, eq=False)
class Held:
    """An array that an element of an array of structs holds.

    Attributes:
        offset: Address of its descriptor minus that of the first element of the array of structs [byte].
        path: The fields that lead to it.
        dtype: Type of its elements.
        ref: The array, with the gradient that the descriptor carries; `array` is None until somebody knows whose it is.
    """

    offset: int
    path: tuple[str, ...]
    dtype: Any
    ref: ArrayRef


def describe(array: Any) -> ArrayRef | None:
    """Describe a `wp.array` or `wp.indexedarray`; None for an empty one or another object.

    A description stays what it is.
    """
    if isinstance(array, ArrayRef):
        return array
    if isinstance(array, wp.indexedarray):
        return _describe_indexed(array)
    if not isinstance(array, wp.array) or not array.ptr or array.device is None:
        return None
    gradient = array.grad
    scalar, inner = element(array.dtype)
    whole = ArrayRef(
        array=array,
        pointer=int(array.ptr),
        shape=tuple(int(n) for n in array.shape),
        strides=tuple(int(n) for n in array.strides),
        item=int(wp.types.type_size_in_bytes(array.dtype)),
        scalar=scalar,
        inner=inner,
        device=str(array.device.alias),
        gradient=int(gradient.ptr) if gradient is not None and gradient.ptr else None,
        retain=bool(getattr(array, "retain_grad", False)),
    )
    if not getattr(array.dtype, "vars", None):
        return whole
    fields = tuple(_field_of(whole, *found) for found in float_fields(array.dtype))
    return replace(whole, fields=fields, held=tuple(_held_by(whole)))


def _field_of(whole: ArrayRef, name: str, offset: int, dtype: Any) -> ArrayRef:
    scalar, inner = element(dtype)
    return replace(
        whole,
        pointer=whole.pointer + offset,
        item=int(wp.types.type_size_in_bytes(dtype)),
        scalar=scalar,
        inner=inner,
        gradient=None if whole.gradient is None else whole.gradient + offset,
        field=name,
    )


def float_fields(dtype: Any, prefix: str = "", offset: int = 0) -> Iterator[tuple[str, int, Any]]:
    """Name, offset [byte] and type of the floating-point fields of a struct and of the structs in it."""
    variables: dict[str, Any] = getattr(dtype, "vars", None) or {}
    for name, variable in variables.items():
        at = offset + int(getattr(dtype.ctype, name).offset)
        if wp.types.is_array(variable.type):
            continue
        if getattr(variable.type, "vars", None):
            yield from float_fields(variable.type, f"{prefix}{name}.", at)
        elif element(variable.type)[0] is not None:
            yield f"{prefix}{name}", at, variable.type


def _held_by(whole: ArrayRef) -> Iterator[Held]:
    found = list(array_fields(whole.array.dtype))
    if not found:
        return
    data, low = read_bytes(whole.extent), whole.extent.low
    for index in np.ndindex(whole.shape):
        at = whole.pointer + sum(i * s for i, s in zip(index, whole.strides, strict=True))
        for path, offset, kind in found:
            descriptor = types.array_t.from_buffer_copy(data, at + offset - low)
            if descriptor.data:
                ref = _described(descriptor, kind.dtype, whole.device)
                yield Held(at + offset - whole.pointer, path, kind.dtype, ref)


def _described(descriptor: Any, dtype: Any, device: str) -> ArrayRef:
    scalar, inner = element(dtype)
    count = int(descriptor.ndim)
    return ArrayRef(
        array=None,
        pointer=int(descriptor.data),
        shape=tuple(int(n) for n in descriptor.shape[:count]),
        strides=tuple(int(n) for n in descriptor.strides[:count]),
        item=int(wp.types.type_size_in_bytes(dtype)),
        scalar=scalar,
        inner=inner,
        device=device,
        gradient=int(descriptor.grad) if descriptor.grad else None,
        retain=False,
    )


def array_fields(
    dtype: Any, prefix: tuple[str, ...] = (), offset: int = 0
) -> Iterator[tuple[tuple[str, ...], int, Any]]:
    """Path, offset [byte] and type of the array fields of a struct and of the structs in it."""
    variables: dict[str, Any] = getattr(dtype, "vars", None) or {}
    for name, variable in variables.items():
        at = offset + int(getattr(dtype.ctype, name).offset)
        if wp.types.is_array(variable.type):
            yield (*prefix, name), at, variable.type
        elif getattr(variable.type, "vars", None):
            yield from array_fields(variable.type, (*prefix, name), at)


def _describe_indexed(array: Any) -> ArrayRef | None:
    base = describe(array.data) if array.data is not None else None
    if base is None:
        return None
    indices = tuple(describe(i) if i is not None else None for i in array.indices)
    return ArrayRef(
        array=array,
        pointer=base.pointer,
        shape=base.shape,
        strides=base.strides,
        item=base.item,
        scalar=base.scalar,
        inner=base.inner,
        device=base.device,
        gradient=base.gradient,
        retain=base.retain,
        indices=indices,
        fields=base.fields,
    )


def element(dtype: Any) -> tuple[type[np.floating[Any]] | None, tuple[int, ...]]:
    """Scalar type and inner shape of an element type; the scalar is None where it has no derivative."""
    scalar = getattr(dtype, "_wp_scalar_type_", dtype)
    inner = tuple(int(n) for n in getattr(dtype, "_shape_", ()))
    return _FLOAT_SCALARS.get(scalar), inner


def root_of(array: Any) -> Any:
    """The array that a view, a slice of a slice or a reshaped array looks into; itself where it is none of them."""
    parent = getattr(array, "_ref", None)
    while isinstance(parent, wp.array):
        array, parent = parent, getattr(parent, "_ref", None)
    return array


def is_tangled(array: Any) -> bool:
    """Whether the elements hold arrays whose own elements hold arrays, or indexed ones: these are not followed."""
    found = [kind for _, _, kind in array_fields(array.dtype)]
    return any(not isinstance(kind, wp.array) or any(array_fields(kind.dtype)) for kind in found)
