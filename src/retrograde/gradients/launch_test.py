"""A launch's own derivative test, and what it says about how to run the launch's adjoint.

A launch maps the contents of the arrays it touches to new contents. For a random direction v over what
was there before and a random cotangent w over what is there afterwards, differences of w . f(x + h v)
must equal v . (adjoint of w). The test localises a kernel's fault to the launch, and it certifies the
ideal gradient: an ideal that fails its own launch test accuses nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from retrograde.gradients.binding import run_adjoint, run_forward
from retrograde.gradients.differences import Derivative, Steps, differentiate, scale_of, sparing, steps_for
from retrograde.gradients.memory import Memory
from retrograde.gradients.sweep import Moment, Treatment
from retrograde.trace.arrays import ArrayRef
from retrograde.trace.extents import Extent, merge
from retrograde.trace.operations import Access, LaunchCall, Operation
from retrograde.trace.usage import Path

Float = npt.NDArray[np.float64]
_LARGEST_NUMERIC = 1024
_LARGE = 1 << 16


@dataclass(frozen=True, eq=False)
class Field:
    """A flat run of scalars that a launch touches: one block of memory, or the touched part of it.

    Attributes:
        ref: A description of the block as a flat array.
        touched: Mask of the scalars that belong to an array of the launch.
        written: Mask of the scalars that belong to an array that the launch may write.
    """

    ref: ArrayRef
    touched: npt.NDArray[np.bool_]
    written: npt.NDArray[np.bool_]


class LaunchState:
    """Contents around one launch, and the map from those before to those after.

    Args:
        operation: The launch.
        before: Copy of memory with the contents just before it; not changed.
    """

    def __init__(self, operation: Operation, before: Memory) -> None:
        call = operation.launch
        assert call is not None
        self.call: LaunchCall = call
        self.operation = operation
        blocks = merge(a.ref.extent for a in operation.accesses)
        self.before = Memory(blocks)
        for block in blocks:
            self.before.write(block, before.read(block))
        self.work = Memory(blocks)
        self.fields = tuple(_fields(operation.accesses, blocks))
        self.scales = tuple(_scales(self.before.values(f.ref), f.touched) for f in self.fields)
        self.after = Memory(blocks)
        self.after.copy_from(self.before)
        run_forward(call, self.after)

    @property
    def scalar(self) -> type[np.floating[Any]]:
        """The coarsest floating type among the arrays."""
        kinds = [f.ref.scalar for f in self.fields if f.ref.scalar is not None]
        return max(kinds, key=lambda k: float(np.finfo(k).eps)) if kinds else np.float64

    @property
    def size(self) -> int:
        """Number of scalars."""
        return sum(f.touched.size for f in self.fields)

    def weighted(self, weights: Sequence[Float], shifts: Sequence[Float], step: float) -> float:
        """W . f(x + step v)."""
        self.work.copy_from(self.before)
        for f, shift in zip(self.fields, shifts, strict=True):
            self.work.add_values(f.ref, step * shift)
        run_forward(self.call, self.work)
        pairs = zip(self.fields, weights, strict=True)
        return float(sum(np.vdot(w[f.written], self.work.values(f.ref)[f.written]) for f, w in pairs))

    def adjoint(self, weights: Sequence[Float], moments: dict[Path, Moment]) -> tuple[Float, ...]:
        """Adjoint of w with given contents of the arrays that the launch both reads and writes."""
        shadow = Memory(self.before.blocks)
        for f, w in zip(self.fields, weights, strict=True):
            shadow.set_values(f.ref, w)

        early = [a.ref.extent for a in self.operation.accesses if moments.get(a.path) is Moment.BEFORE]

        def contents(position: int, path: Path, ref: ArrayRef) -> Memory:
            return self.before if any(e.overlaps(ref.extent) for e in early) else self.after

        run_adjoint(self.call, contents, shadow)
        return tuple(shadow.values(f.ref) for f in self.fields)


def _scales(values: Float, touched: npt.NDArray[np.bool_]) -> Float:
    """Scales of the scalars touched; between them may lie what is no number."""
    scales = np.zeros(values.shape)
    scales[touched] = scale_of(values[touched])
    return scales


def _fields(accesses: Sequence[Access], blocks: Sequence[Extent]) -> Iterator[Field]:
    for block in blocks:
        inside = [(a, leaf) for a in accesses for leaf in a.ref.leaves if block.contains(leaf.extent)]
        scalars = {leaf.scalar for _, leaf in inside}
        if len(scalars) != 1:
            continue
        scalar = scalars.pop()
        assert scalar is not None
        item = np.dtype(scalar).itemsize
        low = min(leaf.extent.low for _, leaf in inside)
        low -= ((low - block.low) // item) * item
        count = (block.high - low) // item
        ref = ArrayRef(None, low, (count,), (item,), item, scalar, (), block.device, None, False)
        touched, written = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
        for access, leaf in inside:
            _mask(touched, leaf, low, item)
            if access.usage.writes:
                _mask(written, leaf, low, item)
        yield Field(ref, touched, written)


def _mask(mask: npt.NDArray[np.bool_], ref: ArrayRef, low: int, item: int) -> None:
    start = (ref.pointer - low) // item
    strides = tuple(s // item for s in ref.full_strides)
    indices = np.full(ref.full_shape, start, dtype=np.int64)
    for axis, (count, stride) in enumerate(zip(ref.full_shape, strides, strict=True)):
        shape = [1] * len(ref.full_shape)
        shape[axis] = count
        indices += (np.arange(count) * stride).reshape(shape)
    mask[indices.reshape(-1)] = True


@dataclass(frozen=True)
class LaunchVerdict:
    """Result of a derivative test of one launch with one choice of contents.

    Attributes:
        passed: Whether the adjoint is the derivative; None where noise hides the answer.
        discrepancy: |adjoint - differences| relative to the size of the terms.
        error: Error bar on the same scale.
    """

    passed: bool | None
    discrepancy: float
    error: float


def judge(state: LaunchState, moments: dict[Path, Moment], rng: np.random.Generator, trials: int = 2) -> LaunchVerdict:
    """Test the launch's adjoint in a few random directions."""
    return _judge(state, lambda weights: state.adjoint(weights, moments), rng, trials)


def _judge(
    state: LaunchState,
    adjoint: Callable[[Sequence[Float]], tuple[Float, ...]],
    rng: np.random.Generator,
    trials: int,
) -> LaunchVerdict:
    worst = LaunchVerdict(None, 0.0, 0.0)
    steps = steps_for(state.scalar)
    if state.size >= _LARGE:
        steps = sparing(steps)
    for _ in range(trials):
        weights = [rng.standard_normal(f.written.size) * f.written for f in state.fields]
        shifts = [
            rng.standard_normal(f.touched.size) * f.touched * s for f, s in zip(state.fields, state.scales, strict=True)
        ]
        result = adjoint(weights)
        verdict = _compare(state, weights, shifts, result, steps)
        if verdict.passed is False:
            return verdict
        if worst.passed is None:
            worst = verdict
    return worst


def _compare(
    state: LaunchState, weights: Sequence[Float], shifts: Sequence[Float], result: Sequence[Float], steps: Steps
) -> LaunchVerdict:
    with np.errstate(all="ignore"):
        predicted = float(sum(np.vdot(r, v) for r, v in zip(result, shifts, strict=True)))
        size = float(sum(np.abs(r * v).sum() for r, v in zip(result, shifts, strict=True)))
    measured = differentiate(
        lambda arguments: [state.weighted(weights, shifts, h) for h in arguments], steps, wanted=1e-3
    )
    scale = max(size if np.isfinite(size) else 0.0, abs(measured.value) if np.isfinite(measured.value) else 0.0)
    if scale == 0.0 or not np.isfinite(measured.error):
        passed = None if not np.isfinite(measured.error) else True
        return LaunchVerdict(passed, 0.0, float("inf") if passed is None else 0.0)
    slack = 256.0 * steps.resolution * scale
    relative, error = abs(predicted - measured.value) / scale, (measured.error + slack) / scale
    if measured.admits(predicted, slack):
        return LaunchVerdict(True if error < 0.05 else None, relative, error)
    return LaunchVerdict(False, relative if np.isfinite(relative) else float("inf"), error)


def treatment_of(operation: Operation, before: Memory, rng: np.random.Generator) -> Treatment:
    """How the adjoint of a launch is to be run so that it is the derivative of the launch.

    Tries the contents after the launch, then those from before for each array that is both read and
    written, then differences of the launch itself where it is small enough.
    """
    state = LaunchState(operation, before)
    paths = rewritten_paths(operation)
    trials = 2 if state.size < _LARGE else 1
    first = judge(state, {}, rng, trials)
    if first.passed is not False:
        return Treatment(passed=first.passed, discrepancy=first.discrepancy)
    for early in _choices(paths):
        moments = {p: Moment.BEFORE if p in early else Moment.AFTER for p in paths}
        if judge(state, moments, rng, trials).passed:
            return Treatment(by_array=moments, passed=True, discrepancy=first.discrepancy, route="contents from before")
    if sum(int(f.touched.sum()) for f in state.fields) <= _LARGEST_NUMERIC:
        return Treatment(vjp=numeric_vjp, passed=True, discrepancy=first.discrepancy, route="differences of the launch")
    return Treatment(passed=False, discrepancy=first.discrepancy)


def _choices(paths: Sequence[Path]) -> Iterator[tuple[Path, ...]]:
    """Which arrays to take from before the launch: as few as will do, all at last."""
    for count in range(1, min(len(paths), 2) + 1):
        yield from combinations(paths, count)
    if len(paths) > 2:
        yield tuple(paths)


def rewritten_paths(operation: Operation) -> list[Path]:
    """Arrays that a launch writes and also reads, under this or another name."""
    loads = [a.ref.extent for a in operation.accesses if a.usage.load]
    return [
        a.path
        for a in operation.accesses
        if a.usage.writes and a.ref.differentiable and any(a.ref.extent.overlaps(e) for e in loads)
    ]


def multiplies(operation: Operation) -> tuple[int, ...]:
    """Lines of the kernel that multiply or divide an array element in place, which Warp does not differentiate."""
    return tuple(sorted({line for a in operation.accesses for line in a.usage.multiplied}))


def numeric_vjp(operation: Operation, before: Memory, shadow: Memory) -> None:
    """The adjoint of a launch by differences, one scalar at a time.

    Args:
        operation: The launch.
        before: Contents just before it.
        shadow: Adjoints, changed.
    """
    state = LaunchState(operation, before)
    weights = [shadow.values(f.ref) * f.written for f in state.fields]
    if not any(w.any() for w in weights):
        return
    for index, f in enumerate(state.fields):
        column = shadow.values(f.ref)
        column[f.written] = 0.0
        for position in np.flatnonzero(f.touched):
            column[position] += _slope(state, weights, index, int(position)).value
        shadow.set_values(f.ref, column)


def _slope(state: LaunchState, weights: Sequence[Float], index: int, position: int) -> Derivative:
    shifts = [np.zeros(f.touched.size) for f in state.fields]
    scale = float(state.scales[index][position])
    shifts[index][position] = scale
    found = differentiate(
        lambda arguments: [state.weighted(weights, shifts, h) for h in arguments], steps_for(state.scalar), wanted=1e-4
    )
    value = found.value / scale if np.isfinite(found.value) else 0.0
    return Derivative(value, found.error / scale, found.step, found.noise)
