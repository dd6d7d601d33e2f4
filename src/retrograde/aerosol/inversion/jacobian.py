"""Derivatives of the predictions to every unknown, as runs of more boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.inversion.evaluation import Evaluation
from retrograde.aerosol.inversion.problem import Problem

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

STEP = 1e-4
"""Step of the central differences [1]; an unknown is a logarithm. The error is of the order of its square."""

ONE_SIDED_STEP = 1e-6
"""Step of one-sided differences [1]. The error is of its order, and that of rounding smaller still."""

_BOXES = 192
"""Boxes of one run: enough for SIMD and for a device's threads, few enough for memory."""


class Columns:
    """Jacobians of many boxes, a pair of runs an unknown; or one run, where half the digits do."""

    def __init__(self, problem: Problem, boxes: int, *, is_central: bool = True, device: Any = None) -> None:
        self._problem, self._is_central = problem, is_central
        wanted = (2 if is_central else 1) * problem.knots * boxes
        self._evaluation = Evaluation(problem, min(wanted, _BOXES), device=device)

    def whitened(self, x: Floats, chosen: Bools | None = None, *, predicted: Floats | None = None) -> Floats:
        """Jacobians of the errors of size one [1], shape [chosen boxes, channels, knots].

        Args:
            x: Unknowns [1], shape [boxes, knots].
            chosen: Boxes wanted, shape [boxes]; all by default.
            predicted: Predictions there [m^-3], shape [boxes, channels]; one-sided differences need them.
        """
        return np.matmul(self._problem.whitening, self.plain(x, chosen, predicted=predicted))

    def plain(self, x: Floats, chosen: Bools | None = None, *, predicted: Floats | None = None) -> Floats:
        """Jacobians of the predictions [m^-3], shape [chosen boxes, channels, knots]."""
        centres = x if chosen is None else x[chosen]
        knots = centres.shape[1]
        if not self._is_central:
            if predicted is None:
                raise ValueError("predicted: expected predictions for one-sided differences")
            base = predicted if chosen is None else predicted[chosen]
            moved = (centres[:, None, :] + ONE_SIDED_STEP * np.eye(knots)).reshape(-1, knots)
            ahead = self._predict(moved).reshape(len(centres), knots, -1)
            return ((ahead - base[:, None, :]) / ONE_SIDED_STEP).transpose(0, 2, 1)
        steps = STEP * np.concatenate([np.eye(knots), -np.eye(knots)])
        moved = (centres[:, None, :] + steps).reshape(-1, knots)
        pairs = self._predict(moved).reshape(len(centres), 2, knots, -1)
        return ((pairs[:, 0] - pairs[:, 1]) / (2.0 * STEP)).transpose(0, 2, 1)

    def _predict(self, x: Floats) -> Floats:
        """Predictions of any number of boxes, a batch at a time."""
        boxes = self._evaluation.boxes
        parts: list[Floats] = []
        for first in range(0, len(x), boxes):
            part = x[first : first + boxes]
            padded = np.concatenate([part, np.repeat(part[-1:], boxes - len(part), axis=0)])
            parts.append(self._evaluation.predict(padded)[0][: len(part)])
        return np.concatenate(parts)
