"""Every element of every state gradient, by differences, by the tape, and with faults planted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import warp as wp
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from tests.aerosol.processes.references import assert_agrees, differences

from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.processes import (
    CoagulationCellAverage,
    CoagulationFixedPivot,
    Dilution,
    FirstOrderLoss,
    Integration,
    Method,
)
from retrograde.aerosol.processes.integration import Plan
from retrograde.aerosol.processes.plain import PlainIntegration
from retrograde.aerosol.processes.terms import Process, Terms, total

Floats = NDArray[np.float64]
BINS = 24
GRID = SizeGrid.from_ratio(1e-24, 1.5, BINS)
RNG = np.random.default_rng(20)
NUMBER = 1e11 * RNG.uniform(0.2, 1.0, BINS)
TABLE = 1e-15 * (1.0 + np.add.outer(np.arange(BINS), np.arange(BINS)) / 10)
INTERVALS = np.array([10.0, 30.0, 20.0])
COTANGENTS = RNG.normal(size=(4, BINS))
ESCAPED = 1e21 * RNG.normal(size=4)
LOSSES: tuple[Process, ...] = (
    Dilution(1e-3, 1e8 * RNG.random(BINS)),
    FirstOrderLoss(1e-3 * np.linspace(0.0, 1.0, BINS)),
)


@dataclass(frozen=True)
class Case:
    processes: tuple[Process, ...]
    method: Method = Method.HEUN
    every: int = 1

    def terms(self, boxes: int = 1) -> Terms:
        """The terms, with tables by box repeated for as many boxes."""
        repeated = [
            type(p)(np.broadcast_to(p.kernel, (boxes, BINS, BINS))) if _is_boxwise(p) else p for p in self.processes
        ]
        return total(tuple(repeated), GRID)

    def integration(self, boxes: int, lanes: int | None = None) -> Integration:
        plan = Plan(INTERVALS, 4, self.every, self.method)
        return Integration(self.terms(boxes), plan, boxes, device="cpu", lanes=lanes)


def _is_boxwise(process: Process) -> bool:
    kernel = getattr(process, "kernel", None)
    return isinstance(kernel, np.ndarray) and kernel.ndim == 3


CASES = {
    "fixed pivot": Case((CoagulationFixedPivot(TABLE),)),
    "fixed pivot, all processes": Case((CoagulationFixedPivot(TABLE), *LOSSES)),
    "fixed pivot, table by box": Case((CoagulationFixedPivot(TABLE[None]), *LOSSES)),
    "fixed pivot, restored states": Case((CoagulationFixedPivot(TABLE), *LOSSES), every=5),
    "cell average": Case((CoagulationCellAverage(TABLE),)),
    "cell average, all processes": Case((CoagulationCellAverage(TABLE), *LOSSES)),
    "cell average, table by box": Case((CoagulationCellAverage(TABLE[None]), *LOSSES), every=3),
    "semi-implicit": Case((CoagulationFixedPivot(TABLE), *LOSSES), Method.SEMI_IMPLICIT),
    "semi-implicit, table by box": Case((CoagulationFixedPivot(TABLE[None]), *LOSSES), Method.SEMI_IMPLICIT, 4),
    "removal alone": Case(LOSSES),
}


def linear_loss(case: Case) -> Callable[[Floats], tuple[Floats, Floats]]:
    """Weighted sum of all numbers and escaped volumes at all times, by box."""

    def loss(numbers: Floats) -> tuple[Floats, Floats]:
        integration = case.integration(len(numbers))
        integration.forward(wp.array(numbers, dtype=wp.float64, device="cpu"))
        terms = integration.number.numpy() * COTANGENTS[:, None, :]
        escaped = integration.escaped_volume.numpy() * ESCAPED[:, None]
        value = terms.sum(axis=(0, 2)) + escaped.sum(axis=0)
        return value, np.abs(terms).sum(axis=(0, 2)) + np.abs(escaped).sum(axis=0)

    return loss


def gradient(case: Case, number: Floats = NUMBER, lanes: int | None = None) -> Floats:
    integration = case.integration(1, lanes)
    return _gradient_of(integration, number)


def _gradient_of(integration: Integration, number: Floats) -> Floats:
    integration.forward(wp.array(number[None], dtype=wp.float64, device="cpu"))
    return _pull_back(integration)


def _pull_back(integration: Integration) -> Floats:
    integration.number.grad.assign(COTANGENTS[:, None, :])
    integration.escaped_volume.grad.assign(ESCAPED[:, None])
    result = wp.zeros((1, BINS), dtype=wp.float64, device="cpu")
    integration.backward(result)
    return result.numpy()[0].copy()


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_every_element_agrees_with_differences(case: Case) -> None:
    """Cotangents of every element of every state, escaped volume included, at all four times."""
    assert_agrees(gradient(case), differences(linear_loss(case), NUMBER))


@pytest.mark.parametrize("time", range(4))
def test_cotangents_of_one_time_alone_reach_the_start(time: int) -> None:
    case = CASES["fixed pivot, restored states"]
    integration = case.integration(1)
    integration.forward(wp.array(NUMBER[None], dtype=wp.float64, device="cpu"))
    cotangent = np.zeros((4, 1, BINS))
    cotangent[time] = COTANGENTS[time]
    integration.number.grad.assign(cotangent)
    result = wp.zeros((1, BINS), dtype=wp.float64, device="cpu")
    integration.backward(result)

    def loss(numbers: Floats) -> tuple[Floats, Floats]:
        several = case.integration(len(numbers))
        several.forward(wp.array(numbers, dtype=wp.float64, device="cpu"))
        terms = several.number.numpy()[time] * COTANGENTS[time]
        return terms.sum(axis=1), np.abs(terms).sum(axis=1)

    assert_agrees(result.numpy()[0], differences(loss, NUMBER))


@pytest.mark.parametrize("lanes", [8, 16, 32])
@pytest.mark.parametrize("name", ["fixed pivot, table by box", "cell average, all processes", "semi-implicit"])
def test_gradients_are_the_same_for_any_number_of_lanes(name: str, lanes: int) -> None:
    alone = gradient(CASES[name], lanes=1)
    assert_allclose(gradient(CASES[name], lanes=lanes), alone, rtol=1e-11, atol=1e-13 * np.abs(alone).max())


@pytest.mark.parametrize(
    "name", [name for name, case in CASES.items() if case.method is Method.HEUN and case.every == 1]
)
def test_hand_written_adjoint_equals_warps(name: str) -> None:
    """Two formulations of the tendency and two ways of differentiating agree to rounding."""
    case = CASES[name]
    number = wp.array(NUMBER[None], dtype=wp.float64, device="cpu", requires_grad=True)
    plain = PlainIntegration(case.terms(), Plan(INTERVALS, 4, 1, Method.HEUN), 1, device="cpu")
    with wp.Tape() as tape:
        plain.run(number)
    grads = {
        plain.number: wp.array(COTANGENTS[:, None, :], dtype=wp.float64, device="cpu"),
        plain.escaped_volume: wp.array(ESCAPED[:, None], dtype=wp.float64, device="cpu"),
    }
    tape.backward(grads=grads)
    taped = number.grad.numpy()[0]
    assert_allclose(gradient(case), taped, rtol=1e-12, atol=1e-14 * np.abs(taped).max())


def test_empty_bins_have_the_gradient_of_the_number_they_could_hold() -> None:
    """A bin without particles has a derivative: what adding the first ones would change."""
    case = CASES["fixed pivot, all processes"]
    number = NUMBER.copy()
    number[5:9] = 0.0
    assert_agrees(gradient(case, number), differences(linear_loss(case), number, scale=0.05))


def test_nothing_at_all_has_a_finite_gradient() -> None:
    for name, case in CASES.items():
        assert np.all(np.isfinite(gradient(case, np.zeros(BINS)))), name


def test_cell_average_gradient_is_one_sided_only_at_its_kink() -> None:
    """Either side of a kink the gradient is that side's: moving off it, differences agree again."""
    case = CASES["cell average"]
    for shift in (0.97, 1.03):
        number = NUMBER * np.where(np.arange(BINS) % 2, shift, 1.0)
        assert_agrees(gradient(case, number), differences(linear_loss(case), number, scale=0.02))


@pytest.mark.parametrize("fault", ["weight", "matrix", "state", "removal"])
def test_a_planted_fault_is_noticed(fault: str) -> None:
    """What certifies the gradients must fail when one coefficient or stored state is off by a thousandth."""
    case = CASES["fixed pivot, all processes"]
    integration = case.integration(1, 1)
    integration.forward(wp.array(NUMBER[None], dtype=wp.float64, device="cpu"))
    coefficients = integration._coefficients
    array, index = {
        "weight": (coefficients.first, 3),
        "matrix": (coefficients.matrices, (3, 0, 12, 12)),
        "removal": (coefficients.removal, (0, 20, 0)),
        "state": (integration._stored.scalars, (0, 2, 10, 0)),
    }[fault]
    array.numpy()[index] *= 1.001
    assert array.numpy()[index] != 0.0
    with pytest.raises(AssertionError, match="times what is allowed"):
        assert_agrees(_pull_back(integration), differences(linear_loss(case), NUMBER))
