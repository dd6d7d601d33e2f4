"""What all estimators share: the problem, the result, and how samples become a result."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.particles.events import Record
from retrograde.aerosol.particles.losses import ParticleLoss
from retrograde.aerosol.particles.simulation import ParticleSimulation, ParticleTrajectory
from retrograde.aerosol.particles.start import PoissonSample, PoissonStart
from retrograde.aerosol.physics import ConstantKernel, ConstantLoss

Floats = NDArray[np.float64]


SMALLEST_MARGIN = 1.2
"""Bounds must be this much larger than the rates [1]: the score of a rejection is -K' / (bound - K)."""


class Parameter(Enum):
    """What a mean loss is differentiated with respect to; gradients have shape [bins], or [1] for the spread."""

    INTENSITY = "intensity"
    """Expected number of particles of every bin [1]."""
    LOG_MASS = "log mass"
    """Logarithm of the masses of every bin [1]."""
    SPREAD = "spread"
    """Standard deviation of the logarithm of mass about the bins' own [1]."""


@dataclass(frozen=True, eq=False)
class StochasticProblem:
    """The mean of a loss over random initial states and random events.

    Attributes:
        start: Distribution of the initial states.
        simulation: What happens to them.
        loss: Function of what is left.

    Raises:
        ValueError: The simulation has condensation, whose derivative a tape around `replay_with_gas` gives.
    """

    start: PoissonStart
    simulation: ParticleSimulation
    loss: ParticleLoss

    def __post_init__(self) -> None:
        if self.simulation.condensation is not None:
            raise ValueError(
                "simulation: estimators take no condensation; for its pathwise derivative put replay_with_gas on a tape"
            )

    def events_see_size(self) -> bool:
        """Whether the rate of any event depends on the size of a particle."""
        blind_kernel = self.simulation.kernel is None or isinstance(self.simulation.kernel, ConstantKernel)
        blind_loss = self.simulation.loss is None or isinstance(self.simulation.loss, ConstantLoss)
        return not (blind_kernel and blind_loss)


@dataclass(frozen=True, eq=False)
class GradientEstimate:
    """An estimate of the derivative of a mean loss.

    Attributes:
        estimator: Name of the estimator.
        parameter: What the loss is differentiated with respect to.
        mean: The estimate, shape [bins] or [1].
        standard_error: Its standard error, of the same shape; of its own mean, where that is biased.
        samples: Boxes that it was made of.
        seconds: Time that it took [s].
        biased: Whether its mean may differ from the derivative.
        temperature: Temperature of a relaxation, None for other estimators [1].
        value: Estimate of the mean loss itself.
        value_standard_error: Its standard error.
    """

    estimator: str
    parameter: Parameter
    mean: Floats
    standard_error: Floats
    samples: int
    seconds: float
    biased: bool
    temperature: float | None
    value: float
    value_standard_error: float


class Estimator(ABC):
    """A way to differentiate the mean of a loss over a stochastic process."""

    def estimate(
        self, problem: StochasticProblem, parameter: Parameter, *, boxes: int, seed: int, first_box: int = 0
    ) -> GradientEstimate:
        """Estimate the derivative of the mean loss from so many boxes.

        Args:
            problem: What to differentiate.
            parameter: With respect to what.
            boxes: Number of boxes, two at least.
            seed: Seed of all that is random.
            first_box: Number of the first box.

        Raises:
            ValueError: This estimator cannot do so; the message says which can.
        """
        if boxes < 2:
            raise ValueError(f"boxes: expected at least 2, for a standard error, got {boxes}")
        self._check(problem, parameter)
        started = time.perf_counter()
        values, contributions = self._contributions(problem, parameter, boxes, seed, first_box)
        seconds = time.perf_counter() - started
        return GradientEstimate(
            estimator=self.name,
            parameter=parameter,
            mean=contributions.mean(axis=0),
            standard_error=contributions.std(axis=0, ddof=1) / np.sqrt(boxes),
            samples=boxes,
            seconds=seconds,
            biased=self._is_biased(problem, parameter),
            temperature=getattr(self, "temperature", None),
            value=float(values.mean()),
            value_standard_error=float(values.std(ddof=1) / np.sqrt(boxes)),
        )

    @property
    @abstractmethod
    def name(self) -> str:
        """Name in results."""

    @abstractmethod
    def _check(self, problem: StochasticProblem, parameter: Parameter) -> None:
        """Raise a ValueError where the estimator does not apply."""

    @abstractmethod
    def _is_biased(self, problem: StochasticProblem, parameter: Parameter) -> bool: ...

    @abstractmethod
    def _contributions(
        self, problem: StochasticProblem, parameter: Parameter, boxes: int, seed: int, first_box: int
    ) -> tuple[Floats, Floats]:
        """Losses [boxes], and what every box adds to the mean gradient [boxes, parameters]."""


def check_spread(problem: StochasticProblem, parameter: Parameter) -> None:
    """Refuse to differentiate to a spread of zero."""
    if parameter is Parameter.SPREAD and problem.start.spread == 0.0:
        raise ValueError("start: a spread of zero has no noise to differentiate through; give it a spread above zero")


def check_margin(problem: StochasticProblem) -> None:
    """Refuse bounds that leave the derivatives of acceptances without bound."""
    margin = problem.simulation.margin
    if margin < SMALLEST_MARGIN:
        raise ValueError(
            f"simulation: at margin {margin:g} a rate may come as near to its bound as it likes, and the derivative "
            f"of a rejection is without limit; give ParticleSimulation a margin of {SMALLEST_MARGIN} or more"
        )


@dataclass(frozen=True, eq=False)
class Realisation:
    """Boxes that have run.

    Attributes:
        sample: Where they began.
        trajectory: How they went on.
        presence: Which slots hold a particle at the end, shape [boxes, slots].
        volumes: Their volumes [m^3], shape [boxes, slots].
        losses: Loss of every box, shape [boxes].
    """

    sample: PoissonSample
    trajectory: ParticleTrajectory
    presence: Floats
    volumes: Floats
    losses: Floats


def realise(problem: StochasticProblem, boxes: int, seed: int, first_box: int, record: Record) -> Realisation:
    """Draw initial states and let them run."""
    sample = problem.start.sample(boxes, seed=seed, first_box=first_box)
    trajectory = problem.simulation.run(sample.state, seed=seed, record=record, first_box=first_box)
    volumes = trajectory.final.particle_volumes()
    presence = (volumes > 0.0).astype(np.float64)
    return Realisation(sample, trajectory, presence, volumes, problem.loss.value(presence, volumes))


def by_bin(values: Floats, sample: PoissonSample) -> Floats:
    """Sums over the particles of every bin, shape [boxes, bins], of values of shape [boxes, slots]."""
    boxes, bins = sample.counts.shape
    place: NDArray[np.int64] = sample.bins + bins * np.arange(boxes, dtype=np.int64)[:, np.newaxis]
    held = sample.bins >= 0
    sums = np.bincount(place[held], values[held], minlength=boxes * bins)
    return sums.astype(np.float64).reshape(boxes, bins)


def through_masses(parameter: Parameter, cotangent: Floats, sample: PoissonSample) -> Floats:
    """Derivative of every box's loss to the parameter, from that to the initial masses, shape [boxes, parameters].

    A particle's masses are those of its bin times exp(spread e).
    """
    by_log_mass = (cotangent * sample.state.numpy()).sum(axis=2)
    if parameter is Parameter.SPREAD:
        return (by_log_mass * sample.noise).sum(axis=1, keepdims=True)
    return by_bin(by_log_mass, sample)
