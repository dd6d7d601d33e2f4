"""A description of a Warp array as it was when an operation used it.

`wp.array` objects are mutable: gradients are attached, flags set, struct fields rebound. What an
operation saw is therefore copied into a frozen `ArrayRef`, which also keeps the array alive, so that
an address never means two things within one recording.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from retrograde.trace.extents import Extent, span
from retrograde.trace.warp_api import wp

_FLOAT_SCALARS: dict[Any, Any] = {wp.float16: np.float16, wp.float32: np.float32, wp.float64: np.float64}


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
    indices: tuple[ArrayRef | None, ...] = field(default=())

    @property
    def extent(self) -> Extent:
        """Addresses between the first and the last byte of the elements."""
        low, high = span(self.pointer, self.shape, self.strides, self.item)
        return Extent(self.device, low, high)

    @property
    def gradient_extent(self) -> Extent | None:
        """Addresses of the gradient buffer, which has the array's own layout."""
        if self.gradient is None:
            return None
        low, high = span(self.gradient, self.shape, self.strides, self.item)
        return Extent(self.device, low, high)

    @property
    def differentiable(self) -> bool:
        """Whether its elements are floating point."""
        return self.scalar is not None

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

    @property
    def size(self) -> int:
        """Number of scalars."""
        return int(np.prod(self.full_shape, dtype=np.int64))


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
    return ArrayRef(
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


def holds_arrays(array: Any) -> bool:
    """Whether the elements are structs with arrays in them, which a copy of the memory still points to."""
    variables: dict[str, Any] = getattr(array.dtype, "vars", None) or {}
    return any(wp.types.is_array(v.type) for v in variables.values())
