"""An inversion's gradient, as the auditor judges it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from retrograde.aerosol._device import Float64, Float64Array, Float64Matrix, wp
from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.inversion.observation import ObservationOperator
from retrograde.aerosol.inversion.parametrisation import LogKnots
from retrograde.aerosol.inversion.problem import Problem
from retrograde.aerosol.processes import CoagulationFixedPivot, FirstOrderLoss, Process
from retrograde.aerosol.simulation import Simulation

PROGRAM = "retrograde.aerosol.inversion.certificate_program"
"""Module that the auditor runs, with the file that `write_certificate_input` wrote as its argument."""

_OFF = 0.1
"""Distance from the minimum at which the gradient is judged [1]: at the minimum itself there is none."""


@dataclass(frozen=True)
class Certificate:
    """What the auditor found.

    Attributes:
        verdict: "right", "wrong", "undecided" or "not-run".
        error: Largest relative error of the gradient that was used, against measured slopes [1]; None if unknown.
        reason: The auditor's sentence.
        seconds: Time of the audit [s].
    """

    verdict: str
    error: float | None
    reason: str
    seconds: float


def write_certificate_input(path: Path, problem: Problem, x: np.ndarray, strength: float) -> None:
    """Leave a problem, and the place where its gradient is to be judged, for the program.

    The place is `x` with every knot moved by a tenth, up and down in turns of three.
    """
    terms = problem.simulation.terms
    coagulation = terms.coagulation
    matrix = problem.operator.matrix
    turns = np.where(np.arange(x.size) // 3 % 2 == 0, 1.0, -1.0)
    with path.open("wb") as stream:
        np.savez(
            stream,
            volumes=problem.unknown.grid.volumes,
            edges=problem.unknown.grid.edges,
            knots=problem.unknown.diameters,
            times=problem.simulation.times,
            substeps=problem.simulation.substeps or 1,
            kernel=np.zeros((0, 0)) if coagulation is None else coagulation.kernel,
            removal=terms.removal,
            data=matrix.data,
            indices=matrix.indices,
            indptr=matrix.indptr,
            shape=matrix.shape,
            measured=problem.measured,
            covariance=problem.covariance,
            strength=strength,
            x=x + _OFF * turns,
        )


def read_certificate_input(path: Path) -> tuple[Problem, np.ndarray, float]:
    """The problem, the place and the strength of the prior that `write_certificate_input` left."""
    from scipy import sparse

    with np.load(path, allow_pickle=False) as archive:
        a = {name: archive[name] for name in archive.files}
    grid = SizeGrid(a["volumes"], a["edges"])
    processes: list[Process] = [FirstOrderLoss(a["removal"])]
    if a["kernel"].size:
        processes.append(CoagulationFixedPivot(a["kernel"]))
    matrix = sparse.csr_matrix((a["data"], a["indices"], a["indptr"]), shape=tuple(a["shape"]))
    problem = Problem(
        LogKnots(grid, a["knots"]),
        Simulation(grid, tuple(processes), a["times"], substeps=int(a["substeps"])),
        ObservationOperator(matrix, grid.bins),
        a["measured"],
        a["covariance"],
    )
    return problem, a["x"], float(a["strength"])


@wp.kernel
def descend(x: Float64Matrix, gradient: Float64Matrix, rate: Float64):
    """A step downhill."""
    b, k = wp.tid()
    x[b, k] = x[b, k] - rate * gradient[b, k]


@wp.kernel
def largest_of(values: Float64Matrix, largest: Float64Array):
    """Largest absolute value."""
    b, k = wp.tid()
    wp.atomic_max(largest, 0, wp.abs(values[b, k]))
