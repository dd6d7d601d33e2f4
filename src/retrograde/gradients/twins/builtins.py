"""Which built-ins of the installed Warp pass no gradient on, or not by every operand: measured, not listed."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from retrograde.gradients.twins.compile import quietly
from retrograde.trace.warp_api import context, wp

Float = npt.NDArray[np.float64]

_STEP = 1e-4
_LONG_STEP = 2.0**-8
_CLEAR = 1e-3
_POINTS = np.array([[0.37, 0.21, 0.83], [0.62, 0.43, 0.29], [1.71, 0.59, 0.36], [0.13, 0.91, 0.47]])


@lru_cache(maxsize=256)
def lacks_adjoint(name: str, arity: int) -> bool:
    """Whether a built-in of real numbers has a derivative at ordinary points that Warp's adjoint of it lacks.

    False for what cannot be tried: a built-in that takes or returns something else, or is not defined there.

    Args:
        name: Name of the built-in.
        arity: Number of its operands.
    """
    if not 1 <= arity <= _POINTS.shape[1] or name not in context.builtin_functions:
        return False
    points = _POINTS[:, :arity]
    builtin = context.builtin_functions[name]
    try:
        with quietly():
            forward = _run(name, arity, points, adjoint=False)
            slopes = np.stack([_difference(name, points, axis) for axis in range(arity)], axis=1)
            adjoint = (
                np.zeros_like(slopes) if not builtin.is_differentiable else _run(name, arity, points, adjoint=True)
            )
    except Exception:
        return False
    if not np.all(np.isfinite(forward)) or not np.all(np.isfinite(slopes)):
        return False
    return bool(np.any(np.abs(slopes - adjoint) > _CLEAR * (1.0 + np.abs(slopes))))


def _difference(name: str, points: Float, axis: int) -> Float:
    step: Float = _STEP * np.eye(points.shape[1])[axis]
    ahead, behind = (_run(name, points.shape[1], points + s, adjoint=False) for s in (step, -step))
    return (ahead - behind) / (2.0 * _STEP)


def _run(name: str, arity: int, points: Float, adjoint: bool) -> Float:
    kernel = _kernel(name, arity)
    x = wp.array(points, dtype=wp.float64, device="cpu", requires_grad=True)
    y = wp.zeros(len(points), dtype=wp.float64, device="cpu", requires_grad=True)
    launch: dict[str, Any] = {"dim": len(points), "inputs": [x, y], "device": "cpu", "record_tape": False}
    if not adjoint:
        wp.launch(kernel, **launch)
        return np.array(y.numpy())
    y.grad.fill_(1.0)
    wp.launch(kernel, **launch, adjoint=True, adj_inputs=[x.grad, y.grad])
    return np.array(x.grad.numpy())


@lru_cache(maxsize=256)
def _kernel(name: str, arity: int) -> Any:
    operands = ", ".join(f"x[i, {k}]" for k in range(arity))
    function = defined(
        f"def probe(x, y):\n    i = _wp.tid()\n    y[i] = _wp.{name}({operands})\n",
        "probe",
        f"probe of {name} {arity}",
        {},
    )
    function.__annotations__ = {
        "x": wp.array(dtype=wp.float64, ndim=2),
        "y": wp.array(dtype=wp.float64),
    }
    return wp.Kernel(func=function, key=f"probe_{name}_{arity}", module=wp.Module(f"probe_{name}_{arity}", None))


def defined(text: str, name: str, title: str, scope: dict[str, Any]) -> Callable[..., Any]:
    """A function defined by its text, so that Warp can read it."""
    file = f"<{title}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names: dict[str, Any] = {"_wp": wp, "__name__": "probes", **scope}
    exec(compile(text, file, "exec"), names)
    return names[name]


def differenced(name: str, kinds: Sequence[Any], key: str) -> Any:
    """A built-in of real numbers as a function whose adjoint is made of its differences, in double precision.

    The steps are long: what lacks an adjoint in Warp is linear between its jumps, and rounding is all there is to lose.
    """
    inputs = [f"x{k}" for k in range(len(kinds))]
    wide = [f"_wp.float64({x})" for x in inputs]
    steps: list[str] = []
    for k, x in enumerate(inputs):
        ahead, behind = (", ".join([*wide[:k], side, *wide[k + 1 :]]) for side in (f"a{k}", f"b{k}"))
        steps.append(
            f"    h{k} = _wp.float64({_LONG_STEP}) * (_wp.float64(1.0) + _wp.abs({wide[k]}))\n"
            f"    a{k} = {wide[k]} + h{k}\n"
            f"    b{k} = {wide[k]} - h{k}\n"
            f"    d{k} = (_wp.{name}({ahead}) - _wp.{name}({behind})) / (a{k} - b{k})\n"
            f"    _wp.adjoint[{x}] += _kind(d{k}) * adj_ret\n"
        )
    arguments = ", ".join(inputs)
    kind = kinds[0]
    body = "".join(steps)
    forward = defined(
        f"def {key}({arguments}):\n    return _wp.{name}({arguments})\n", key, f"{key} {kind.__name__}", {"_kind": kind}
    )
    backward = defined(
        f"def adj_{key}({arguments}, adj_ret):\n{body}", f"adj_{key}", f"adj_{key} {kind.__name__}", {"_kind": kind}
    )
    types: dict[str, Any] = dict(zip(inputs, kinds, strict=True))
    forward.__annotations__ = types
    backward.__annotations__ = types | {"adj_ret": kind}
    function = wp.Function(
        func=forward, key=key, namespace="", module=wp.Module("differenced", None), value_func=None, scope_locals={}
    )
    wp.func_grad(function)(backward)
    return function
