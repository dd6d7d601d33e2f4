"""Steps that keep numbers positive: chosen, or checked, for given terms and times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol._device import WarpArray, device_of, shape_of, to_host, type_of
from retrograde.aerosol.processes._coefficients import growth_and_loss
from retrograde.aerosol.processes.integration import Integration, Plan
from retrograde.aerosol.processes.terms import Method, Terms

Floats = NDArray[np.float64]

_MARGIN = 1.02
"""Substeps are chosen this much more than the rates seen so far ask for."""

_MOST_TRIED = 10_000
"""A refusal names substeps that a run has proved enough, up to so many; beyond, those that the start asks for."""


class PositivityError(ValueError):
    """A step was so long that a number concentration could have turned negative.

    Give the simulation shorter steps (`substeps`), let it choose them (`substeps=None`), or use
    `Method.SEMI_IMPLICIT`, which has no such limit.

    Attributes:
        step: The step that was asked for [s].
        largest_step: The largest safe step [s].
        substeps: Substeps that keep every step at or below it.
    """

    def __init__(self, step: float, largest_step: float, substeps: int) -> None:
        self.step, self.largest_step, self.substeps = step, largest_step, substeps
        super().__init__(
            f"steps of {step:.6g} s pass the positivity limit: the largest safe step is {largest_step:.6g} s, "
            f"substeps={substeps} or more (substeps=None chooses them)"
        )


@dataclass(frozen=True, eq=False)
class Stepper:
    """Runs terms through a time grid with steps that keep numbers positive.

    Attributes:
        terms: Tendency of the numbers.
        intervals: Durations between output times [s], shape [times - 1].
        substeps: Steps in each interval; None to choose the fewest that stay positive.
        method: How a step is taken.
        store_every: States are stored at every so many steps; None for the square root of their number.
        like: An integration of the same terms for as many boxes, whose coefficients are shared.
    """

    terms: Terms
    intervals: Floats
    substeps: int | None
    method: Method
    store_every: int | None
    like: Integration | None = None

    def plan(self, substeps: int) -> Plan:
        """The plan with so many steps in an interval."""
        count = len(self.intervals) * substeps
        every = self.store_every or int(np.ceil(np.sqrt(count)))
        return Plan(intervals=self.intervals, substeps=substeps, every=min(every, count), method=self.method)

    def run(self, number: WarpArray) -> Integration:
        """Run with the given substeps, or with enough of them; not recorded.

        Args:
            number: Initial number concentrations [m^-3], shape [boxes, bins].

        Raises:
            PositivityError: The given substeps pass the positivity limit of Heun's method.
        """
        if self.method is Method.SEMI_IMPLICIT:
            return self._run_with(number, self.substeps or 1)
        longest = float(self.intervals.max())
        needed = max(1, int(np.ceil(float(emptying_rates(self.terms, to_host(number)).max()) * longest)))
        if self.substeps is None:
            return self._enough_substeps(number, needed, longest)
        if self.substeps >= needed:
            integration = self._run_with(number, self.substeps)
            if _is_within(integration, longest):
                return integration
        if needed > _MOST_TRIED:
            raise PositivityError(step=longest / self.substeps, largest_step=longest / needed, substeps=needed)
        enough = self._enough_substeps(number, max(needed, self.substeps + 1), longest)
        raise PositivityError(
            step=longest / self.substeps,
            largest_step=1.0 / float(to_host(enough.peak_rate).max()),
            substeps=enough.plan.substeps,
        )

    def _enough_substeps(self, number: WarpArray, substeps: int, longest: float) -> Integration:
        """Run with `substeps`, and with more until no step passes the limit."""
        while True:
            integration = self._run_with(number, substeps)
            if _is_within(integration, longest):
                return integration
            peak = float(to_host(integration.peak_rate).max())
            asked = int(np.ceil(_MARGIN * peak * longest)) if np.isfinite(peak) else 2 * substeps
            substeps = min(max(asked, substeps + 1), 2 * substeps)

    def _run_with(self, number: WarpArray, substeps: int) -> Integration:
        boxes = shape_of(number)[0]
        plan = self.plan(substeps)
        options: dict[str, Any] = {"dtype": type_of(number), "device": device_of(number), "like": self.like}
        integration = Integration(self.terms, plan, boxes, **options)
        integration.forward(number)
        return integration


def emptying_rates(terms: Terms, number: Floats) -> Floats:
    """Rate at which each bin is emptied [s^-1], shape [boxes, bins]."""
    rates = np.broadcast_to(terms.removal, number.shape)
    if terms.coagulation is None:
        return rates
    growth, loss = growth_and_loss(terms.coagulation.kernel, terms.coagulation.pairs)
    subscripts = "jk,bk->bj" if growth.ndim == 2 else "bjk,bk->bj"
    return rates + np.einsum(subscripts, growth + loss, number)


def _is_within(integration: Integration, longest: float) -> bool:
    """Whether no step passed the positivity limit."""
    return bool(np.all(to_host(integration.peak_rate) * longest / integration.plan.substeps <= 1.0))
