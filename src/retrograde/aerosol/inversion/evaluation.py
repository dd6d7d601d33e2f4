"""An inverse problem on its device: predictions, objectives and gradients of many boxes at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol._device import WarpArray, launch, new_zeros, to_device, to_host, wp
from retrograde.aerosol.inversion._kernels import add_squares, exponentiate, observe, subtract
from retrograde.aerosol.inversion.problem import Problem

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Evaluated:
    """The objective at some unknowns.

    Attributes:
        objective: Objective of each box [1], shape [boxes]; infinite where the simulation's steps were too long.
        gradient: Its derivative to the unknowns [1], shape [boxes, knots].
        predicted: Predicted numbers in the channels [m^-3], shape [boxes, channels].
    """

    objective: Floats
    gradient: Floats
    predicted: Floats


class Evaluation:
    """A problem made ready for a number of boxes.

    Boxes share the processes and the channels; unknowns, measured values and strength of the prior
    are each box's own. Memory is allocated once. The gradient is that of a Warp tape over the
    whole way from the unknowns to the objective, in which the simulation takes part by its
    hand-written adjoint.

    Attributes:
        problem: The problem.
        boxes: Number of boxes.
    """

    def __init__(self, problem: Problem, boxes: int, *, device: Any = None) -> None:
        self.problem, self.boxes = problem, boxes
        self._device = wp.get_device(device)
        self._integration = problem.simulation.prepare(boxes, device=self._device)
        unknown, operator = problem.unknown, problem.operator
        self._x = new_zeros((boxes, unknown.knots), device=self._device, requires_grad=True)
        self._basis = self._put(unknown.basis)
        self._widths = self._put(np.where(unknown.inside, unknown.grid.ln_widths, 0.0))
        self._whitening, self._roughness = self._put(problem.whitening), self._put(problem.roughness)
        self._entries = [wp.array(a, dtype=wp.int32, device=self._device) for a in self._indices()]
        self._weights = self._put(operator.matrix.data)
        self._ones = self._put(np.ones(boxes))
        intervals = np.diff(problem.simulation.times)
        self._longest = float(intervals.max()) / (problem.simulation.substeps or 1)

    def _indices(self) -> tuple[NDArray[np.integer[Any]], ...]:
        matrix, bins = self.problem.operator.matrix, self.problem.operator.bins
        return matrix.indptr, matrix.indices // bins, matrix.indices % bins

    def _put(self, values: Floats) -> WarpArray:
        return to_device(values, device=self._device)

    def predict(self, x: Floats) -> tuple[Floats, Bools]:
        """Predictions of every box, without a gradient.

        Args:
            x: Unknowns [1], shape [boxes, knots].

        Returns:
            Numbers in the channels [m^-3], shape [boxes, channels], and whether every step of the
            simulation was short enough, shape [boxes].
        """
        self._set("x", self._x, x)
        predicted = to_host(self._predicted())
        return predicted, self._are_valid()

    def trajectory(self, x: Floats) -> Floats:
        """States at the simulation's times [m^-3], shape [times, boxes, bins]."""
        self._set("x", self._x, x)
        self._predicted()
        return to_host(self._integration.number)

    def evaluate(self, x: Floats, measured: Floats, strength: Floats) -> Evaluated:
        """Objective and gradient of every box.

        Args:
            x: Unknowns [1], shape [boxes, knots].
            measured: What was measured in every box [m^-3], shape [boxes, channels].
            strength: Strength of the prior in every box [1], shape [boxes].
        """
        self._set("x", self._x, x)
        untyped: Any = self._x
        untyped.grad.zero_()
        with wp.Tape() as tape:
            objective, predicted = self.on_tape(self._x, self._put(measured), self._put(strength))
        tape.backward(grads={objective: self._ones})
        value = np.where(self._are_valid(), to_host(objective), np.inf)
        return Evaluated(value, to_host(untyped.grad), to_host(predicted))

    def on_tape(self, x: WarpArray, measured: WarpArray, strength: WarpArray) -> tuple[WarpArray, WarpArray]:
        """Objective [boxes] and predictions [boxes, channels], recorded on the active tape.

        Args:
            x: Unknowns [1], shape [boxes, knots], with a gradient.
            measured: What was measured [m^-3], shape [boxes, channels].
            strength: Strength of the prior [1], shape [boxes].
        """
        problem, boxes, device = self.problem, self.boxes, self._device
        predicted = self._predicted(x, requires_grad=True)
        difference = new_zeros((boxes, problem.channels), device=device, requires_grad=True)
        objective = new_zeros(boxes, device=device, requires_grad=True)
        launch(subtract, (boxes, problem.channels), [predicted, measured], [difference], device)
        rows = (boxes, problem.channels)
        launch(add_squares, rows, [self._whitening, difference, self._ones], [objective], device)
        launch(add_squares, (boxes, len(problem.roughness)), [self._roughness, x, strength], [objective], device)
        return objective, predicted

    def _predicted(self, x: WarpArray | None = None, *, requires_grad: bool = False) -> WarpArray:
        unknown, device = self.problem.unknown, self._device
        options: dict[str, Any] = {"device": device, "requires_grad": requires_grad}
        number = new_zeros((self.boxes, unknown.grid.bins), **options)
        inputs = [self._x if x is None else x, self._basis, self._widths]
        launch(exponentiate, (self.boxes, unknown.grid.bins), inputs, [number], device)
        self._integration.run(number)
        predicted = new_zeros((self.boxes, self.problem.channels), **options)
        states: Any = self._integration.number
        states.grad.zero_()
        launch(
            observe,
            (self.boxes, self.problem.channels),
            [self._integration.number, *self._entries, self._weights],
            [predicted],
            device,
        )
        return predicted

    def _set(self, name: str, array: Any, values: Floats) -> None:
        if values.shape != tuple(array.shape):
            raise ValueError(f"{name}: expected shape {list(array.shape)}, got {list(values.shape)}")
        array.assign(np.ascontiguousarray(values))

    def _are_valid(self) -> Bools:
        peaks = to_host(self._integration.peak_rate) * self._longest
        return np.isfinite(peaks) & (peaks <= 1.0)
