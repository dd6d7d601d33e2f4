"""Levenberg and Marquardt's method for many boxes at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.inversion.evaluation import Evaluated, Evaluation
from retrograde.aerosol.inversion.jacobian import Columns
from retrograde.aerosol.inversion.problem import Problem
from retrograde.aerosol.inversion.stopping import Stopping

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

Progress = Callable[[str], None]

_HALVINGS = 20
"""A start that cannot be simulated is halved so many times at most."""


@dataclass(frozen=True)
class Tolerances:
    """When a search ends.

    Attributes:
        gradient: Largest element of the gradient, relative to the objective plus one [1].
        step: Largest change of an unknown [1].
        objective: Fall of the objective in an accepted step, relative to the objective plus one [1].
        iterations: Limit of the iterations.
    """

    gradient: float = 1e-6
    step: float = 1e-7
    objective: float = 1e-9
    iterations: int = 60


@dataclass(frozen=True, eq=False)
class Solution:
    """Minima of many boxes.

    Attributes:
        x: Unknowns [1], shape [boxes, knots].
        objective: Objective [1], shape [boxes].
        gradient: Its derivative to the unknowns [1], shape [boxes, knots].
        predicted: Predicted numbers in the channels [m^-3], shape [boxes, channels].
        stopping: Why the search ended, by box.
        iterations: Iterations of each box, shape [boxes].
    """

    x: Floats
    objective: Floats
    gradient: Floats
    predicted: Floats
    stopping: tuple[Stopping, ...]
    iterations: NDArray[np.int64]

    @property
    def is_converged(self) -> Bools:
        """Whether each box's search found a minimum, shape [boxes]."""
        return np.array([reason.is_converged for reason in self.stopping])


class LevenbergMarquardt:
    """A problem's minima, box by box, with one launch a step for all boxes.

    The gradient is the tape's. The curvature is Gauss and Newton's, from differences along the
    knots that are runs of more boxes: it decides how fast a minimum is reached, not where it lies.
    Damping follows Nielsen (1999), "Damping parameter in Marquardt's method", IMM-REP-1999-05.

    Attributes:
        problem: The problem.
        boxes: Number of boxes, each with its own data and strength of the prior.
    """

    def __init__(
        self, problem: Problem, boxes: int, *, tolerances: Tolerances | None = None, device: Any = None
    ) -> None:
        self.problem, self.boxes = problem, boxes
        self._tolerances = tolerances or Tolerances()
        self._device = device
        self._evaluation = Evaluation(problem, boxes, device=device)

    @cached_property
    def _columns(self) -> Columns:
        return Columns(self.problem, self.boxes, is_central=False, device=self._device)

    @property
    def evaluation(self) -> Evaluation:
        """The problem on its device, for as many boxes."""
        return self._evaluation

    def solve(
        self,
        start: Floats,
        measured: Floats,
        strength: Floats,
        *,
        curvature: Floats | None = None,
        progress: Progress | None = None,
    ) -> Solution:
        """Search from `start`.

        Args:
            start: First guess [1], shape [boxes, knots].
            measured: What was measured in every box [m^-3], shape [boxes, channels].
            strength: Strength of the prior in every box [1], shape [boxes].
            curvature: The data's part of the curvature [1], shape [knots, knots], where one is near
                enough for all boxes and all steps, as for small changes of the data; None to compute it anew
                at every accepted step.
            progress: Told of every iteration.
        """
        start, now = self._valid(start, measured, strength)
        search = _Search(self.problem, start, strength, now)
        for iteration in range(self._tolerances.iterations):
            search.end_where_flat(self._tolerances.gradient)
            if not search.active.any():
                break
            if curvature is not None:
                search.curvature[:] = curvature
            else:
                self._refresh(search)
            step = search.step()
            trial = self._evaluation.evaluate(search.x + step, measured, strength)
            search.take(step, trial, self._tolerances)
            if progress is not None:
                open_boxes, best = int(search.active.sum()), float(search.now.objective.min())
                progress(f"iteration {iteration + 1}: {open_boxes} of {self.boxes} open, least objective {best:.6g}")
        return search.solution()

    def _valid(self, start: Floats, measured: Floats, strength: Floats) -> tuple[Floats, Evaluated]:
        """Starts with so many particles that the simulation's steps are too long, with evenly fewer of them."""
        now = self._evaluation.evaluate(start, measured, strength)
        for _ in range(_HALVINGS):
            wrong = ~np.isfinite(now.objective)
            if not wrong.any():
                break
            start = np.where(wrong[:, None], start - np.log(2.0), start)
            now = self._evaluation.evaluate(start, measured, strength)
        return start, now

    def _refresh(self, search: _Search) -> None:
        stale = search.stale & search.active
        if not stale.any():
            return
        columns = self._columns.whitened(search.x, stale, predicted=search.now.predicted)
        search.curvature[stale] = np.einsum("bmk,bml->bkl", columns, columns)
        search.stale[stale] = False


class _Search:
    """Where all boxes are."""

    def __init__(self, problem: Problem, start: Floats, strength: Floats, now: Evaluated) -> None:
        boxes, knots = start.shape
        self.x, self.now, self.boxes = start.copy(), now, boxes
        self.prior = strength[:, None, None] * (problem.roughness.T @ problem.roughness)
        self.curvature = np.zeros((boxes, knots, knots))
        self.damping, self.growth = np.full(boxes, 1e-3), np.full(boxes, 2.0)
        self.stale = np.ones(boxes, dtype=bool)
        self.active = np.isfinite(now.objective)
        self.iterations = np.zeros(boxes, dtype=np.int64)
        self.stopping = [Stopping.ITERATIONS if ok else Stopping.INVALID_START for ok in self.active]

    def end_where_flat(self, tolerance: float) -> None:
        size = np.abs(self.now.gradient).max(axis=1)
        self._end(size <= tolerance * (1.0 + np.abs(self.now.objective)), Stopping.GRADIENT)

    def step(self) -> Floats:
        """The damped step of every box, zero where the search has ended."""
        hessian = self.curvature + self.prior
        diagonal = np.einsum("bkk->bk", hessian)
        scale = np.maximum(diagonal, 1e-9 * diagonal.max(axis=1, keepdims=True))
        damped = hessian + (self.damping[:, None] * scale)[:, :, None] * np.eye(self.x.shape[1])
        step = np.zeros_like(self.x)
        active = self.active
        step[active] = np.linalg.solve(damped[active], -self.now.gradient[active][:, :, None])[:, :, 0]
        self.expected = -np.einsum("bk,bk->b", step, self.now.gradient)
        self.expected -= 0.5 * np.einsum("bk,bkl,bl->b", step, hessian, step)
        # A step of more than a factor e^3 in a spectrum leaves the region that the curvature describes.
        longest = np.abs(step).max(axis=1, keepdims=True)
        self.is_cut = longest[:, 0] > 3.0
        return step * np.minimum(1.0, 3.0 / np.maximum(longest, 1e-300))

    def take(self, step: Floats, trial: Evaluated, tolerances: Tolerances) -> None:
        """Accept the step where it lowers the objective, and set the damping."""
        active = self.active.copy()
        self.iterations[active] += 1
        old = self.now.objective
        fall = np.full(old.shape, -np.inf)
        tried = active & np.isfinite(trial.objective)
        fall[tried] = old[tried] - trial.objective[tried]
        better = active & (fall > 0.0)
        ratio = np.where(better, fall / np.maximum(self.expected, 1e-300), -1.0)
        self.x[better] += step[better]
        self.now = Evaluated(
            np.where(better, trial.objective, old),
            np.where(better[:, None], trial.gradient, self.now.gradient),
            np.where(better[:, None], trial.predicted, self.now.predicted),
        )
        self.stale |= better
        softer = np.clip(1.0 - (2.0 * ratio - 1.0) ** 3, 1.0 / 3.0, 2.0)
        self.damping = np.where(
            better, self.damping * softer, np.where(active, self.damping * self.growth, self.damping)
        )
        self.growth = np.where(better, 2.0, np.where(active, self.growth * 2.0, self.growth))
        size = 1.0 + np.abs(self.now.objective)
        tiny = np.abs(step).max(axis=1) <= tolerances.step
        settled = better & ~self.is_cut & (fall <= tolerances.objective * size) & (ratio > 0.25)
        rounding = ~better & (np.abs(fall) <= 1e-12 * size)
        self._end(active & better & tiny, Stopping.STEP)
        self._end(active & (settled | rounding), Stopping.OBJECTIVE)
        self._end(active & ~better & (self.damping > 1e12), Stopping.STUCK)

    def _end(self, where: Bools, reason: Stopping) -> None:
        for box in np.flatnonzero(where & self.active):
            self.stopping[box] = reason
        self.active = self.active & ~where

    def solution(self) -> Solution:
        return Solution(
            self.x,
            self.now.objective,
            self.now.gradient,
            self.now.predicted,
            tuple(self.stopping),
            self.iterations,
        )
