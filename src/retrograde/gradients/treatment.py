"""How the adjoint of a launch is to be run so that it is the derivative of the launch.

The recorded adjoint with the contents from after the launch is tried first, then with those from before it for the
arrays that are both read and written. Where neither is the derivative the kernel is opened: twins with single
constructs changed are tried. What no twin cures is differenced whole, where it is small enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import numpy as np

from retrograde.gradients.callbacks import assigned_by
from retrograde.gradients.clock import UNTIMED, Clock, OutOfTimeError
from retrograde.gradients.cure import Cure, find_cure, situation_of
from retrograde.gradients.forked import apart
from retrograde.gradients.half import double_vjp, half_precision
from retrograde.gradients.launch_test import LARGE, LaunchState, LaunchVerdict, judge, numeric_vjp, rewritten_paths
from retrograde.gradients.memory import Memory
from retrograde.gradients.policy import Moment, Treatment
from retrograde.gradients.reasons import find_reasons
from retrograde.gradients.window import Window
from retrograde.trace.operations import Operation
from retrograde.trace.usage import Path

_LARGEST_NUMERIC = 1024


def treatment_of(
    operation: Operation,
    before: Memory,
    rng: np.random.Generator,
    known: Treatment | None = None,
    closely: bool = False,
    clock: Clock = UNTIMED,
) -> Treatment:
    """The treatment of a launch.

    Args:
        operation: The launch.
        before: Contents just before it.
        rng: Random directions.
        known: Treatment of another launch of its kind, tried before the kernel is opened.
        closely: Whether to measure in double precision what rounding hides.
        clock: When the search for it must be over; where it is not, the treatment is one that has not passed.
    """
    state = LaunchState(operation, before)
    paths = rewritten_paths(operation)
    trials = 2 if state.size < LARGE else 1
    risky = counts(operation) and state.call.device == "cpu"  # a copy of the process has no other device
    first = judge(state, {}, rng, trials) if not risky else _judge_apart(state, rng, trials)
    if first.passed is None and closely and state.widen():
        first = judge(state, {}, rng, trials)
    half = half_precision(state, rng, trials) if closely and not risky else None
    if half is not None:
        reason, lost = half
        return Treatment(vjp=double_vjp, reasons=(reason,), passed=True, discrepancy=lost, route="double precision")
    if first.passed is not False:
        return Treatment(passed=first.passed, discrepancy=first.discrepancy)
    for moments in choices(paths) if not risky else ():
        if judge(state, moments, rng, trials).passed:
            return Treatment(by_array=moments, passed=True, discrepancy=first.discrepancy, route="contents from before")
    if known is not None and isinstance(known.cure, Cure) and known.cure.passes(state, rng):
        return known
    situation = situation_of(state, first, rng, risky)
    try:
        cure = None if situation is None else find_cure(state, situation, [{}, *choices(paths)], rng, risky, clock)
    except OutOfTimeError:
        return Treatment(passed=False, discrepancy=first.discrepancy)
    if cure is not None:
        return Treatment(cure=cure, passed=True, discrepancy=first.discrepancy, route="twin")
    if sum(int(f.touched.sum()) for f in state.fields) <= _LARGEST_NUMERIC:
        return Treatment(
            vjp=numeric_vjp,
            reasons=() if situation is None else find_reasons(state, situation),
            hinges=not risky and hinges_on_contents(state, paths, rng),
            passed=True,
            discrepancy=first.discrepancy,
            route="differences of the launch",
        )
    return Treatment(passed=False, discrepancy=first.discrepancy)


def treatment_of_callback(
    operation: Operation, function: Callable[[], None], window: Window, contents: Memory, rng: np.random.Generator
) -> Treatment:
    """The treatment of a function of `Tape.record_func`: left out, or gradients that it sets are added instead."""
    code = getattr(function, "__code__", None)
    where = str(operation.site) if code is None else f"{code.co_filename}:{code.co_firstlineno}"
    if operation.index in window.disbelieved:
        return Treatment(disbelieved=True, label=f"RG404 {where}")
    refs = [a.ref for o in window.operations for a in o.accesses]
    try:
        assigned = assigned_by(function, refs, contents, rng)
    except Exception:  # the program's own function: it may refuse the numbers
        return Treatment()
    return Treatment(assigned=assigned, label=f"RG405 {where}")


def _judge_apart(state: LaunchState, rng: np.random.Generator, trials: int) -> LaunchVerdict:
    found = apart(lambda: judge(state, {}, rng, trials))
    return LaunchVerdict(False, float("inf"), 0.0) if found is None else found


def counts(operation: Operation) -> bool:
    """Whether a launch may take indices from an atomic counter: its backward pass may then write anywhere."""
    return any(a.usage.accumulate and a.usage.load and not a.ref.differentiable for a in operation.accesses)


def hinges_on_contents(state: LaunchState, paths: Sequence[Path], rng: np.random.Generator) -> bool:
    """Whether the adjoint of a launch depends on which contents it gets of what the launch read and then changed."""
    by_path = {a.path: a.usage for a in state.operation.accesses}
    changed = [p for p in paths if by_path[p].over or by_path[p].accumulate]
    weights = [rng.standard_normal(f.written.size) * f.written for f in state.fields]
    late = np.concatenate(state.adjoint(weights, {}))
    early = np.concatenate(state.adjoint(weights, dict.fromkeys(changed, Moment.BEFORE)))
    reach = 256.0 * float(np.finfo(state.scalar).eps)
    size = np.abs(np.nan_to_num(late, posinf=0.0, neginf=0.0)).max(initial=0.0)
    return not np.allclose(late, early, rtol=reach, atol=reach * size, equal_nan=True)


def choices(paths: Sequence[Path]) -> Iterator[dict[Path, Moment]]:
    """Which arrays to take from before the launch: as few as will do, all at last."""
    chosen = [c for count in range(1, min(len(paths), 2) + 1) for c in combinations(paths, count)]
    if len(paths) > 2:
        chosen.append(tuple(paths))
    for early in chosen:
        yield {p: Moment.BEFORE if p in early else Moment.AFTER for p in paths}
