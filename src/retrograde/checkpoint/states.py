"""States of any make: arrays, structs of arrays, and tuples, lists, dictionaries and dataclasses of these."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, cast

import warp as _warp

from retrograde.checkpoint import _adding

wp: Any = _warp
_ADD: Any = vars(_adding)["add_to"]


class StateError(TypeError):
    """A state holds something that cannot be kept and restored; the message says what and where."""


def leaves(state: Any, path: str = "state") -> Iterator[tuple[str, Any]]:
    """The arrays of a state, each with its place in it.

    Raises:
        StateError: Something in it is neither an array nor made of such.
    """
    if isinstance(state, wp.array):
        if hasattr(state.dtype, "vars") and state.requires_grad:
            raise StateError(f"{path}: arrays of structs carry no gradient here; use a struct of arrays")
        yield path, state
        return
    for name, part in _parts(state, path):
        yield from leaves(part, f"{path}{name}")


def _parts(state: Any, path: str) -> Iterator[tuple[str, Any]]:
    """What a state is made of, with how each part is reached."""
    if _is_struct(state):
        for name in _members(state):
            part = getattr(state, name)
            if isinstance(part, wp.array) or _is_struct(part):
                yield f".{name}", part
    elif _is_dataclass(state):
        yield from ((f".{name}", getattr(state, name)) for name in _fields(state))
    elif isinstance(state, dict):
        yield from ((f"[{key!r}]", part) for key, part in cast("dict[Any, Any]", state).items())
    elif isinstance(state, tuple | list):
        yield from ((f"[{index}]", part) for index, part in enumerate(cast("list[Any]", state)))
    else:
        raise StateError(
            f"{path}: expected a Warp array, or a struct, tuple, list, dictionary or dataclass of arrays, "
            f"got {type(state).__name__}"
        )


def like(state: Any, gradients: list[Any] | None = None) -> Any:
    """A copy of a state.

    Args:
        state: The state.
        gradients: Arrays that become the gradients of its arrays, in the order of `leaves`, None for an array
            without; no array has one if not given.
    """
    given = iter(gradients) if gradients is not None else None

    def copied(array: Any) -> Any:
        fresh = wp.empty(array.shape, dtype=array.dtype, device=array.device)
        copy_contents(fresh, array)
        gradient = next(given) if given is not None else None
        if gradient is not None:
            fresh.requires_grad = True
            fresh.grad = gradient
        return fresh

    return _mapped(state, copied)


def gradients_like(state: Any) -> list[Any]:
    """Zeros for the gradient of every array of a state that has one."""
    return [wp.zeros(a.shape, dtype=a.dtype, device=a.device) if a.requires_grad else None for _, a in leaves(state)]


def assign(to: Any, state: Any) -> None:
    """Copy the contents of a state to another of its make."""
    for (_, target), (_, source) in zip(leaves(to), leaves(state), strict=True):
        copy_contents(target, source)


def copy_contents(to: Any, array: Any) -> None:
    """Copy an array's contents; `wp.copy` alone copies the gradient as well where both have one."""
    wp.copy(_bare(to), _bare(array))


def add(to: Any, more: Any) -> None:
    """Add an array to another of its shape and type, without a trace on any tape."""
    if not to.is_contiguous:
        sums = wp.empty(to.shape, dtype=to.dtype, device=to.device)
        copy_contents(sums, to)
        add(sums, more)
        copy_contents(to, sums)
        return
    target, source = _scalars(to), _scalars(more)
    wp.launch(_ADD, dim=target.size, inputs=[target, source], device=to.device)


def _bare(array: Any) -> Any:
    """The same memory without a gradient."""
    if array.grad is None:
        return array
    return wp.array(
        ptr=array.ptr, shape=array.shape, strides=array.strides, dtype=array.dtype, device=array.device, copy=False
    )


def _scalars(array: Any) -> Any:
    """A contiguous array as a flat one of scalars."""
    scalar = getattr(array.dtype, "_wp_scalar_type_", array.dtype)
    count = size_of(array) // wp.types.type_size_in_bytes(scalar)
    return wp.array(ptr=array.ptr, shape=(count,), dtype=scalar, device=array.device, copy=False)


def size_of(state: Any) -> int:
    """Memory that the arrays of a state take, without gradients [byte]."""
    return sum(int(a.size) * wp.types.type_size_in_bytes(a.dtype) for _, a in leaves(state))


def _mapped(state: Any, change: Callable[[Any], Any]) -> Any:
    """A state of the same make with other arrays."""
    if isinstance(state, wp.array):
        return change(state)
    if _is_struct(state):
        made = _maker(state)()
        for name in _members(state):
            part = getattr(state, name)
            setattr(made, name, _mapped(part, change) if isinstance(part, wp.array) or _is_struct(part) else part)
        return made
    if _is_dataclass(state):
        return dataclasses.replace(state, **{name: _mapped(getattr(state, name), change) for name in _fields(state)})
    if isinstance(state, dict):
        return {key: _mapped(part, change) for key, part in cast("dict[Any, Any]", state).items()}
    kind = cast("Any", type(state))
    parts = [_mapped(part, change) for part in state]
    return kind(*parts) if hasattr(kind, "_fields") else kind(parts)


def _maker(value: Any) -> Any:
    """What makes instances of a struct, None where the value is no struct."""
    kind: Any = cast("Any", type(value))
    return getattr(kind, "_cls", None)


def _is_struct(value: Any) -> bool:
    return hasattr(_maker(value), "vars")


def _members(value: Any) -> list[str]:
    return list(_maker(value).vars)


def _is_dataclass(value: Any) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def _fields(value: Any) -> list[str]:
    return [field.name for field in dataclasses.fields(value)]
