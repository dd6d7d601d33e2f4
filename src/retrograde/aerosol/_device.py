"""Typed access to Warp from host code, whose own annotations leave much unknown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import warp
from numpy.typing import NDArray

WarpArray = warp.array[Any, Any]

wp: Any = warp
"""Warp, its partial annotations set aside."""

if TYPE_CHECKING:
    Float64 = Any
    Int32 = Any
    Int64 = Any
    UInt32 = Any
    UInt64 = Any
    Vec2 = Any
    Vec4 = Any
    RealMatrix = Any
    Int32Array = Any
    Int32Matrix = Any
    Int32Tensor = Any
    Int64Array = Any
    UInt32Array = Any
    Float64Array = Any
    Float64Matrix = Any
    Float64Tensor = Any
    Int32Array4 = Any
    Float64Array4 = Any
else:
    Float64 = warp.float64
    Int32 = warp.int32
    Int64 = warp.int64
    UInt32 = warp.uint32
    UInt64 = warp.uint64
    Vec2 = warp.vec2d
    Vec4 = warp.vec4d
    RealMatrix = warp.array2d(dtype=Any)
    Int32Array = warp.array(dtype=warp.int32)
    Int32Matrix = warp.array2d(dtype=warp.int32)
    Int32Tensor = warp.array3d(dtype=warp.int32)
    Int64Array = warp.array(dtype=warp.int64)
    UInt32Array = warp.array(dtype=warp.uint32)
    Float64Array = warp.array(dtype=warp.float64)
    Float64Matrix = warp.array2d(dtype=warp.float64)
    Float64Tensor = warp.array3d(dtype=warp.float64)
    Int32Array4 = warp.array4d(dtype=warp.int32)
    Float64Array4 = warp.array4d(dtype=warp.float64)

REALS: tuple[Any, Any] = (wp.float64, wp.float32)
"""Scalar types that states may be stored in."""


def numpy_type(dtype: Any) -> type[np.floating[Any]]:
    """NumPy type of a scalar type out of `REALS`."""
    return np.float32 if dtype is wp.float32 else np.float64


def to_device(
    values: NDArray[Any], *, dtype: Any = wp.float64, device: Any = None, requires_grad: bool = False
) -> WarpArray:
    """A new Warp array of `dtype` on `device` that shares no memory with `values`."""
    host = np.ascontiguousarray(values, dtype=numpy_type(dtype))
    return wp.array(host, dtype=dtype, device=device, requires_grad=requires_grad, copy=True)


def to_host(array: WarpArray) -> NDArray[np.float64]:
    """A float64 copy on the host that shares no memory with `array`."""
    return np.array(array.numpy(), dtype=np.float64)


def new_zeros(
    shape: int | Sequence[int], *, dtype: Any = wp.float64, device: Any = None, requires_grad: bool = False
) -> WarpArray:
    """A Warp array of zeros."""
    return wp.zeros(shape, dtype=dtype, device=device, requires_grad=requires_grad)


def launch(kernel: Any, dim: int | Sequence[int], inputs: Sequence[Any], outputs: Sequence[Any], device: Any) -> None:
    """Launch `kernel`, recorded on the active tape if there is one."""
    wp.launch(kernel, dim=dim, inputs=list(inputs), outputs=list(outputs), device=device)


def shape_of(array: WarpArray) -> list[int]:
    """Shape as a list, for messages."""
    untyped: Any = array
    return [int(n) for n in untyped.shape]


def type_of(array: WarpArray) -> Any:
    """Warp scalar type."""
    untyped: Any = array
    return untyped.dtype


def device_of(array: WarpArray) -> Any:
    """Warp device."""
    untyped: Any = array
    return untyped.device
