"""How strong the smoothness prior should be: generalised cross-validation, or the corner of the L-curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.inversion.problem import Problem

Floats = NDArray[np.float64]

STRENGTHS = np.geomspace(1e-5, 1e3, 49)
"""Strengths that are tried [1]."""


@dataclass(frozen=True, eq=False)
class StrengthCurve:
    """Solutions of the problem linearised about a minimum, at several strengths of the prior.

    Attributes:
        strengths: Strengths [1], increasing, shape [strengths].
        misfit: Sum of squares of the whitened residuals at each [1], shape [strengths].
        roughness: Roughness of the solution at each [1], shape [strengths].
        degrees_of_freedom: Degrees of freedom for signal at each [1], shape [strengths].
        gcv: Generalised cross-validation function [1], shape [strengths].
        curvature: Curvature of the L-curve, ln roughness over ln misfit [1], shape [strengths].
        rule: "gcv", "l-curve" or "given".
        strength: The strength that was chosen [1].
    """

    strengths: Floats
    misfit: Floats
    roughness: Floats
    degrees_of_freedom: Floats
    gcv: Floats
    curvature: Floats
    rule: str
    strength: float


def strength_curve(
    problem: Problem,
    x: Floats,
    predicted: Floats,
    jacobian: Floats,
    rule: str | float,
    *,
    measured: Floats | None = None,
) -> StrengthCurve:
    """The curve, and the choice by a rule.

    The generalised cross-validation function is channels x misfit / (channels - degrees of
    freedom)^2; its minimum is chosen. The L-curve's corner is where its curvature is largest.

    Args:
        problem: The problem.
        x: Unknowns to linearise about [1], shape [knots].
        predicted: Their predictions [m^-3], shape [channels].
        jacobian: Their whitened Jacobian [1], shape [channels, knots].
        rule: "gcv", "l-curve", or the strength itself.
        measured: What was measured [m^-3], shape [channels]; the problem's own by default.

    Craven and Wahba (1979), doi:10.1007/BF01404567; Hansen (1992), doi:10.1137/1034115.
    """
    measured = problem.measured if measured is None else measured
    data = problem.whitening @ (measured - predicted) + jacobian @ x
    misfit, roughness, signal = _solve(problem, jacobian, data)
    gcv = problem.channels * misfit / (problem.channels - signal) ** 2
    curvature = _curvature(np.log(misfit), np.log(np.maximum(roughness, 1e-300)))
    if isinstance(rule, str):
        best = int(np.argmin(gcv)) if rule == "gcv" else int(np.argmax(curvature))
        name, strength = rule, float(STRENGTHS[best])
    else:
        name, strength = "given", rule
    return StrengthCurve(STRENGTHS, misfit, roughness, signal, gcv, curvature, name, strength)


def _solve(problem: Problem, jacobian: Floats, data: Floats) -> tuple[Floats, Floats, Floats]:
    """Misfit, roughness and degrees of freedom for signal of the linear problem, by strength."""
    known = jacobian.T @ jacobian
    both = np.column_stack([jacobian.T @ data, known])
    prior = STRENGTHS[:, None, None] * (problem.roughness.T @ problem.roughness)
    solved = np.linalg.solve(known + prior, np.broadcast_to(both, (len(STRENGTHS), *both.shape)))
    x, kernel = solved[:, :, 0], solved[:, :, 1:]
    misfit = ((data - x @ jacobian.T) ** 2).sum(axis=1)
    roughness = ((x @ problem.roughness.T) ** 2).sum(axis=1)
    return misfit, roughness, np.trace(kernel, axis1=1, axis2=2)


def _curvature(ln_misfit: Floats, ln_roughness: Floats) -> Floats:
    """Curvature of the curve through the points, positive at its corner; none at the ends."""
    dx, dy = np.gradient(ln_misfit), np.gradient(ln_roughness)
    ddx, ddy = np.gradient(dx), np.gradient(dy)
    curvature = (dx * ddy - ddx * dy) / np.maximum((dx**2 + dy**2) ** 1.5, 1e-300)
    curvature[:2], curvature[-2:] = -np.inf, -np.inf
    return curvature
