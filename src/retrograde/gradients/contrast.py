"""Holds the gradient that was used against the one of another implementation, and both against the measured slopes.

Two right implementations may differ where the objective has ties and kinks: there every slope between the one-sided
ones is a derivative. Elsewhere one of them is wrong, or they differentiate different objectives.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
import numpy.typing as npt

from retrograde.gradients.other import Others
from retrograde.gradients.rungs import Array, Direction, Ladder
from retrograde.gradients.slopes import admits, along

RELATIVE, ABSOLUTE = 1e-3, 1e-4
"""Two elements differ by more than this share of the larger, and of the largest element."""

_FEW = 0.05


class Nature(Enum):
    """How two gradients differ; the value is the word in the report."""

    AGREES = "agrees"
    KINKS = "sparse, at ties and kinks"
    SPARSE = "sparse"
    DENSE = "dense"
    OTHER_SHAPE = "another shape"


@dataclass(frozen=True)
class Dispute:
    """A measured slope along which the two gradients predict different ones.

    Attributes:
        label: What the direction is.
        ours, theirs: Slopes that the gradient used and the other implementation's predict.
        reference, error: The measured slope and half the width of its error bar.
        left, right: One-sided slopes where a kink was found, else None.
        admits_ours, admits_theirs: Whether the measurement admits each; None where it says nothing.
    """

    label: str
    ours: float
    theirs: float
    reference: float
    error: float
    left: float | None
    right: float | None
    admits_ours: bool | None
    admits_theirs: bool | None


@dataclass(frozen=True)
class Contrast:
    """One parameter in one iteration.

    Attributes:
        parameter, iteration: Which.
        size, differing: Number of elements, and of those that differ.
        distance: Norm of the difference relative to the larger of the two norms.
        nature: How they differ.
        disputes: What was measured where they do.
    """

    parameter: str
    iteration: int
    size: int
    differing: int
    distance: float
    nature: Nature
    disputes: tuple[Dispute, ...] = ()


@dataclass(frozen=True)
class Against:
    """The comparison with another implementation.

    Attributes:
        source: Where its gradients were read from.
        contrasts: One by one.
        unmatched: Names in the file that no judged parameter and iteration has.
    """

    source: str
    contrasts: tuple[Contrast, ...]
    unmatched: tuple[str, ...] = ()


def differs(ours: Array, theirs: Array) -> npt.NDArray[np.bool_]:
    """Where two flat gradients differ by more than rounding; not finite and finite always do."""
    finite = np.isfinite(ours) & np.isfinite(theirs)
    mine, other = np.where(finite, ours, 0.0), np.where(finite, theirs, 0.0)
    larger = np.maximum(np.abs(mine), np.abs(other))
    apart = np.abs(mine - other) > RELATIVE * larger + ABSOLUTE * larger.max(initial=0.0)
    return apart | (~finite & ~_same_kind(ours, theirs))


def _same_kind(ours: Array, theirs: Array) -> npt.NDArray[np.bool_]:
    return (np.isnan(ours) & np.isnan(theirs)) | (ours == theirs)


def most_disputed(ours: Array, theirs: Array, most: int) -> list[int]:
    """Elements that differ, the most different first."""
    apart = np.flatnonzero(differs(ours, theirs))
    size = np.nan_to_num(np.abs(ours[apart] - theirs[apart]), nan=np.inf)
    return [int(i) for i in apart[np.argsort(-size, kind="stable")][:most]]


def contrast_all(source: str, others: Others, ladders: Sequence[Ladder]) -> Against:
    """Hold every judged gradient that the other implementation has too against it."""
    found: list[Contrast] = []
    for ladder in ladders:
        theirs = others.get((ladder.parameter, ladder.iteration))
        if theirs is not None and ladder.consumed is not None:
            found.append(_contrast(ladder, ladder.consumed, theirs))
    return Against(source, tuple(found), _unmatched(others, {(c.parameter, c.iteration) for c in found}))


def _unmatched(others: Others, matched: Collection[tuple[str, int]]) -> tuple[str, ...]:
    return tuple(f"{name}@{iteration}" for name, iteration in others if (name, iteration) not in matched)


def _contrast(ladder: Ladder, ours: Array, theirs: Array) -> Contrast:
    if theirs.size != ours.size or theirs.shape not in (ladder.shape, (ours.size,)):
        return Contrast(ladder.parameter, ladder.iteration, ours.size, 0, float("nan"), Nature.OTHER_SHAPE)
    flat = theirs.reshape(-1)
    apart = differs(ours, flat)
    disputes = tuple(_dispute(d, flat) for d in ladder.directions)
    disputes = tuple(d for d in disputes if apart.any() and _matters(d))
    with np.errstate(invalid="ignore"):
        scale = max(float(np.linalg.norm(ours)), float(np.linalg.norm(flat)))
        distance = float(np.linalg.norm(ours - flat)) / scale if scale > 0.0 else 0.0
    return Contrast(
        ladder.parameter, ladder.iteration, ours.size, int(apart.sum()), distance, _nature(apart, disputes), disputes
    )


def _dispute(direction: Direction, theirs: Array) -> Dispute:
    shaped = theirs.reshape(direction.vector.shape)
    predicted = along(shaped, direction.vector)
    # How the other implementation rounds is not known: a difference that would not count as one refutes nothing.
    slack = ABSOLUTE * along(np.abs(np.where(np.isfinite(shaped), shaped, 0.0)), np.abs(direction.vector))
    wider = replace(direction, error=direction.error + slack)
    return Dispute(
        label=direction.label,
        ours=float("nan") if direction.consumed is None else direction.consumed,
        theirs=predicted,
        reference=direction.reference,
        error=direction.error,
        left=direction.left,
        right=direction.right,
        admits_ours=admits(direction, direction.consumed),
        admits_theirs=admits(wider, predicted),
    )


def _matters(dispute: Dispute) -> bool:
    if not (np.isfinite(dispute.ours) and np.isfinite(dispute.theirs)):
        return True
    return abs(dispute.ours - dispute.theirs) > RELATIVE * max(abs(dispute.ours), abs(dispute.theirs))


def _nature(apart: npt.NDArray[np.bool_], disputes: Sequence[Dispute]) -> Nature:
    count = int(apart.sum())
    if count == 0:
        return Nature.AGREES
    single = {d.label: d for d in disputes if d.label.startswith("element ")}
    measured = [single.get(f"element {i}") for i in np.flatnonzero(apart)]
    known = [d for d in measured if d is not None]
    if known and all(d.left is not None and d.admits_ours and d.admits_theirs for d in known):
        few = count <= max(len(known), _FEW * apart.size)
        return Nature.KINKS if few else Nature.DENSE
    return Nature.SPARSE if count <= _FEW * apart.size else Nature.DENSE
