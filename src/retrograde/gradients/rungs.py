"""The four gradients of one parameter in one iteration, side by side."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


class How(Enum):
    """How a reference gradient was measured; the value is the word that reports use."""

    RE_EXECUTION = "re-execution"
    REPLAY = "replay"
    FLOAT64 = "float64"


@dataclass(frozen=True)
class Direction:
    """A directional derivative that was measured, beside what each rung says it should be.

    Attributes:
        label: What the direction is, in words ("element 3", "random 0", "consumed - ideal").
        consumed, taped, ideal: Inner product of that rung with the direction; None where the rung is missing.
        reference: Measured derivative of the objective along the direction.
        error: Half-width of the error bar of `reference`.
        left, right: One-sided derivatives where a kink was found, else None.
        how: How the derivative was measured.
        step: Step that gave it, relative to the parameter's scale.
        order: Observed order of the Taylor remainder, None where noise hides it.
        vector: The direction itself.
        value: The objective at the point; None where it is not finite.
        curvature: Its second derivative along the direction, None where it could not be had.
        jumps: Whether the objective jumps along the direction, so that differences show no derivative.
        doubt: How far from `reference` the derivative of one side may be, where a kink is too slight to be seen.
    """

    label: str
    consumed: float | None
    taped: float | None
    ideal: float | None
    reference: float
    error: float
    left: float | None = None
    right: float | None = None
    how: How = How.RE_EXECUTION
    step: float = 0.0
    order: float | None = None
    vector: Array = field(default_factory=lambda: np.zeros(0), repr=False, compare=False)
    value: float | None = None
    curvature: float | None = None
    jumps: bool = False
    doubt: float = float("inf")


@dataclass(frozen=True)
class Ladder:
    """Four gradients of one parameter in one iteration.

    Attributes:
        parameter: Name of the parameter in the program that holds it.
        shape: Shape of its gradient, components of vectors and matrices as trailing axes.
        dtype: Name of its scalar type.
        iteration: Zero-based iteration.
        consumed, taped, ideal: The rungs, flattened; None where a rung does not exist.
        reference: Measured gradient, flattened, NaN at elements that were not probed alone.
        reference_error: Half-width of its error bar, NaN likewise.
        directions: Every directional probe made.
        how: How the reference was measured.
    """

    parameter: str
    shape: tuple[int, ...]
    dtype: str
    iteration: int
    consumed: Array | None
    taped: Array | None
    ideal: Array | None
    reference: Array | None = None
    reference_error: Array | None = None
    directions: tuple[Direction, ...] = field(default=())
    how: How = How.RE_EXECUTION
