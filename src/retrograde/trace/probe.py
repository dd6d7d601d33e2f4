"""Carries out a plan in a re-execution: perturbs what the program computes with, and reads what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from retrograde.trace.arrays import ArrayRef
from retrograde.trace.crossings import Crossings
from retrograde.trace.numbers import numbers_of, values_of, with_values
from retrograde.trace.operations import Access, LaunchCall, Seed
from retrograde.trace.plan import Outcome, Plan, read_values

_ANOTHER_PATH = "the program took another path than when it was recorded"
_OTHER_SEEDS = "the backward pass got other seeds than when it was recorded"


class Probe:
    """One plan under way.

    Args:
        plan: What to perturb, and what to read.
        finish: Takes the outcome; in a re-execution it does not return.

    Attributes:
        replaced: Arguments of the launch under way that the plan replaced, by position.
        crossings: What crosses between host and device at watched calls.
    """

    def __init__(self, plan: Plan, finish: Callable[[Outcome], None]) -> None:
        self.plan = plan
        self.replaced: dict[int, Any] = {}
        self.crossings = Crossings()
        self.crossings.watched = plan.watched
        self._finish = finish
        self._values: dict[int, float] = {}

    def fail(self, reason: str) -> None:
        """End without an answer."""
        self._finish(Outcome(self._values, reason))

    def inject(self, ordinal: int, accesses: tuple[Access, ...]) -> None:
        """Write what the plan has for a call that is about to run."""
        for injection in self.plan.injections:
            if injection.ordinal == ordinal:
                if injection.slot >= len(accesses):
                    self.fail(_ANOTHER_PATH)
                    return
                injection.apply(accesses[injection.slot].ref)

    def with_injected(self, call: LaunchCall, ordinal: int) -> LaunchCall:
        """A launch with the numbers that the plan has for it."""
        self.replaced = {}
        for injection in self.plan.numbers:
            if injection.ordinal == ordinal:
                numbers = numbers_of(call)
                values = values_of(numbers)
                values[list(injection.values)] = list(injection.values.values())
                call = with_values(call, numbers, values)
                self.replaced = {n.position: call.arguments[n.position] for n in numbers if len(n.path) == 1}
        return call

    def read_terms(self, ordinal: int, loss: ArrayRef | None, seeds: tuple[Seed, ...]) -> None:
        """Read the parts of the objective that a backward pass begins from; ends the re-execution at the last."""
        for term in self.plan.terms:
            if term.ordinal != ordinal:
                continue
            if not term.weights and loss is not None:
                self._add(ordinal, float(read_values(loss).sum()))
            elif len(term.weights) <= len(seeds) and term.weights:
                total = sum(float(np.vdot(w, read_values(s.ref))) for w, s in zip(term.weights, seeds, strict=False))
                self._add(ordinal, total)
            else:
                self.fail(_OTHER_SEEDS)
        self._finish_if_last(ordinal)

    def read_before(self, ordinal: int, accesses: tuple[Access, ...]) -> None:
        """Read the parts of the objective that a call is about to replace."""
        mine = [t for t in self.plan.terms if t.ordinal == ordinal and t.slot is not None]
        for term in mine:
            assert term.slot is not None
            if term.slot >= len(accesses):
                self.fail(_ANOTHER_PATH)
                return
            self._add(ordinal, float(np.vdot(term.weights[0], read_values(accesses[term.slot].ref))))
        if mine:
            self._finish_if_last(ordinal)

    def _add(self, ordinal: int, value: float) -> None:
        self._values[ordinal] = self._values.get(ordinal, 0.0) + value

    def _finish_if_last(self, ordinal: int) -> None:
        if ordinal >= self.plan.last:
            self._finish(Outcome(dict(self._values), seen=dict(self.crossings.seen)))
