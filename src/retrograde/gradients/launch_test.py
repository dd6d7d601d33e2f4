"""A launch's own derivative test, and what it says about how to run the launch's adjoint.

A launch maps the contents of the arrays it touches to new contents. For a random direction v over what
was there before and a random cotangent w over what is there afterwards, differences of w . f(x + h v)
must equal v . (adjoint of w). The test localises a kernel's fault to the launch, and it certifies the
ideal gradient: an ideal that fails its own launch test accuses nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from retrograde.gradients.binding import run_adjoint, run_forward
from retrograde.gradients.differences import Derivative, Steps, differentiate, scale_of, sparing, steps_for
from retrograde.gradients.jumps import fine, smooth_outputs
from retrograde.gradients.memory import Memory
from retrograde.gradients.policy import Moment
from retrograde.gradients.twins.compile import TwinError
from retrograde.gradients.twins.rewrite import Twin
from retrograde.gradients.wide import WideLaunch
from retrograde.trace.arrays import ArrayRef
from retrograde.trace.extents import Extent, merge
from retrograde.trace.operations import Access, LaunchCall, Operation
from retrograde.trace.usage import Path

Float = npt.NDArray[np.float64]
_SINGLE, _AS_WELL = 1e-10, 1e-2
LARGE = 1 << 16
"""Scalars from which on fewer values of a launch are computed."""
_FINE_STEPS = 6
_MOSTLY = 0.9


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
        self._wide: WideLaunch | None = None

    def widen(self) -> bool:
        """Have differences measured in double precision; whether they can be, and had not been."""
        if self._wide is not None or np.finfo(self.scalar).eps < _SINGLE:
            return False
        try:
            wide = WideLaunch(self.operation, self.before)
            wide.run(())
        except TwinError:
            return False
        pairs = [(wide.values(f.ref), self.after.values(f.ref)) for f in self.fields]
        if not all(np.allclose(w, v, rtol=_AS_WELL, atol=_AS_WELL, equal_nan=True) for w, v in pairs):
            return False
        self._wide = wide
        return True

    @property
    def working(self) -> type[np.floating[Any]]:
        """The floating type in which differences are measured."""
        return self.scalar if self._wide is None else np.float64

    @property
    def scalar(self) -> type[np.floating[Any]]:
        """The coarsest floating type among the arrays."""
        kinds = [f.ref.scalar for f in self.fields if f.ref.scalar is not None]
        return max(kinds, key=lambda k: float(np.finfo(k).eps)) if kinds else np.float64

    @property
    def size(self) -> int:
        """Number of scalars."""
        return sum(f.touched.size for f in self.fields)

    def outputs(self, shifts: Sequence[Float], step: float) -> list[Float]:
        """What the launch writes of f(x + step v), for each field."""
        if self._wide is not None:
            self._wide.run([(f.ref, step * shift) for f, shift in zip(self.fields, shifts, strict=True)])
            return [self._wide.values(f.ref)[f.written] for f in self.fields]
        self.work.copy_from(self.before)
        for f, shift in zip(self.fields, shifts, strict=True):
            self.work.add_values(f.ref, step * shift)
        run_forward(self.call, self.work)
        return [self.work.values(f.ref)[f.written] for f in self.fields]

    def weighted(self, weights: Sequence[Float], shifts: Sequence[Float], step: float) -> float:
        """W . f(x + step v)."""
        found = zip(self.fields, weights, self.outputs(shifts, step), strict=True)
        return float(sum(np.vdot(w[f.written], values) for f, w, values in found))

    def run_twin(self, twin: Twin) -> tuple[Sequence[Any], bool]:
        """Run a twin forward; its further arguments afterwards, and whether it computed what the launch did."""
        self.work.copy_from(self.before)
        extra = twin.parameters.values(self.call)
        run_forward(self.call, self.work, twin.kernel, extra)
        return extra, self._same_after()

    def _same_after(self) -> bool:
        """Whether the work memory holds what the launch left, to rounding."""
        for f in self.fields:
            mine, theirs = self.work.values(f.ref), self.after.values(f.ref)
            reach = 64.0 * float(np.finfo(f.ref.scalar or np.float64).eps)
            size = np.abs(np.nan_to_num(theirs, nan=0.0, posinf=0.0, neginf=0.0)).max(initial=0.0)
            if not np.allclose(mine, theirs, rtol=reach, atol=reach * size, equal_nan=True):
                return False
        return True

    def adjoint(
        self,
        weights: Sequence[Float],
        moments: Mapping[Path, Moment],
        twin: Twin | None = None,
        extra: Sequence[Any] = (),
    ) -> tuple[Float, ...]:
        """Adjoint of w with given contents of the arrays that the launch both reads and writes.

        Args:
            weights: Cotangent of every field.
            moments: The contents.
            twin: A kernel in place of the launch's.
            extra: The twin's further arguments.
        """
        shadow = self._shadow(weights, moments, twin, extra)
        return tuple(shadow.values(f.ref) for f in self.fields)

    def not_finite(self, weights: Sequence[Float]) -> tuple[str, ...]:
        """Elements of the launch's arrays whose adjoint is not finite, by argument and index."""
        shadow = self._shadow(weights, {}, None, ())
        found: list[str] = []
        for access in self.operation.accesses:
            if access.ref.differentiable:
                values = shadow.values(access.ref).reshape(*access.ref.shape, -1)
                name = ".".join(access.path)
                places = np.argwhere(~np.isfinite(values).all(axis=-1)).tolist()
                found += [f"{name}[{', '.join(map(str, place))}]" for place in places]
        return tuple(dict.fromkeys(found))

    def _shadow(
        self, weights: Sequence[Float], moments: Mapping[Path, Moment], twin: Twin | None, extra: Sequence[Any]
    ) -> Memory:
        shadow = Memory(self.before.blocks)
        for f, w in zip(self.fields, weights, strict=True):
            shadow.set_values(f.ref, w)

        early = [a.ref.extent for a in self.operation.accesses if moments.get(a.path) is Moment.BEFORE]

        def contents(position: int, path: Path, ref: ArrayRef) -> Memory:
            return self.before if any(e.overlaps(ref.extent) for e in early) else self.after

        run_adjoint(self.call, contents, shadow, kernel=None if twin is None else twin.kernel, extra=extra)
        return shadow


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


def judge(
    state: LaunchState,
    moments: Mapping[Path, Moment],
    rng: np.random.Generator,
    trials: int = 2,
    twin: Twin | None = None,
    extra: Sequence[Any] = (),
) -> LaunchVerdict:
    """Test the launch's adjoint, or a twin's, in a few random directions."""
    return judge_adjoint(state, lambda weights: state.adjoint(weights, moments, twin, extra), rng, trials)


def judge_adjoint(
    state: LaunchState,
    adjoint: Callable[[Sequence[Float]], tuple[Float, ...]],
    rng: np.random.Generator,
    trials: int,
) -> LaunchVerdict:
    """Test whatever gives adjoints of what the launch read for adjoints of what it wrote."""
    worst = LaunchVerdict(None, 0.0, 0.0)
    steps = steps_for(state.working)
    if state.size >= LARGE:
        steps = sparing(steps)
    for _ in range(trials):
        weights = [rng.standard_normal(f.written.size) * f.written for f in state.fields]
        shifts = [
            rng.standard_normal(f.touched.size) * f.touched * s for f, s in zip(state.fields, state.scales, strict=True)
        ]
        result = adjoint(weights)
        verdict = _compare(state, weights, shifts, result, steps)
        if verdict.passed is not True and all(np.all(np.isfinite(r)) for r in result):
            verdict = _compare_between_jumps(state, weights, shifts, adjoint) or verdict
        if verdict.passed is None and np.isinf(verdict.error):
            verdict = _compare_each(state, weights, shifts, result, steps)
        if verdict.passed is False:
            return verdict
        if worst.passed is None:
            worst = verdict
    return worst


def _compare_each(
    state: LaunchState, weights: Sequence[Float], shifts: Sequence[Float], result: Sequence[Float], steps: Steps
) -> LaunchVerdict:
    """Compare by one array at a time: some may lie where the launch has no derivative, and tell nothing."""
    verdict = LaunchVerdict(None, 0.0, float("inf"))
    for index, shift in enumerate(shifts):
        if shift.any():
            alone = [s if k == index else np.zeros_like(s) for k, s in enumerate(shifts)]
            found = _compare(state, weights, alone, result, steps)
            if found.passed is False:
                return found
            if found.passed and found.error > 0.0:
                verdict = found
    return verdict


def _compare_between_jumps(
    state: LaunchState,
    weights: Sequence[Float],
    shifts: Sequence[Float],
    adjoint: Callable[[Sequence[Float]], tuple[Float, ...]],
) -> LaunchVerdict | None:
    """Compare along each array that moves hardly any output over a jump; None where nothing jumps, or all do.

    What to weigh the outputs with is free, so the test stays exact where the few that jump weigh nothing.
    """
    steps = steps_for(state.working)
    steps = replace(steps, first=fine(steps.first, _FINE_STEPS), more=())
    found: list[LaunchVerdict] = []
    jumps = False
    for index, shift in enumerate(shifts):
        if not shift.any():
            continue
        alone = [s if k == index else np.zeros_like(s) for k, s in enumerate(shifts)]
        moved, smooth = _moved_and_smooth(state, alone, steps)
        jumps = jumps or not smooth.all()
        if moved.any() and smooth[moved].mean() >= _MOSTLY:
            kept = _weighing(state, weights, smooth)
            verdict = _compare(state, kept, alone, adjoint(kept), steps)
            if verdict.passed is False:
                return verdict
            found.append(verdict)
    if not jumps or not found:
        return None
    return next((v for v in found if v.passed is None), max(found, key=lambda v: v.discrepancy))


def _moved_and_smooth(
    state: LaunchState, shifts: Sequence[Float], steps: Steps
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Which outputs change along a direction, and which do so smoothly if at all."""
    table = {s: np.concatenate(state.outputs(shifts, s)) for step in steps.first for s in (step, -step)}
    moved = np.any([table[h] != table[-h] for h in steps.first], axis=0)
    return moved, smooth_outputs(table, steps.resolution)


def _weighing(state: LaunchState, weights: Sequence[Float], smooth: npt.NDArray[np.bool_]) -> list[Float]:
    """The same weights on outputs that change smoothly, and none on the others."""
    kept: list[Float] = []
    begin = 0
    for f, weight in zip(state.fields, weights, strict=True):
        end = begin + int(f.written.sum())
        kept.append(weight.copy())
        kept[-1][f.written] *= smooth[begin:end]
        begin = end
    return kept


def _compare(
    state: LaunchState, weights: Sequence[Float], shifts: Sequence[Float], result: Sequence[Float], steps: Steps
) -> LaunchVerdict:
    with np.errstate(all="ignore"):
        terms = [np.where(v == 0.0, 0.0, r) * v for r, v in zip(result, shifts, strict=True)]
        predicted = float(sum(t.sum() for t in terms))
        size = float(sum(np.abs(t).sum() for t in terms))
    measured = differentiate(
        lambda arguments: [state.weighted(weights, shifts, h) for h in arguments], steps, wanted=1e-3
    )
    scale = max(size if np.isfinite(size) else 0.0, abs(measured.value) if np.isfinite(measured.value) else 0.0)
    if scale == 0.0 or not np.isfinite(measured.error):
        passed = None if not np.isfinite(measured.error) else True
        return LaunchVerdict(passed, 0.0, float("inf") if passed is None else 0.0)
    slack = 256.0 * float(np.finfo(state.scalar).eps) * scale
    relative, error = abs(predicted - measured.value) / scale, (measured.error + slack) / scale
    if measured.admits(predicted, slack):
        return LaunchVerdict(True if error < 0.05 else None, relative, error)
    if measured.kink:  # of several kinks at once, each may have its own side
        return LaunchVerdict(None, relative, float("inf"))
    return LaunchVerdict(False, relative if np.isfinite(relative) else float("inf"), error)


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
