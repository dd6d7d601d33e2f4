"""Results of audits to report on, of every kind that a report must tell."""

from __future__ import annotations

import math

import numpy as np

from retrograde.causes.finding import Finding
from retrograde.gradients.rungs import Direction, How, Ladder
from retrograde.result import Audit, Verdict

OVERWRITTEN = Finding(
    code="RG101",
    name="overwritten-input",
    message="`temperature` was overwritten by the launch of `diffuse` after `diffuse` had read it.",
    file="train.py",
    line=41,
    array="temperature",
    route="same array",
    explains=0.9984,
    alternatives=("RG103 train.py:50",),
    evidence={"error before": 0.72, "error after": 1.2e-4, "steps": [1.0, math.inf], "restored": True},
    fix="Give every step its own array.",
    doc="Array overwrites in Warp's guide to differentiability",
)

SCALED = Finding(
    code="RG305",
    name="wrong-seed",
    message="Backward was seeded with 1 where the reported loss is a mean of 16.",
    explains=1.0,
    scale=16.0,
    fix="Seed with 1/16.",
)

BENIGN = Finding(
    code="RG508",
    name="benign-overwrite",
    message="`scratch` is overwritten, which changes no gradient.",
    file="train.py",
    line=12,
)

SMALL = Ladder(
    parameter="conductivity",
    shape=(3,),
    dtype="float32",
    iteration=0,
    consumed=np.array([1.25, -3.5, 0.0]),
    taped=np.array([1.25, -3.5, 0.0]),
    ideal=np.array([2.0, -3.0, 1e-7]),
    reference=np.array([2.0001, -2.9999, math.nan]),
    reference_error=np.array([0.0002, 0.0003, math.nan]),
    how=How.REPLAY,
)

LARGE = Ladder(
    parameter="weights",
    shape=(10, 10),
    dtype="float32",
    iteration=1,
    consumed=np.linspace(0.0, 1.0, 100),
    taped=np.linspace(0.0, 1.0, 100),
    ideal=np.linspace(0.0, 1.0, 100),
    directions=(
        Direction("random 0", consumed=1.5, taped=1.5, ideal=1.5, reference=1.5003, error=0.001),
        Direction("random 1", consumed=-0.25, taped=-0.25, ideal=-0.25, reference=-0.24, error=0.02),
    ),
)

BROKEN = Ladder(
    parameter="scale",
    shape=(),
    dtype="float64",
    iteration=0,
    consumed=np.array([math.nan]),
    taped=np.array([-math.inf]),
    ideal=None,
    reference=np.array([4.0]),
    reference_error=np.array([1e-6]),
    how=How.FLOAT64,
)

WRONG = Audit(
    Verdict.WRONG,
    "The gradient that the optimizer used is 22 % off what the objective does.",
    script="train.py",
    args=("--steps", "10"),
    warp="1.19.0",
    device="cpu",
    unexplained=0.0016,
    causes=(OVERWRITTEN,),
    remarks=(BENIGN,),
    ladder=(SMALL, LARGE),
    checked=("conductivity in iterations 0 and 1", "weights along 2 directions"),
    not_checked=("weights[3, 4]: the budget was spent.",),
    seconds=3.21,
    overhead=1.42,
)

UNEXPLAINED = Audit(
    Verdict.WRONG,
    "The gradient is not finite where a finite derivative exists.",
    script="-m pkg.train",
    unexplained=1.0,
    causes=(SCALED,),
    ladder=(BROKEN,),
    seconds=1.0,
)

RIGHT = Audit(
    Verdict.RIGHT,
    "The gradient agrees with the reference in 2 directions.",
    script="train.py",
    warp="1.19.0",
    device="cpu",
    ladder=(LARGE,),
    remarks=(BENIGN,),
    seconds=2.0,
    overhead=0.9,
)

UNDECIDED = Audit(Verdict.UNDECIDED, "The objective cannot be run twice.", script="train.py", not_checked=("All.",))
NOT_RUN = Audit(Verdict.NOT_RUN, "ZeroDivisionError: division by zero", script="train.py")
NOTHING = Audit(Verdict.NOTHING_TO_CHECK, "The program made no tape.", script="train.py")

ALL = {
    "wrong": WRONG,
    "unexplained": UNEXPLAINED,
    "right": RIGHT,
    "undecided": UNDECIDED,
    "not run": NOT_RUN,
    "nothing": NOTHING,
}
