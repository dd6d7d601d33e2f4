"""The generator itself: reproducible, differentiable, marked."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from tests.properties import ir
from tests.properties.emitter import emit, expected_lines
from tests.properties.faults.catalogue import FAULTS, plants
from tests.properties.generator import generate, starts
from tests.properties.interpreter import Interpreter

_STEP = 1e-5
_FORMS = [
    *("wp.clone(", "wp.copy(", ".assign(", "@wp.struct", "@wp.func", "wp.vec2", "wp.vec3d", "+=", "wp.atomic_add"),
    *("[0:", "% 2]", "def main", "grads={", ".zero_()", ".grad.zero_()", "for i in range("),
]


@pytest.mark.parametrize("seed", range(40))
def test_exact_gradient_agrees_with_differences(seed: int) -> None:
    program = generate(seed)
    at = starts(program)
    gradient = Interpreter(program).gradient(at)
    for name, values in at.items():
        direction = np.random.default_rng(seed).normal(size=values.size)

        def objective(turns: float, name: str = name, direction: np.ndarray = direction) -> float:
            return Interpreter(program).advance(at | {name: at[name] + turns * _STEP * direction})

        slope = (8.0 * (objective(1) - objective(-1)) - (objective(2) - objective(-2))) / (12.0 * _STEP)
        assert slope == pytest.approx(float(gradient[name] @ direction), rel=1e-6, abs=1e-7)


def test_seed_decides_the_program() -> None:
    assert emit(generate(5)) == emit(generate(5))
    assert len({emit(generate(seed)) for seed in range(30)}) == 30


@pytest.mark.parametrize("cause", sorted(FAULTS))
def test_plants_are_marked_and_differ_from_right_programs(cause: str) -> None:
    for plant in islice(plants(cause, 3), 8):
        source = emit(plant.program)
        compile(source, plant.route, "exec")
        marks = expected_lines(source)
        assert marks
        assert all(cause in codes for codes in marks.values())


def test_generator_reaches_every_form() -> None:
    programs = [generate(seed) for seed in range(200)]
    sources = [emit(program) for program in programs]
    rules = {s.rule for p in programs for s in p.statements if isinstance(s, ir.Update)}
    assert rules == {"host", "momentum", "adam", "kernel", "SGD", "Adam"}
    assert {p.precision for p in programs} == {"float32", "float64"}
    assert {sum(isinstance(s, ir.Tape) for s in p.statements) for p in programs} == {1, 2}
    for form in _FORMS:
        assert any(form in source for source in sources), form
