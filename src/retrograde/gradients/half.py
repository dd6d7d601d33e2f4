"""Adjoints of launches in half precision, run in double precision instead.

A sum in half precision stops growing once its terms are smaller than half the distance of the numbers about it: eight
thousand threads that each add 0.001 to one adjoint leave 4 of 8.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from retrograde.gradients.launch_test import LaunchState, judge_adjoint
from retrograde.gradients.memory import Memory
from retrograde.gradients.twins.compile import TwinError
from retrograde.gradients.twins.rewrite import Rewrite
from retrograde.gradients.twins.source import SourceUnavailableError, read_kernel
from retrograde.gradients.wide import WideLaunch
from retrograde.trace.operations import Operation

Float = npt.NDArray[np.float64]
_MUCH, _LITTLE = 0.05, 1e-3


def double_vjp(operation: Operation, before: Memory, shadow: Memory) -> None:
    """The adjoint of a launch in double precision.

    Args:
        operation: The launch.
        before: Contents just before it.
        shadow: Adjoints, changed.
    """
    state = LaunchState(operation, before)
    found = _adjoint(state, [shadow.values(f.ref) for f in state.fields])
    for f, values in zip(state.fields, found, strict=True):
        shadow.set_values(f.ref, values)


def half_precision(state: LaunchState, rng: np.random.Generator, trials: int) -> tuple[Rewrite, float] | None:
    """What is wrong with a launch that loses much of its adjoint in half precision, and how much; None where not.

    Adjoints of one sign are tried, whose sums grow: those of random signs cancel and lose nothing.

    Args:
        state: The launch.
        rng: Random directions.
        trials: How many.
    """
    halves = [a for a in state.operation.accesses if a.ref.scalar is np.float16]
    if not halves:
        return None
    try:
        source = read_kernel(state.call.kernel)
        weights = [np.abs(rng.standard_normal(f.written.size)) * f.written for f in state.fields]
        own, double = state.adjoint(weights, {}), _adjoint(state, weights)
        lost = [_lost(state, access.ref.extent.low, own, double) for access in halves]
        if max(lost) < _MUCH:
            return None
        state.widen()
        test = judge_adjoint(state, lambda given: _adjoint(state, given), rng, trials)
    except (TwinError, SourceUnavailableError):
        return None
    # The test makes allowance for half precision, and so leaves open what it does not refute.
    if test.passed is False or test.discrepancy > _LITTLE:
        return None
    worst = halves[int(np.argmax(lost))]
    name = ".".join(worst.path)
    subject = (
        f"The adjoint of {name} is summed up in half precision, where a sum stops growing once its terms are too small "
        "beside it; the same arithmetic in double precision gives the derivative"
    )
    advice = f"Keep {name}, and with it its gradient, in float32."
    line = _first_use(source.kernel.tree, worst.path[0])
    return Rewrite("RG512", source.kernel, line, subject, edits={}, advice=advice, patch=False), max(lost)


def _adjoint(state: LaunchState, weights: Sequence[Float]) -> tuple[Float, ...]:
    """Adjoints of what the launch read, for adjoints of what it wrote."""
    wide = WideLaunch(state.operation, state.before, backward=True)
    return tuple(wide.adjoint([(f.ref, w) for f, w in zip(state.fields, weights, strict=True)]))


def _lost(state: LaunchState, low: int, own: Sequence[Float], double: Sequence[Float]) -> float:
    """How much of the adjoint of the array at an address is lost in half precision, relative to its size."""
    for f, one, other in zip(state.fields, own, double, strict=True):
        if f.ref.extent.low <= low < f.ref.extent.high:
            size = float(np.abs(other[f.touched]).max(initial=0.0))
            return float(np.abs(one - other)[f.touched].max(initial=0.0)) / size if size > 0.0 else 0.0
    return 0.0


def _first_use(tree: ast.FunctionDef, name: str) -> int:
    lines = [n.lineno for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == name]
    return min(lines, default=tree.lineno)
