"""Relaxations: choices between events become shares, which have derivatives, and a bias."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol._checks import check_positive
from retrograde.aerosol._device import new_zeros, to_device, to_host, wp
from retrograde.aerosol.particles._classes import size_classes
from retrograde.aerosol.particles._philox import box_numbers
from retrograde.aerosol.particles._rates import RateLaws, rates_of
from retrograde.aerosol.particles._relaxed import ProposalTape, Relaxed, pair_rates, run_relaxed, sweep_relaxed
from retrograde.aerosol.particles.estimators.base import (
    Estimator,
    Parameter,
    StochasticProblem,
    by_bin,
    check_margin,
    check_spread,
    through_masses,
)
from retrograde.aerosol.particles.start import PoissonSample
from retrograde.aerosol.physics import AdditiveKernel, ConstantKernel, ProductKernel

Floats = NDArray[np.float64]


class Choice(Enum):
    """Which choice is relaxed."""

    ACCEPTANCE = "acceptance"
    """Whether a proposed pair merges."""
    PAIR = "pair"
    """Which of all other particles a proposed one merges with, if any: every one takes part in every proposal."""


@dataclass(frozen=True)
class _Relaxation(Estimator):
    """A relaxed program: proposals at one bound for all pairs, choices by Gumbel numbers at a temperature.

    Intensities act through how much of a particle every slot holds, as number concentrations do.

    Attributes:
        temperature: Temperature of the relaxation [1].
        choice: Which choice is relaxed.
    """

    temperature: float = 0.5
    choice: Choice = Choice.ACCEPTANCE

    def __post_init__(self) -> None:
        check_positive("temperature", self.temperature, "1")

    def _is_hard(self) -> bool:
        raise NotImplementedError

    def _is_biased(self, problem: StochasticProblem, parameter: Parameter) -> bool:
        return True

    def _check(self, problem: StochasticProblem, parameter: Parameter) -> None:
        simulation = problem.simulation
        if simulation.kernel is None or simulation.loss is not None or np.any(np.asarray(simulation.dilution) > 0.0):
            raise ValueError("simulation: relaxations are of coagulation alone; use Combined or ScoreFunction")
        check_spread(problem, parameter)
        check_margin(problem)

    def _contributions(
        self, problem: StochasticProblem, parameter: Parameter, boxes: int, seed: int, first_box: int
    ) -> tuple[Floats, Floats]:
        sample = problem.start.sample(boxes, seed=seed, first_box=first_box)
        program = RelaxedProgram(problem, sample, seed, first_box, self.temperature, self.choice, self._is_hard())
        presence, sizes = program.forward(program.initial_presence, program.initial_sizes)
        losses = problem.loss.value(presence, sizes)
        by_presence, by_sizes = program.backward(*problem.loss.gradient(presence, sizes))
        if parameter is Parameter.INTENSITY:
            return losses, by_bin(by_presence, sample) / np.asarray(problem.start.intensity)
        cotangent = by_sizes[..., np.newaxis] / sample.state.density
        return losses, through_masses(parameter, cotangent, sample)


@dataclass(frozen=True)
class StraightThrough(_Relaxation):
    """Whole choices in the forward run, which is the process itself; soft ones in the backward pass.

    Biased at every temperature: a choice's effect is replaced by its derivative.

    Source: Bengio, Leonard and Courville (2013), arXiv:1308.3432; Jang, Gu and Poole (2017), arXiv:1611.01144.
    """

    @property
    def name(self) -> str:
        """Straight-through, with what is relaxed."""
        return f"straight-through, {self.choice.value}"

    def _is_hard(self) -> bool:
        return True


@dataclass(frozen=True)
class Gumbel(_Relaxation):
    """Soft choices in both directions: the exact derivative of a relaxed program.

    The bias shrinks with the temperature, and the variance grows.

    Source: Maddison, Mnih and Teh (2017), arXiv:1611.00712; Jang, Gu and Poole (2017), arXiv:1611.01144.
    """

    @property
    def name(self) -> str:
        """Gumbel, with what is relaxed."""
        return f"Gumbel, {self.choice.value}"

    def _is_hard(self) -> bool:
        return False


class RelaxedProgram:
    """One relaxed realisation of every box, forward and backward.

    Args:
        problem: What is relaxed.
        sample: Where it begins.
        seed: Seed.
        first_box: Number of the first box.
        temperature: Temperature [1].
        choice: Which choice is relaxed.
        hard: Whether choices are whole in the forward run.
    """

    def __init__(
        self,
        problem: StochasticProblem,
        sample: PoissonSample,
        seed: int,
        first_box: int,
        temperature: float,
        choice: Choice,
        hard: bool,
    ) -> None:
        state = sample.state
        self.boxes, self.slots, self.device = state.boxes, state.slots, state.device
        times = np.asarray(problem.simulation.times, dtype=np.float64)
        self.duration = float(times[-1] - times[0])
        self.initial_sizes: Floats = state.particle_volumes()
        self.initial_presence: Floats = (self.initial_sizes > 0.0).astype(np.float64)
        laws = problem.simulation.laws(self.boxes)
        self.rates = rates_of(laws, self.device)
        counts = sample.counts.sum(axis=1)
        bound = problem.simulation.margin * _largest_rates(laws, self.initial_sizes)
        rate = bound * counts * (counts - 1) / (2.0 * state.volume)
        self.partners = 1 if choice is Choice.ACCEPTANCE else max(1, self.slots - 1)
        self.capacity = int(np.max(rate * self.duration + 8.0 * np.sqrt(rate * self.duration), initial=0.0)) + 20
        program: Any = Relaxed()
        program.particles = wp.array(counts, dtype=wp.int32, device=self.device)
        program.bound, program.rate = (to_device(a, device=self.device) for a in (bound, rate))
        program.numbers = box_numbers(first_box, self.boxes, self.device)
        program.partners, program.hard = int(choice is Choice.ACCEPTANCE), int(hard)
        program.temperature, program.seed = temperature, seed
        self.program = program
        self.tape: Any = None

    def forward(self, presence: Floats, sizes: Floats) -> tuple[Floats, Floats]:
        """Presence [1] and volumes [m^3] at the end, from those at the start, all of shape [boxes, slots]."""
        while True:
            self.program.presence = to_device(presence, device=self.device)
            self.program.sizes = to_device(sizes, device=self.device)
            self.tape = self._tape()
            inputs = [self.program, self.tape, self.rates, wp.float64(self.duration)]
            wp.launch(run_relaxed, self.boxes, inputs, device=self.device, record_tape=False)
            needed = int(self.tape.count.numpy().max())
            if needed <= self.capacity:
                return to_host(self.program.presence), to_host(self.program.sizes)
            self.capacity = needed

    def backward(self, by_presence: Floats, by_sizes: Floats) -> tuple[Floats, Floats]:
        """Derivatives to presence and volumes at the start, from those at the end; once for a forward run."""
        presence_bar, sizes_bar = (to_device(a, device=self.device) for a in (by_presence, by_sizes))
        inputs = [self.program, self.tape, self._slopes(), presence_bar, sizes_bar]
        wp.launch(sweep_relaxed, self.boxes, inputs, device=self.device, record_tape=False)
        return to_host(presence_bar), to_host(sizes_bar)

    def _slopes(self) -> Any:
        """Derivatives of the kernel to both volumes of every proposed pair [s^-1], by Warp's adjoint."""
        pairs: Any = self.tape.pairs
        pairs.requires_grad = True
        shape = (self.boxes, self.capacity * self.partners)
        out: Any = new_zeros(shape, device=self.device, requires_grad=True)
        out.grad.fill_(1.0)
        wp.launch(
            pair_rates,
            shape,
            inputs=[pairs, self.rates],
            outputs=[out],
            adj_inputs=[pairs.grad, self.rates],
            adj_outputs=[out.grad],
            device=self.device,
            adjoint=True,
            record_tape=False,
        )
        return pairs.grad

    def _tape(self) -> Any:
        tape: Any = ProposalTape()
        boxes, capacity, device = self.boxes, self.capacity, self.device
        tape.first, tape.partner = (wp.zeros((boxes, capacity), dtype=wp.int32, device=device) for _ in range(2))
        tape.size = new_zeros((boxes, capacity), device=device)
        tape.others = new_zeros((boxes, capacity, self.partners), device=device)
        tape.pairs = new_zeros((boxes, capacity * self.partners, 2), device=device)
        tape.rates = new_zeros((boxes, capacity * self.partners), device=device)
        tape.count = wp.zeros(boxes, dtype=wp.int32, device=device)
        tape.shares, tape.chances = (new_zeros((boxes, self.partners + 1), device=device) for _ in range(2))
        return tape


def _largest_rates(laws: RateLaws, sizes: Floats) -> Floats:
    """Largest rate that any two particles of a box can have, whatever merges [m^3 s^-1], shape [boxes]."""
    total = sizes.sum(axis=1)
    match laws.kernel:
        case ConstantKernel():
            return np.full(len(total), laws.kernel.rate)
        case AdditiveKernel():
            return laws.kernel.slope * total
        case ProductKernel():
            return laws.kernel.coefficient * total**2 / 4.0
        case _:
            return _largest_in_classes(laws, sizes, total)


def _largest_in_classes(laws: RateLaws, sizes: Floats, total: Floats) -> Floats:
    some = sizes > 0.0
    if not some.any():
        return np.zeros(len(total))
    smallest: Floats = np.where(some, sizes, np.inf).min(axis=1)
    classes = size_classes(laws, float(smallest.min()), float(total.max()), 1.0)
    low: NDArray[np.int64] = np.searchsorted(classes.edges, smallest, side="right")
    high: NDArray[np.int64] = np.searchsorted(classes.edges, total * (1.0 + 1e-9), side="right")
    result = np.zeros(len(total))
    for box in np.flatnonzero(some.any(axis=1)):
        block = classes.pairs[laws.environment_of[box], low[box] - 1 : high[box], low[box] - 1 : high[box]]
        result[box] = block.max()
    return result
