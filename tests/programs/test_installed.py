"""Whole programs from installed packages: nothing may be invented about them."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.programs

NAVIER_STOKES = "warp.examples.optim.example_navier_stokes_perturbation"
FEW_STEPS = ["--headless", "--device", "cpu", "--train-iters", "2", "--lead-steps", "2", "--spin-up-steps", "2"]
HEADLESS = ("--headless", "--device", "cpu")


def _audit(folder: Path, module: str, *arguments: str, options: tuple[str, ...] = ()) -> tuple[dict[str, Any], int]:
    output = folder / "audit.json"
    command = [sys.executable, "-m", "retrograde", "audit", "--format", "json", "--output", str(output), *options]
    done = subprocess.run(
        [*command, "-m", module, "--", *arguments], cwd=folder, capture_output=True, text=True, timeout=900
    )
    return json.loads(output.read_text(encoding="utf-8")), done.returncode


@pytest.mark.slow
def test_navier_stokes_perturbation_is_right(tmp_path: Path) -> None:
    document, status = _audit(tmp_path, NAVIER_STOKES, *FEW_STEPS)
    assert document["verdict"] == "right", document["reason"]
    assert status == 0
    assert document["causes"] == []
    assert {remark["code"] for remark in document["remarks"]} <= {"RG508"}


@dataclass(frozen=True)
class Program:
    """A program of an installed package.

    Attributes:
        module: Its name.
        arguments: Its arguments.
        verdicts: What may be said of it; what is true of it was found by differences of the program itself.
        needs: Packages that it needs.
        causes: Codes of its faults: all of them must be named, and no others.
    """

    module: str
    arguments: tuple[str, ...]
    verdicts: frozenset[str]
    needs: tuple[str, ...] = ()
    causes: frozenset[str] = frozenset()


PROGRAMS = (
    Program(
        "warp.examples.optim.example_particle_repulsion",
        (*HEADLESS, "--num-frames", "20"),
        frozenset({"nothing-to-check"}),
    ),
    Program(
        "warp.examples.optim.example_fluid_checkpoint",
        (*HEADLESS, "--num-frames", "8", "--train-iters", "2", "--pressure-iterations", "4"),
        frozenset({"right"}),
        ("PIL",),
    ),
    # Its velocities are zero at first, at a kink of the interpolation between cells. Complex steps in double precision
    # within the cells that it picks give its gradient to nine digits (0.25156428 along the gradient itself).
    Program(
        "warp.examples.optim.example_fluid_checkpoint_custom_backward",
        (*HEADLESS, "--num-frames", "8", "--train-iters", "2", "--pressure-iterations", "4"),
        frozenset({"right", "undecided"}),
        ("PIL",),
    ),
    # The same: each element of its gradient is one of the slopes on its two sides, to 0.6 % of the largest.
    Program(
        "warp.examples.fem.example_darcy_ls_optimization",
        (*HEADLESS, "--resolution", "10", "--num-iters", "2"),
        frozenset({"right", "undecided"}),
    ),
    # Its gradient agrees with differences to four digits; in the first iteration the objective bends too much for
    # the few steps that a slow program is given.
    Program(
        "warp.examples.fem.example_elastic_shape_optimization",
        (*HEADLESS, "--resolution", "5", "--num-iters", "2"),
        frozenset({"right", "undecided"}),
    ),
    # Its lights are summed up in a loop with a run-time bound, and the sum is multiplied afterwards. A twin in double
    # precision with every ray's face held gives (214.48, 321.79, -96.46, 549.61) where the program uses
    # (198.15, 303.84, 40.94, 788.97); unrolled by hand, the kernel gives (214.48, 321.79, -96.45, 549.59).
    Program(
        "warp.examples.optim.example_diffray",
        (*HEADLESS, "--train-iters", "3", "--height", "64"),
        frozenset({"wrong"}),
        ("pxr",),
        frozenset({"RG403"}),
    ),
    # Its objective jumps with the step at which the ball touches; differences at a thousandth of the velocity give the
    # gradient to three digits.
    Program(
        "newton.examples.diffsim.example_diffsim_ball",
        ("--viewer", "null", "--device", "cpu", "--num-frames", "2"),
        frozenset({"right", "undecided"}),
        ("newton", "pxr"),
    ),
    Program(
        "newton.examples.diffsim.example_diffsim_drone",
        ("--viewer", "null", "--device", "cpu", "--num-frames", "2"),
        frozenset({"right"}),
        ("newton", "pxr"),
    ),
    Program(
        "newton.examples.diffsim.example_diffsim_spring_cage",
        ("--viewer", "null", "--device", "cpu", "--num-frames", "2"),
        frozenset({"right"}),
        ("newton", "pxr"),
    ),
)


@pytest.mark.installed
@pytest.mark.skipif(
    "RETROGRADE_INSTALLED" not in os.environ, reason="Takes minutes; set RETROGRADE_INSTALLED to run it."
)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.module.rpartition(".")[2])
def test_verdict_is_true(program: Program, tmp_path: Path) -> None:
    for package in program.needs:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed.")
    options = ("--budget", "400", "--iterations", "1")
    document, _ = _audit(tmp_path, program.module, *program.arguments, options=options)
    assert document["verdict"] in program.verdicts, document["reason"]
    assert {cause["code"] for cause in document["causes"]} == program.causes
