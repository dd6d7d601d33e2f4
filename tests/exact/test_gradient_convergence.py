"""Gradients of sectional simulations against exact gradients of the coagulation equation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from retrograde.aerosol.exact import (
    AdditiveMoments,
    ConstantMoments,
    ConstantSolution,
    MomentEvolution,
    MomentGradients,
    Moments,
    ProductMoments,
)
from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.physics import AdditiveKernel, CoagulationKernel, ConstantKernel, ProductKernel
from retrograde.aerosol.processes import CoagulationCellAverage, CoagulationFixedPivot
from retrograde.aerosol.processes.coagulation import Coagulation
from retrograde.aerosol.simulation import Simulation
from retrograde.aerosol.states import SectionalState

Floats = NDArray[np.float64]
N0, V0 = 1e12, 1e-21
CASES: dict[str, tuple[CoagulationKernel, MomentEvolution, float]] = {
    "constant": (ConstantKernel(1.0 / N0), ConstantMoments(1.0 / N0), 2.0),
    "additive": (AdditiveKernel(1.0 / (N0 * V0)), AdditiveMoments(1.0 / (N0 * V0)), 0.8),
    "product": (ProductKernel(1.0 / (N0 * V0**2)), ProductMoments(1.0 / (N0 * V0**2)), 0.2),
}


@dataclass(frozen=True)
class Comparison:
    """Gradients of moments at the end to the numbers at the start, by order, beside the exact ones."""

    ours: dict[int, Floats]
    exact: MomentGradients
    number: Floats
    volumes: Floats
    state_error: float
    """Relative error of M2 itself."""

    @property
    def weighted(self) -> float:
        """Error of dM2 summed over the bins with the state as weight, relative."""
        error = np.abs(self.ours[2] - self.exact.second) @ self.number
        return float(error / (self.exact.second @ self.number))

    def largest(self, low: float, high: float) -> float:
        """Largest relative error of dM2 among sizes between two multiples of the mean volume."""
        relevant = (self.volumes > low * V0) & (self.volumes < high * V0)
        return float((np.abs(self.ours[2] - self.exact.second) / self.exact.second)[relevant].max())


def compare(
    scheme: type[Coagulation], name: str, per_doubling: int, substeps: int, moments: tuple[int, ...] = (2,)
) -> Comparison:
    kernel, evolution, time = CASES[name]
    grid = SizeGrid.from_ratio(V0 * 2.0**-14, 2.0 ** (1.0 / per_doubling), 30 * per_doubling)
    number = ConstantSolution(1.0 / N0, N0, V0).bin_numbers(grid.edges, 0.0)
    simulation = Simulation(grid, (scheme(kernel),), np.array([0.0, time]), substeps)
    trajectory = simulation.run(SectionalState.from_numpy(number, grid))
    cotangents = {order: {1: grid.volumes[None] ** order} for order in moments}
    start = Moments.of(number, grid.volumes)
    final = float(trajectory.numpy()[1, 0] @ grid.volumes**2)
    return Comparison(
        ours={order: simulation.pullback(trajectory, c).numpy()[0] for order, c in cotangents.items()},
        exact=evolution.gradients(start, grid.volumes, time),
        number=number,
        volumes=grid.volumes,
        state_error=abs(final / evolution.moments(start, time).second - 1.0),
    )


def orders_of(errors: list[float]) -> Floats:
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("scheme", [CoagulationFixedPivot, CoagulationCellAverage])
def test_gradients_of_number_and_volume_are_exact_but_for_the_step(scheme: type[Coagulation], name: str) -> None:
    """Both techniques close the equations of M0 and M1: even on a coarse grid only the step's error is left.

    For the product kernel, whose M0 falls along a straight line, not even that.
    """
    relevant = slice(0, 36)
    errors: list[float] = []
    for substeps in (20, 40, 80):
        found = compare(scheme, name, 2, substeps, moments=(0, 1))
        exact = found.exact.zeroth[relevant]
        errors.append(float(np.abs(found.ours[0][relevant] - exact).max() / np.abs(exact).max()))
        assert_allclose(found.ours[1][relevant], found.exact.first[relevant], rtol=1e-12)
    print(f"{scheme.__name__}, {name} kernel, dM0: errors {errors}, orders {orders_of(errors)}")
    if name == "product":
        assert max(errors) < 1e-13
    else:
        assert errors[-1] < 2e-4
        assert np.all(orders_of(errors) > 1.9)


@pytest.mark.parametrize("name", CASES)
def test_fixed_pivot_gradient_of_the_second_moment_converges_at_second_order(name: str) -> None:
    """Over the whole state, and the worst of all sizes from one to ten mean volumes.

    The error of the gradient is of the size of the error of M2 itself.
    """
    found = [compare(CoagulationFixedPivot, name, q, 16 * q) for q in (2, 4, 8, 16)]
    for errors in ([c.weighted for c in found], [c.largest(1.0, 10.0) for c in found]):
        print(f"fixed pivot, {name} kernel, dM2: errors {errors}, orders {orders_of(errors)}")
        assert np.all(orders_of(errors) > 1.85)
    assert all(c.weighted < 2.5 * c.state_error for c in found)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_cell_average_gradient_of_the_second_moment_converges_at_second_order(name: str) -> None:
    """Coarse orders scatter about two, as those of the state do."""
    found = [compare(CoagulationCellAverage, name, q, 16 * q) for q in (4, 8, 16, 32)]
    errors = [c.weighted for c in found]
    print(f"cell average, {name} kernel, dM2: errors {errors}, orders {orders_of(errors)}")
    assert orders_of(errors)[-1] > 1.75
    assert found[-1].weighted < 2.5 * found[-1].state_error


def test_sizes_far_below_their_partners_spacing_are_resolved_to_first_order_only() -> None:
    """A limit of sectional methods: growth by a share of a bin spreads over the whole bin.

    A particle much smaller than the spacing at the sizes that it meets adds to M2 with a relative
    error of half that spacing over the size. Such sizes carry little of the second moment.
    """
    errors = [compare(CoagulationFixedPivot, "constant", q, 16 * q).largest(0.0, 0.01) for q in (2, 4, 8)]
    assert np.all(np.abs(orders_of(errors) - 1.1) < 0.25)
