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
    problem: Problem, x: Floats, predicted: Floats, jacobian: Floats, rule: str | float
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

    Craven and Wahba (1979), doi:10.1007/BF01404567; Hansen (1992), doi:10.1137/1034115.
    """
    data = problem.whitening @ (problem.measured - predicted) + jacobian @ x
    points = [_solve(problem, jacobian, data, strength) for strength in STRENGTHS]
    misfit, roughness, signal = np.array(points).T
    gcv = problem.channels * misfit / (problem.channels - signal) ** 2
    curvature = _curvature(np.log(misfit), np.log(np.maximum(roughness, 1e-300)))
    if isinstance(rule, str):
        best = int(np.argmin(gcv)) if rule == "gcv" else int(np.argmax(curvature))
        name, strength = rule, float(STRENGTHS[best])
    else:
        name, strength = "given", rule
    return StrengthCurve(STRENGTHS, misfit, roughness, signal, gcv, curvature, name, strength)


def _solve(problem: Problem, jacobian: Floats, data: Floats, strength: float) -> tuple[float, float, float]:
    """Misfit, roughness and degrees of freedom for signal of the linear problem."""
    known = jacobian.T @ jacobian
    both = np.column_stack([jacobian.T @ data, known])
    solved = np.linalg.solve(known + strength * problem.roughness.T @ problem.roughness, both)
    x, kernel = solved[:, 0], solved[:, 1:]
    misfit = float(((data - jacobian @ x) ** 2).sum())
    return misfit, float(((problem.roughness @ x) ** 2).sum()), float(np.trace(kernel))


def _curvature(ln_misfit: Floats, ln_roughness: Floats) -> Floats:
    """Curvature of the curve through the points, positive at its corner; none at the ends."""
    dx, dy = np.gradient(ln_misfit), np.gradient(ln_roughness)
    ddx, ddy = np.gradient(dx), np.gradient(dy)
    curvature = (dx * ddy - ddx * dy) / np.maximum((dx**2 + dy**2) ** 1.5, 1e-300)
    curvature[:2], curvature[-2:] = -np.inf, -np.inf
    return curvature
