"""The programs of the demo: what they claim of themselves, and what an audit says of them."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import warp as wp

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMAND = [sys.executable, "-P", "-m", "retrograde"]
# All slopes are measured, however busy the machine.
PATIENTLY = ("--budget", "60")


def load(name: str):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def loss_and_gradient(program, coefficients: np.ndarray) -> tuple[float, np.ndarray]:
    observed = wp.clone(program.simulate(wp.array(program.TRUE_COEFFICIENTS)), requires_grad=False)
    parameter = wp.array(coefficients.astype(np.float32), requires_grad=True)
    loss = wp.zeros(1, requires_grad=True)
    with wp.Tape() as tape:
        profile = program.simulate(parameter)
        wp.launch(program.mean_square, program.POINTS, inputs=[profile, observed, loss])
    tape.backward(loss)
    return float(loss.numpy()[0]), parameter.grad.numpy().copy()


def simulate_in_float64(program, coefficients: np.ndarray) -> np.ndarray:
    """The same scheme in NumPy: flux between neighbours, nothing through the ends."""
    state = program.initial_profile().astype(np.float64)
    factor = program.TIME_STEP / program.SPACING**2
    for _ in range(program.STEPS):
        middle = 0.5 * (state[1:] + state[:-1])
        flux = coefficients[0] * (1.0 + coefficients[1] * middle) * np.diff(state)
        state = state + factor * (np.append(flux, 0.0) - np.insert(flux, 0, 0.0))
    return state


def true_gradient(program) -> np.ndarray:
    observed = simulate_in_float64(program, program.TRUE_COEFFICIENTS.astype(np.float64))
    guess = program.FIRST_GUESS.astype(np.float64)

    def loss(coefficients: np.ndarray) -> float:
        return float(np.mean((simulate_in_float64(program, coefficients) - observed) ** 2))

    step = 1e-5
    return np.array([(loss(guess + step * e) - loss(guess - step * e)) / (2 * step) for e in np.eye(2)])


def test_the_cured_program_has_the_true_gradient_and_the_other_is_a_quarter_off():
    states, pingpong = load("conductivity_states"), load("conductivity_pingpong")
    truth = true_gradient(states)
    cured_loss, cured = loss_and_gradient(states, states.FIRST_GUESS)
    faulty_loss, faulty = loss_and_gradient(pingpong, pingpong.FIRST_GUESS)
    assert faulty_loss == cured_loss
    np.testing.assert_allclose(cured, truth, rtol=1e-4)
    np.testing.assert_allclose(faulty / truth, [0.743, 0.714], atol=0.002)


@pytest.mark.parametrize("name", ["conductivity_pingpong", "conductivity_states"])
def test_it_runs_and_its_loss_falls(name):
    done = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py"], capture_output=True, text=True, check=True, timeout=120
    )
    losses = [float(line.split()[3]) for line in done.stdout.splitlines() if line.startswith("iteration")]
    assert len(losses) == 4
    assert losses[-1] < 0.01 * losses[0]
    assert "fitted" in done.stdout


@pytest.mark.programs
@pytest.mark.parametrize(
    ("name", "status", "verdict", "codes"),
    [("conductivity_pingpong", 1, "wrong", ["RG101"]), ("conductivity_states", 0, "right", [])],
)
def test_its_audit(name, status, verdict, codes, tmp_path):
    report = tmp_path / "report.json"
    script = EXAMPLES / f"{name}.py"
    done = subprocess.run(
        [*COMMAND, "audit", *PATIENTLY, "--format", "json", "--output", report, script],
        capture_output=True,
        text=True,
        timeout=120,
    )
    document = json.loads(report.read_text())
    assert (done.returncode, document["verdict"]) == (status, verdict), document["reason"]
    assert [cause["code"] for cause in document["causes"]] == codes
    for cause in document["causes"]:
        line = script.read_text().splitlines()[cause["line"] - 1]
        assert Path(cause["file"]).name == script.name
        assert "wp.launch(conduct" in line
        assert cause["explains"] > 0.99
    first = next(ladder for ladder in document["ladder"] if ladder["iteration"] == 0)
    truth = true_gradient(load(name))
    np.testing.assert_allclose(first["ideal"]["values"], truth, rtol=1e-3)
    np.testing.assert_allclose(first["reference"]["values"], truth, rtol=1e-3)


def words(text: str) -> str:
    """The text without its numbers and line breaks."""
    return " ".join(re.sub(r"-?\d[\d.]*(e[-+]?\d+)?", "N", text).split())


@pytest.mark.programs
@pytest.mark.parametrize("name", ["conductivity_pingpong", "conductivity_states"])
@pytest.mark.parametrize("page", ["README.md", "docs/tutorial"])
def test_the_report_in_the_documentation_is_the_report_it_gets(name, page, tmp_path):
    """Up to the table, and but for numbers: they depend on the machine."""
    report = tmp_path / "report.txt"
    subprocess.run(
        [*COMMAND, "audit", *PATIENTLY, "--output", report, f"{name}.py"],
        capture_output=True,
        cwd=EXAMPLES,
        timeout=120,
    )
    shown = report.read_text().partition("gradient of the objective by")[0]
    place = EXAMPLES.parent / page
    pages = place.glob("output*.md") if place.is_dir() else [place]
    assert any(words(shown) in words(text.read_text()) for text in pages), "docs/refresh_reports.py writes it anew"
