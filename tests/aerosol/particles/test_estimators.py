"""Estimators against exact gradients of the finite process: z-scores over many seeds, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from tests.aerosol.particles import problems

from retrograde.aerosol import Environment
from retrograde.aerosol.particles import ParticleSimulation
from retrograde.aerosol.particles.estimators import (
    Baseline,
    Choice,
    Combined,
    Gumbel,
    Parameter,
    Pathwise,
    ScoreFunction,
    StochasticProblem,
    StraightThrough,
)
from retrograde.aerosol.particles.estimators.relaxed import RelaxedProgram
from retrograde.aerosol.particles.losses import ParticleMoment, SquaredDeviation
from retrograde.aerosol.particles.start import PoissonStart
from retrograde.aerosol.physics import AdditiveKernel, BrownianKernel, ConstantKernel, ConstantLoss

SEEDS = 200
INTENSITY, LOG_MASS, SPREAD = Parameter.INTENSITY, Parameter.LOG_MASS, Parameter.SPREAD
LEAVE_ONE_OUT, REGRESSION = Baseline.LEAVE_ONE_OUT, Baseline.REGRESSION

CASES = [
    (problems.constant, ScoreFunction(LEAVE_ONE_OUT), INTENSITY, 100),
    (problems.constant, ScoreFunction(REGRESSION), INTENSITY, 100),
    (problems.square, ScoreFunction(REGRESSION), INTENSITY, 200),
    (problems.square, Pathwise(), LOG_MASS, 200),
    (problems.square, Combined(LEAVE_ONE_OUT), LOG_MASS, 200),
    (problems.spread_square, ScoreFunction(REGRESSION), LOG_MASS, 400),
    (problems.spread_square, ScoreFunction(REGRESSION), SPREAD, 400),
    (problems.spread_square, Pathwise(), SPREAD, 400),
    (problems.spread_square, Pathwise(), LOG_MASS, 400),
    (problems.additive, ScoreFunction(Baseline.NONE), INTENSITY, 100),
    (problems.additive, ScoreFunction(REGRESSION), INTENSITY, 100),
    (problems.additive, Combined(Baseline.NONE), LOG_MASS, 100),
    (problems.additive, Combined(LEAVE_ONE_OUT), LOG_MASS, 100),
    (problems.additive, Combined(REGRESSION), LOG_MASS, 100),
    (problems.product, ScoreFunction(LEAVE_ONE_OUT), INTENSITY, 200),
    (problems.product, ScoreFunction(REGRESSION), INTENSITY, 200),
    (problems.product, Combined(REGRESSION), LOG_MASS, 300),
]


@pytest.mark.parametrize(
    ("known", "estimator", "parameter", "boxes"),
    CASES,
    ids=[f"{k.__name__}-{e.name}-{p.value}".replace(" ", "_") for k, e, p, _ in CASES],
)
def test_unbiased_estimators_hit_the_exact_gradient(known, estimator, parameter, boxes):
    """The mean over 200 seeds within 3.5 standard errors, and every seed's own standard error honest."""
    case = known()
    estimates = [estimator.estimate(case.problem, parameter, boxes=boxes, seed=s) for s in range(SEEDS)]
    assert not any(e.biased for e in estimates)
    means = np.array([e.mean for e in estimates])
    errors = np.array([e.standard_error for e in estimates])
    exact = case.gradients[parameter]
    pooled = (means.mean(axis=0) - exact) / (means.std(axis=0, ddof=1) / np.sqrt(SEEDS))
    assert np.abs(pooled).max() < 3.5, pooled
    scores = (means - exact) / errors
    assert (np.abs(scores.std(axis=0) - 1.0) < 0.3).all(), scores.std(axis=0)
    value = np.array([e.value for e in estimates])
    assert abs(value.mean() - case.value) < 3.5 * value.std(ddof=1) / np.sqrt(SEEDS)


def test_baselines_make_scores_less_noisy():
    case = problems.square()
    errors = [
        ScoreFunction(b).estimate(case.problem, INTENSITY, boxes=4000, seed=1).standard_error.max() for b in Baseline
    ]
    assert errors[1] < 0.8 * errors[0]
    assert errors[2] < 0.8 * errors[1]


def test_pathwise_says_that_it_is_biased_where_rates_depend_on_size():
    """Under the additive kernel the number depends on the masses through the events alone."""
    estimate = Pathwise().estimate(problems.additive().problem, LOG_MASS, boxes=50, seed=1)
    assert estimate.biased
    assert (estimate.mean == 0.0).all()


def test_losses_act_on_every_estimator_alike():
    """Coagulation with size-blind loss: Combined and ScoreFunction agree on a nonlinear loss."""
    simulation = ParticleSimulation(
        [0.0, 0.4], kernel=AdditiveKernel(1e-12 / 1e-21), loss=ConstantLoss(0.5), dilution=0.4, margin=1.3
    )
    loss = SquaredDeviation(ParticleMoment(1.5, problems.V0), target=14.0, scale=10.0)
    problem = StochasticProblem(problems.start(0.3), simulation, loss)
    a = Combined().estimate(problem, LOG_MASS, boxes=20_000, seed=1)
    b = ScoreFunction(REGRESSION).estimate(problem, LOG_MASS, boxes=20_000, seed=2)
    scores = (a.mean - b.mean) / np.hypot(a.standard_error, b.standard_error)
    assert np.abs(scores).max() < 3.5
    assert (a.standard_error < b.standard_error).all()


@pytest.mark.parametrize("choice", list(Choice))
@pytest.mark.parametrize("kernel", [AdditiveKernel(1e-12 / 1e-21), BrownianKernel()], ids=["additive", "brownian"])
def test_reverse_sweep_of_a_relaxed_program_is_its_slope(choice, kernel):
    """Every box along random directions in presence and in size."""
    time = 1.0 if isinstance(kernel, AdditiveKernel) else 1200.0
    simulation = ParticleSimulation([0.0, time], kernel=kernel, environment=Environment.uniform(1), margin=1.3)
    problem = StochasticProblem(problems.start(0.2), simulation, ParticleMoment(1.5, problems.V0))
    sample = problem.start.sample(5, seed=1)
    program = RelaxedProgram(problem, sample, 4, 0, 0.7, choice, hard=False)
    at = program.initial_presence, program.initial_sizes
    gradients = program.backward(*problem.loss.gradient(*program.forward(*at)))
    rng = np.random.default_rng(0)
    for k in range(2):
        direction = [np.zeros_like(at[0]), np.zeros_like(at[0])]
        direction[k] = 3e-5 * at[k] * rng.normal(size=at[k].shape)
        values = {
            h: problem.loss.value(*program.forward(*(x + h * d for x, d in zip(at, direction, strict=True))))
            for h in (-2, -1, 1, 2)
        }
        slope = (8.0 * (values[1] - values[-1]) - (values[2] - values[-2])) / 12.0
        found = (gradients[k] * direction[k]).sum(axis=1)
        np.testing.assert_allclose(found, slope, rtol=2e-7, atol=1e-9 * np.abs(slope).max())


def test_straight_through_runs_the_process_itself():
    """Its loss is the exact one, with either choice relaxed."""
    case = problems.additive()
    for choice in Choice:
        estimate = StraightThrough(0.5, choice).estimate(case.problem, LOG_MASS, boxes=2000, seed=2)
        assert abs(estimate.value - case.value) < 3.5 * estimate.value_standard_error
        assert estimate.biased
        assert estimate.temperature == 0.5


def test_the_bias_of_soft_choices_shrinks_with_the_temperature():
    case = problems.additive()
    exact = case.gradients[LOG_MASS]
    bias = {}
    for temperature in (1.0, 0.25):
        estimate = Gumbel(temperature).estimate(case.problem, LOG_MASS, boxes=4000, seed=5)
        bias[temperature] = np.abs(estimate.mean - exact)
        assert estimate.biased
    assert (bias[1.0] > 5.0 * Gumbel(1.0).estimate(case.problem, LOG_MASS, boxes=4000, seed=5).standard_error).all()
    assert (bias[0.25] < 0.5 * bias[1.0]).all()


def test_a_box_adds_the_same_whatever_the_batch():
    case = problems.additive()
    together = case.problem.start.sample(6, seed=3)
    apart = case.problem.start.sample(2, seed=3, first_box=4)
    assert np.array_equal(together.counts[4:], apart.counts)
    slots = min(together.state.slots, apart.state.slots)
    assert np.array_equal(together.state.numpy()[4:, :slots], apart.state.numpy()[:, :slots])


def test_counts_are_poisson():
    start = PoissonStart([0.3, 700.0], [1e-18, 2e-18], 1e-9)
    counts = start.sample(4000, seed=1).counts
    for k, rate in enumerate([0.3, 700.0]):
        assert abs(counts[:, k].mean() - rate) < 3.5 * np.sqrt(rate / 4000)
        assert counts[:, k].var(ddof=1) == pytest.approx(rate, rel=0.1)


REFUSED = [
    (problems.additive, Pathwise(), INTENSITY, "use ScoreFunction or Combined"),
    (problems.additive, ScoreFunction(), LOG_MASS, "use Combined, or a spread above zero"),
    (problems.additive, Combined(), SPREAD, "give it a spread above zero"),
    (problems.additive, Gumbel(), SPREAD, "give it a spread above zero"),
]


@pytest.mark.parametrize(("known", "estimator", "parameter", "message"), REFUSED)
def test_what_an_estimator_cannot_do_is_refused_with_what_can(known, estimator, parameter, message):
    with pytest.raises(ValueError, match=message):
        estimator.estimate(known().problem, parameter, boxes=10, seed=1)


def test_bad_problems_are_refused():
    case = problems.additive()
    with pytest.raises(ValueError, match="boxes: expected at least 2"):
        Combined().estimate(case.problem, LOG_MASS, boxes=1, seed=1)
    low = ParticleSimulation([0.0, 1.0], kernel=AdditiveKernel(1.0))
    problem = StochasticProblem(case.problem.start, low, ParticleMoment())
    for estimator in (Combined(), Gumbel()):
        with pytest.raises(ValueError, match=r"margin of 1\.2 or more"):
            estimator.estimate(problem, LOG_MASS, boxes=9, seed=1)
    lossy = ParticleSimulation([0.0, 1.0], kernel=ConstantKernel(1.0), dilution=1.0, margin=1.3)
    problem = StochasticProblem(case.problem.start, lossy, ParticleMoment())
    with pytest.raises(ValueError, match="relaxations are of coagulation alone"):
        Gumbel().estimate(problem, LOG_MASS, boxes=9, seed=1)
    with pytest.raises(ValueError, match="temperature"):
        Gumbel(0.0)
    with pytest.raises(ValueError, match="leave empty bins out"):
        PoissonStart([0.0], [1e-18], 1e-9)
    with pytest.raises(ValueError, match="no bin without mass"):
        PoissonStart([1.0], [0.0], 1e-9)
    with pytest.raises(ValueError, match=r"expected shapes \[bins\] and \[bins, species\]"):
        PoissonStart([1.0, 2.0], [1e-18], 1e-9)
