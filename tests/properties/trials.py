"""Trials of the auditor: a random program, right or with planted faults, is audited, and the answer kept."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal

import numpy as np
from tests.properties.emitter import emit
from tests.properties.faults.catalogue import FAULTS
from tests.properties.generator import generate
from tests.properties.inside.families import FAMILIES, plant_inside
from tests.properties.planted import plant_one, plant_two
from tests.properties.truth import compare
from tests.properties.workbench import Wishes
from tests.support.auditing import AuditFailedError, Auditor

TOLERANCE = {"float32": 2e-3, "float64": 1e-9}
"""Of a right program: error of what it consumed and reported, relative to the interpreter's."""
_EVERY = 8
"""Of the right programs, every so many-th has its horizon split by hand."""
PLANTABLE = tuple(sorted({*FAULTS, *(code for code, family in FAMILIES.items() if family.verdict == "wrong")}))
"""The causes that can be planted alone; two at once, of those in `FAULTS`."""
_MASKING = ("RG203", "RG303", "RG312")
"""Faults that leave nothing of the gradient: another one beside them changes nothing."""


@dataclass(frozen=True)
class Trial:
    """One program to be: the causes planted in it (none, one or two), and its seed."""

    causes: tuple[str, ...]
    seed: int

    @property
    def label(self) -> str:
        """As the command line takes it: `right:7`, `RG101:7`, `RG101+RG301:7`."""
        return f"{'+'.join(self.causes) or 'right'}:{self.seed}"

    @classmethod
    def parse(cls, label: str) -> Trial:
        """The trial of a label.

        Raises:
            ValueError: The label is none, or names a cause that cannot be planted.
        """
        causes, _, seed = label.partition(":")
        named = () if causes == "right" else tuple(causes.split("+"))
        if not seed.isdecimal() or len(named) > 2 or any(c not in PLANTABLE for c in named):
            raise ValueError(f"{label!r} is no trial: right:SEED, CAUSE:SEED or CAUSE+CAUSE:SEED.")
        return cls(named, int(seed))


@dataclass(frozen=True)
class Result:
    """What an audit said of a trial's program.

    Attributes:
        causes, seed: The trial.
        state: "audited"; "no program" where no place was found whose fault changes the gradient; "failed" where the
            audit left no document, or the program is not what the generator says.
        verdict, reason: The audit's; of a failure, what went wrong.
        expected: The planted codes by line; a line with several takes any of them.
        found: Codes and lines of the causes that were reported.
        alternatives: What they were said to be indistinguishable from.
        route: What was planted, in words.
        error: The planted fault's relative error of the gradient.
        source: The program.
        seconds: Time of the audit [s].
    """

    causes: tuple[str, ...]
    seed: int
    state: Literal["audited", "no program", "failed"]
    verdict: str = ""
    reason: str = ""
    expected: Mapping[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])
    found: tuple[tuple[str, int | None], ...] = ()
    alternatives: tuple[str, ...] = ()
    route: str = ""
    error: float = 0.0
    source: str = ""
    seconds: float = 0.0

    @property
    def trial(self) -> Trial:
        """The trial that this is the result of."""
        return Trial(self.causes, self.seed)

    def to_line(self) -> str:
        """One line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_line(cls, line: str) -> Result:
        """What `to_line` wrote."""
        raw = json.loads(line)
        expected = {int(number): tuple(codes) for number, codes in raw.pop("expected").items()}
        found = tuple((code, number) for code, number in raw.pop("found"))
        lists = {name: tuple(raw.pop(name)) for name in ("causes", "alternatives")}
        return cls(expected=expected, found=found, **lists, **raw)

    def accepted(self, cause: str) -> set[str]:
        """Codes that name a planted cause: its own, and those that its line is marked with as well."""
        return {cause} | {code for codes in self.expected.values() if cause in codes for code in codes}

    def names(self, cause: str) -> bool:
        """Whether a planted cause was reported."""
        return any(code in self.accepted(cause) for code, _ in self.found)

    def points_at(self, cause: str) -> bool:
        """Whether a planted cause was reported at its line."""
        return any(
            line is not None and cause in self.expected.get(line, ()) and code in self.expected[line]
            for code, line in self.found
        )

    @property
    def invented(self) -> tuple[str, ...]:
        """Reported causes that were not planted."""
        planted = {code for cause in self.causes for code in self.accepted(cause)}
        return tuple(code for code, _ in self.found if code not in planted)


def plan(right: int, each: int, pairs: int, kernels: int, first_seed: int) -> list[Trial]:
    """Trials in an order that makes every part of it alike.

    Args:
        right: Number of right programs.
        each: Number of programs with one fault, of each cause of contents, chain and bookkeeping.
        pairs: Number of programs with two faults.
        kernels: Number of programs with one fault, of each cause inside kernels.
        first_seed: The least seed.
    """
    trials = [Trial((), first_seed + k) for k in range(right)]
    for cause in PLANTABLE:
        count = kernels if cause.startswith("RG4") else each
        trials += [Trial((cause,), first_seed + k) for k in range(count)]
    couples = [
        (one, other)
        for one in FAULTS
        for other in FAULTS
        if one < "RG3" and "RG3" < other < "RG4" and one not in _MASKING and other not in _MASKING
    ]
    order = np.random.default_rng(first_seed)
    order.shuffle(couples)
    trials += [Trial(couples[k % len(couples)], first_seed + k) for k in range(pairs)]
    order.shuffle(trials)  # pyright: ignore[reportArgumentType]
    return trials


def perform(trial: Trial, auditor: Auditor, budget: float | None = None) -> Result:
    """Make a trial's program, hold its label against a run of it, and audit it.

    Args:
        trial: What to try.
        auditor: Runs and audits.
        budget: The audit's time for measuring [s]; None leaves it to the audit.
    """
    try:
        made = _make(trial, auditor)
    except AssertionError as error:
        return Result(trial.causes, trial.seed, "failed", reason=f"The program is not what it should be: {error}")
    if made is None:
        return Result(trial.causes, trial.seed, "no program")
    began = time.perf_counter()
    options = {} if budget is None else {"budget": budget}
    try:
        document = auditor.audit(made.source, timeout=600.0, **options)
    except AuditFailedError as error:
        return _with(made, trial, state="failed", reason=str(error)[-2000:])
    causes = document["causes"]
    return _with(
        made,
        trial,
        verdict=document["verdict"],
        reason=document["reason"],
        found=tuple((c["code"], c["line"]) for c in causes),
        alternatives=tuple(a for c in causes for a in c["alternatives"]),
        seconds=round(time.perf_counter() - began, 2),
    )


@dataclass(frozen=True)
class _Made:
    source: str
    route: str = ""
    expected: Mapping[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])
    error: float = 0.0


def _with(made: _Made, trial: Trial, **more: object) -> Result:
    known = {"state": "audited"} | asdict(made) | more
    return Result(trial.causes, trial.seed, **known)  # pyright: ignore[reportArgumentType]


def _make(trial: Trial, auditor: Auditor) -> _Made | None:
    if not trial.causes:
        return _Made(right_program(trial.seed, auditor))
    try:
        if len(trial.causes) == 1 and _is_inside(trial):
            inside = plant_inside(trial.causes[0], trial.seed, auditor)
            return _Made(inside.program.source, inside.program.route, inside.lines, inside.error)
        plant = plant_one if len(trial.causes) == 1 else plant_two
        planted = plant(*trial.causes, trial.seed, auditor)  # pyright: ignore[reportCallIssue]
    except RuntimeError:
        return None
    return _Made(planted.source, planted.plant.route, planted.lines, planted.error)


def _is_inside(trial: Trial) -> bool:
    """Whether a fault is planted in a small program around one kernel: every other one, where both can be."""
    (cause,) = trial.causes
    return cause in FAMILIES and (cause not in FAULTS or trial.seed % 2 == 1)


def right_program(seed: int, auditor: Auditor) -> str:
    """The source of a seed's right program, after a run of it.

    Raises:
        AssertionError: It does not run, or consumes or reports something else than the interpreter says.
    """
    program = generate(seed, Wishes(segments=seed % _EVERY == 0))
    source = emit(program)
    outcome = auditor.run(source)
    assert outcome.ok, outcome.stderr[-2000:]
    for compared in compare(program, outcome.stdout):
        assert compared.error < TOLERANCE[program.precision], compared
        assert compared.objective_error < TOLERANCE[program.precision], compared
    return source


def read_results(lines: Iterator[str]) -> Iterator[Result]:
    """Results from lines of JSON; a last line that was cut short is left out."""
    for line in lines:
        if line.endswith("\n"):
            yield Result.from_line(line)
