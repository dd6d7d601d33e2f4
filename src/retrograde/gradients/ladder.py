"""Puts the four gradients of one life side by side."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from retrograde.gradients.backward_on import has_adjoint, with_backward
from retrograde.gradients.clock import UNTIMED, Clock, OutOfTimeError
from retrograde.gradients.crossing import Crossing
from retrograde.gradients.differences import scale_of
from retrograde.gradients.forked import apart, side_by_side
from retrograde.gradients.launch_test import rewritten_paths
from retrograde.gradients.life import Life, fresh_gradient
from retrograde.gradients.links import Evaluate, Links, find_links
from retrograde.gradients.objective import Objective, objective_of
from retrograde.gradients.policy import IDEAL, Policy, Treatment
from retrograde.gradients.resets import before_resets
from retrograde.gradients.rungs import Direction, How, Ladder
from retrograde.gradients.sweep import Sweep, Target
from retrograde.gradients.treatment import counts, treatment_of, treatment_of_callback
from retrograde.gradients.window import Window
from retrograde.trace.operations import Operation, Recording

Float = npt.NDArray[np.float64]
RISKY = "RG406"
"""What faults of kernels begin with whose adjoint may write anywhere."""
_EXAMINING = 0.4


@dataclass(frozen=True, eq=False)
class Case:
    """One life under judgement: everything that causes need to intervene.

    Attributes:
        recording, life, objective: What is judged.
        window: Operations from the first read to the last backward pass.
        treatments: How launches' adjoints must be run, by operation index.
        contents: The parameter's contents when first read.
        ideal: The ideal gradient.
        directions: Measured slopes.
        links: Values that come back from outside the recorded operations, where these were sought and found.
        seconds: Time that one sweep takes [s].
        inner: Of a parameter of torch, what happens to it in Warp. Torch's own part is taken from its backward pass.
        clock: When sweeps must be over.
    """

    recording: Recording
    life: Life
    objective: Objective
    window: Window
    treatments: Mapping[int, Treatment]
    contents: Float
    ideal: Float
    directions: tuple[Direction, ...] = field(default=())
    links: Links | None = None
    seconds: float = 0.0
    inner: tuple[Case, ...] = field(default=())
    clock: Clock = UNTIMED
    _known: dict[tuple[Policy, bool], Float] = field(
        init=False, repr=False, default_factory=dict[tuple[Policy, bool], Float]
    )

    def sweep(self, policy: Policy = IDEAL, used_seeds: bool = False) -> Float:
        """The gradient with some properties of the ideal switched off; not finite where the sweep does not survive."""
        return self.sweeps((policy,), used_seeds)[0]

    def sweeps(self, policies: Sequence[Policy], used_seeds: bool = False) -> list[Float]:
        """Several gradients, each with other properties of the ideal switched off, and each computed once."""
        own = used_seeds and self.objective.used != self.objective.seeds
        known = self._known  # of this very case: a changed copy begins with none
        if not own and self.ideal.size:
            known.setdefault((IDEAL, False), self.ideal)
        missing = [p for p in dict.fromkeys(policies) if (p, own) not in known]
        for begin in range(0, len(missing), self._at_once):
            some = missing[begin : begin + self._at_once]
            found = side_by_side(lambda policy: self.swept(policy, own), some, self.seconds)
            known.update(((policy, own), gradient) for policy, gradient in zip(some, found, strict=True))
        return [known[policy, own] for policy in policies]

    @property
    def _at_once(self) -> int:
        """How many sweeps to begin before those that are done are kept: a second or two of work."""
        return 2 * max(1, round(1.0 / max(self.seconds, 1e-3)))

    def timed(self, clock: Clock) -> Case:
        """The same case with other time."""
        same = replace(self, clock=clock, inner=tuple(case.timed(clock) for case in self.inner))
        same._known.update(self._known)
        return same

    def swept(self, policy: Policy, used_seeds: bool) -> Float:
        """One gradient, computed anew."""
        if self.life.ref.device == "cpu" and any(label.startswith(RISKY) for label in policy.faults):
            found = apart(lambda: self._sweep(policy, used_seeds))
            self.clock.check()
            return np.full(self.life.ref.full_shape, np.nan) if found is None else found
        return self._sweep(policy, used_seeds)

    def _sweep(self, policy: Policy, used_seeds: bool) -> Float:
        if self.life.in_torch:
            return self._through_torch(policy, used_seeds)
        seeds = self.objective.used if used_seeds else self.objective.seeds
        seeds += self.objective.repeats if policy.repeats else ()
        window = self.window if not policy.again else self._window_of(policy.again)
        if policy.tapes is None:
            return self._run(Sweep(window, seeds, self.treatments, self.window.first, self.clock), policy)
        total = np.zeros(self.life.ref.full_shape)
        for seed in seeds:
            tape = self.recording.operations[seed.index].tape
            if tape is not None and tape in policy.tapes:
                alone = Sweep(self.window, (seed,), self.treatments, clock=self.clock)
                total += self._run(alone, policy.without(tapes=frozenset({tape})))
        return total

    def _run(self, sweep: Sweep, policy: Policy) -> Float:
        """One sweep, with what passes through links."""
        target = (Target(self.life.ref, self.life.first.index),)
        if self.links is None:
            return sweep.run(target, policy)[0]
        crossing = Crossing(self.links, policy)
        recorded = sweep.run(target, policy, crossing)[0]
        return recorded + crossing.gradient().reshape(recorded.shape)

    def _through_torch(self, policy: Policy, used_seeds: bool) -> Float:
        """What torch's backward pass gives if Warp's parts of it are replaced by their sweeps."""
        total = self.handed_over().copy()
        for case in self.inner:
            assert case.life.consumed is not None
            total += (case.sweep(policy, used_seeds) - case.life.consumed).reshape(total.shape)
        return total

    def handed_over(self) -> Float:
        """What torch's backward pass added to the gradient, each part that Warp returned to it once."""
        fresh = fresh_gradient(self.life)
        fresh = self.life.consumed if fresh is None else fresh
        assert fresh is not None
        twice = [c.life.consumed for c in self.inner if self.is_in_place(c.life) and c.life.consumed is not None]
        return fresh - sum((g.reshape(fresh.shape) for g in twice), np.zeros(fresh.shape))

    def is_in_place(self, life: Life) -> bool:
        """Whether what Warp returned lay in torch's own gradient already, so that torch added it to itself.

        Not where torch, without a gradient of its own before, keeps what is returned.
        """
        assert self.life.ref.gradient is not None
        places = self.recording.in_torch[self.life.ref.gradient]
        around = (t for t in self.life.backwards for b in life.backwards if t.ordinal < b.ordinal and b.index < t.index)
        return any(places.get(t.ordinal) == life.ref.gradient for t in around)

    def _window_of(self, tapes: frozenset[int]) -> Window:
        """The window, from the first operation of some tapes on."""
        first = next((o.index for o in self.recording.operations if o.tape in tapes), self.window.first)
        return replace(self.window, first=min(first, self.window.first))

    def ladder(self) -> Ladder:
        """The rungs, for the report."""
        life = self.life
        reference = np.full(self.contents.size, np.nan)
        error = np.full(self.contents.size, np.nan)
        scale = scale_of(self.contents).reshape(-1)
        how = How.RE_EXECUTION
        for direction in self.directions:
            how = direction.how
            if direction.label.startswith("element "):
                element = int(direction.label.split()[1])
                reference[element] = direction.reference / scale[element]
                error[element] = direction.error / scale[element]
        return Ladder(
            parameter=life.name,
            shape=life.ref.full_shape,
            dtype=np.dtype(life.ref.scalar if life.ref.scalar is not None else np.float32).name,
            iteration=life.iteration,
            consumed=_flat(life.consumed),
            taped=_flat(life.taped),
            ideal=_flat(self.ideal),
            reference=reference,
            reference_error=error,
            directions=self.directions,
            how=how,
        )


def _flat(values: Float | None) -> Float | None:
    return None if values is None else values.reshape(-1)


def frame(recording: Recording, life: Life, objective: Objective) -> Case:
    """What is judged of a life, its ideal gradient still unknown."""
    inner = tuple(frame(recording, n, objective_of(recording, n)) for n in life.inner)
    window = Window(recording, life.first.index, life.last, life.ref)
    contents = window.contents_before(life.first.index).values(life.ref)
    return Case(recording, life, before_resets(window, objective), window, {}, contents, np.zeros(0), inner=inner)


def opened(case: Case, rng: np.random.Generator) -> Case:
    """The case with its ideal gradient, which is not finite where the case's time is too short for it."""
    inner = tuple(opened(n, rng) for n in case.inner)
    treatments = find_treatments(case.window, rng, clock=case.clock.share(_EXAMINING))
    case = replace(case, treatments=treatments, inner=inner)
    try:
        return _with_ideal(case)
    except OutOfTimeError:
        return replace(case, ideal=np.full(case.life.ref.full_shape, np.nan))


def connect(case: Case, evaluate: Evaluate, directions: Sequence[Float]) -> Case:
    """Seek links, and sweep again with those that are found.

    Args:
        case: The case.
        evaluate: Runs the program again.
        directions: What is of interest of a large parameter; a small one is taken element by element.
    """
    scale = scale_of(case.contents)
    links = find_links(case.window.operations, case.window.stood_for, case.contents, scale, directions, evaluate)
    return case if links is None else _with_ideal(replace(case, links=links))


def disconnected(case: Case) -> Case:
    """The case without its links."""
    return _with_ideal(replace(case, links=None))


def examine_launches(case: Case, rng: np.random.Generator) -> Case:
    """Test every launch of the window on its own, as far as there is time, and sweep again.

    Raises:
        OutOfTimeError: There is no time for the sweep.
    """
    if case.life.in_torch:
        return _with_ideal(replace(case, inner=tuple(examine_launches(c, rng) for c in case.inner)))
    treatments = find_treatments(case.window, rng, every=True, clock=case.clock.share(_EXAMINING))
    return _with_ideal(replace(case, treatments=treatments))


def _with_ideal(case: Case) -> Case:
    started = time.perf_counter()
    ideal = case.swept(IDEAL, used_seeds=False)
    return replace(case, ideal=ideal, seconds=time.perf_counter() - started)


def find_treatments(
    window: Window, rng: np.random.Generator, every: bool = False, clock: Clock = UNTIMED
) -> dict[int, Treatment]:
    """Which contents each launch's adjoint needs.

    Args:
        window: The operations.
        rng: Random directions.
        every: Test all launches; otherwise one of each kind that reads what it writes.
        clock: When the tests must be over: from then on a launch is treated as the last one of its kind was.
    """
    memory = window.contents_at_end()
    known: dict[tuple[object, ...], Treatment] = {}
    treatments: dict[int, Treatment] = {}
    for operation in reversed(window.operations):
        memory.undo(window.undo(operation.index))
        function = window.recording.callbacks.get(operation.index)
        if every and function is not None:
            treatments[operation.index] = treatment_of_callback(operation, function, window, memory, rng)
        call = operation.launch
        if call is None or call.opaque or operation.index in window.stood_for:
            continue
        if not has_adjoint(call) and (operation.index not in window.upstream or with_backward(call) is None):
            continue
        if not any(a.ref.differentiable for a in operation.accesses):
            continue
        if not every and not rewritten_paths(operation) and not counts(operation):
            continue
        kind = _kind(operation)
        untested = every or kind not in known or known[kind].cure is not None
        if untested and clock.left > 0.0:
            known[kind] = treatment_of(operation, memory, rng, known.get(kind), every, clock)
        if kind in known:
            treatments[operation.index] = known[kind]
    return treatments


def _kind(operation: Operation) -> tuple[object, ...]:
    """Launches of one kind need the same contents: same kernel, same arrays by their aliasing."""
    call = operation.launch
    assert call is not None
    pointers = {p: i for i, p in enumerate(dict.fromkeys(a.ref.pointer for a in operation.accesses))}
    return (
        call.kernel.key,
        call.kernel.module.name,
        tuple((a.path, pointers[a.ref.pointer], a.ref.shape) for a in operation.accesses),
    )
