"""A simulation as a sequence of plain launches that Warp's tape differentiates by itself.

Slower than an `Integration` by far, and written independently of it: textbook sums over all pairs
instead of matrix products, Warp's adjoints instead of hand-written ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from retrograde.aerosol._device import WarpArray, launch, new_zeros, wp
from retrograde.aerosol.processes._pairs import no_pairs, with_bulk_listed
from retrograde.aerosol.processes._plain_kernels import plain_kernels
from retrograde.aerosol.processes.integration import Plan
from retrograde.aerosol.processes.terms import Floats, Method, Scheme, Terms


class PlainIntegration:
    """A simulation made ready for a number of boxes, for Warp's tape.

    Every launch writes memory of its own, so that a run needs memory in proportion to its steps.

    Attributes:
        number: Number concentrations at all times [m^-3], shape [times, boxes, bins].
        escaped_volume: Particle volume that has left the grid's top [m^3 m^-3], shape
            [times, boxes].
    """

    def __init__(self, terms: Terms, plan: Plan, boxes: int, *, dtype: Any = wp.float64, device: Any = None) -> None:
        if plan.method is not Method.HEUN:
            raise ValueError("method: plain launches are written for Heun's method alone")
        self._device = wp.get_device(device)
        self._dtype, self._plan = dtype, plan
        self._kernels = plain_kernels(dtype)
        self._boxes, self._bins = boxes, terms.bins
        self._set_pairs(terms)
        self._removal = self._reals(np.atleast_2d(terms.removal))
        self._supply = self._reals(np.atleast_2d(terms.supply))
        shape = (len(plan.intervals) + 1, boxes, terms.bins)
        self.number: WarpArray = new_zeros(shape, dtype=dtype, device=self._device, requires_grad=True)
        self.escaped_volume: WarpArray = new_zeros(shape[:2], dtype=dtype, device=self._device, requires_grad=True)

    def _set_pairs(self, terms: Terms) -> None:
        bins = terms.bins
        coagulation = terms.coagulation
        self._is_fixed = coagulation is None or coagulation.scheme is Scheme.FIXED_PIVOT
        pairs = no_pairs(bins) if coagulation is None else with_bulk_listed(coagulation.pairs, self._is_fixed)
        kernel = np.zeros((bins, bins)) if coagulation is None else coagulation.kernel
        self._top = pairs.top
        self._kernel = self._reals(kernel.reshape(-1, bins, bins))
        self._pairs = [
            *(wp.array(a, dtype=wp.int32, device=self._device) for a in (pairs.starts, pairs.larger, pairs.smaller)),
            *(self._reals(a) for a in (pairs.first, pairs.second)),
        ]
        self._backstep = self._reals(pairs.backstep)

    def _reals(self, values: Floats) -> WarpArray:
        return wp.array(values, dtype=self._dtype, device=self._device)

    def _new(self, *leading: int) -> WarpArray:
        shape = (*leading, self._boxes, self._bins + 1)
        return new_zeros(shape, dtype=self._dtype, device=self._device, requires_grad=True)

    def _launch(self, kernel: Any, inputs: list[Any], outputs: list[Any]) -> None:
        launch(kernel, (self._boxes, self._bins + 1), inputs, outputs, self._device)

    @property
    def plan(self) -> Plan:
        """Time grid and method."""
        return self._plan

    def run(self, number: WarpArray) -> None:
        """Step from the initial `number` [m^-3], shape [boxes, bins], through all times."""
        state = self._new()
        self._launch(self._kernels.extend, [number], [state])
        self._split(state, 0)
        for interval, duration in enumerate(self._plan.intervals):
            for _ in range(self._plan.substeps):
                state = self._step(state, float(duration) / self._plan.substeps)
            self._split(state, interval + 1)

    def _split(self, state: WarpArray, time: int) -> None:
        self._launch(self._kernels.split, [state, time], [self.number, self.escaped_volume])

    def _step(self, state: WarpArray, h: float) -> WarpArray:
        twice = self._euler(self._euler(state, h), h)
        result = self._new()
        self._launch(self._kernels.average, [state, twice], [result])
        return result

    def _euler(self, state: WarpArray, h: float) -> WarpArray:
        kernels = self._kernels
        sums, rates, tendency, result = self._new(2), self._new(), self._new(), self._new()
        self._launch(kernels.interval_sums, [state, self._kernel, *self._pairs], [sums])
        self._launch(kernels.loss_rates, [state, self._kernel, self._removal], [rates])
        scheme = kernels.fixed_pivot if self._is_fixed else kernels.cell_average
        self._launch(scheme, [state, sums, rates, self._supply, self._backstep, self._top], [tendency])
        self._launch(kernels.advance, [state, tendency, h], [result])
        return result
