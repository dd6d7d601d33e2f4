"""Loss laws: the eddy-diffusion law against its own transport equation, limits, tables and refusals."""

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from retrograde.aerosol import Environment, SizeGrid
from retrograde.aerosol.physics import (
    ConstantLoss,
    EddyDiffusionBox,
    EddyDiffusionSphere,
    PowerLawLoss,
    TableLoss,
    box_loss_rate,
    debye1,
    dilution_rate,
    particle_transport,
    sphere_loss_rate,
)

GRID = SizeGrid.geometric(5e-9, 1e-5, bins_per_decade=6)
AIR = Environment(np.array([298.15, 270.0]), np.array([101325.0, 8e4]))
CASES = [(1e-9, 1e-7), (1e-11, 3e-5), (1e-8, 1e-12), (1e-12, 1e-3)]
EDDY = 0.2


def wall_flux(diffusivity: float, onto: float) -> float:
    """Flux per far concentration [m s^-1] onto a wall at which particles drift with `onto` [m s^-1].

    (D + ke x^2) dn/dx + onto n = flux, with n = 0 at the wall and n = 1 far away.
    """
    if abs(onto) < 1e-14:
        return 2 * np.sqrt(EDDY * diffusivity) / np.pi
    ratio = np.pi * onto / (2 * np.sqrt(EDDY * diffusivity))
    return 0.0 if ratio < -500.0 else onto / -np.expm1(-ratio)


def test_flux_onto_a_wall_solves_its_transport_equation():
    diffusivity, onto = 1e-9, 3e-6
    flux = wall_flux(diffusivity, onto)

    def slope(log_x, n):
        x = np.exp(log_x)
        return x * (flux - onto * n) / (diffusivity + EDDY * x * x)

    length = np.sqrt(diffusivity / EDDY)
    start = np.array([flux * length * 1e-7 / diffusivity])
    far = solve_ivp(slope, np.log([length * 1e-7, length * 1e7]), start, rtol=1e-10, atol=1e-14, method="LSODA")
    assert far.y[0, -1] == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize(("diffusivity", "settling"), CASES)
def test_sphere_is_the_mean_over_the_wall_of_the_flux_onto_it(diffusivity, settling):
    radius = 0.6
    halves = [(-1.0, 0.0), (0.0, 1.0)]
    integrals = [
        quad(lambda c: wall_flux(diffusivity, settling * c), *h, epsabs=1e-16, epsrel=1e-10)[0] for h in halves
    ]
    mean = sum(integrals) / 2
    assert sphere_loss_rate(diffusivity, settling, EDDY, radius) == pytest.approx(3 / radius * mean, rel=1e-9)


@pytest.mark.parametrize(("diffusivity", "settling"), CASES)
def test_box_is_the_sum_of_the_fluxes_onto_its_walls(diffusivity, settling):
    length, width, height = 1.0, 2.0, 0.7
    level = wall_flux(diffusivity, settling) + wall_flux(diffusivity, -settling)
    upright = wall_flux(diffusivity, 0.0) * 2 * height * (length + width)
    expected = (level * length * width + upright) / (length * width * height)
    assert box_loss_rate(diffusivity, settling, EDDY, length, width, height) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("x", [1e-6, 0.05, 1.0, 6.0, 9.999, 10.001, 40.0])
def test_debye_function_is_its_integral(x):
    integral = quad(lambda t: t / np.expm1(t) if t else 1.0, 0, x, epsabs=0, epsrel=1e-12)[0] / x
    assert float(debye1(x)) == pytest.approx(integral, rel=1e-13)


@pytest.mark.parametrize(
    "law",
    [
        ConstantLoss(1.5e-3),
        PowerLawLoss(1.5e-3, 4e-4, -1.5),
        EddyDiffusionSphere(EDDY, 0.6, density=1200.0),
        EddyDiffusionBox(EDDY, 1.0, 2.0, 0.7),
        TableLoss(np.array([1e-9, 1e-7, 1e-4]), np.array([3e-3, 1e-4, 2e-3])),
    ],
)
def test_device_rates_are_the_host_rates(law):
    rates = law.rates(GRID, AIR).numpy()
    assert rates.shape == ((2 if law.depends_on_environment else 1), GRID.bins)
    np.testing.assert_allclose(rates, law.rates_numpy(GRID, AIR), rtol=1e-12)
    assert law.for_boxes(GRID, AIR).shape == ((2, GRID.bins) if law.depends_on_environment else (GRID.bins,))
    assert law.for_boxes(GRID, Environment.uniform(3)).shape == (GRID.bins,)


def test_eddy_law_takes_the_particles_own_movement():
    moves = particle_transport(GRID.diameters, 270.0, 8e4, 1200.0)
    expected = sphere_loss_rate(moves.diffusivity, moves.settling_velocity, EDDY, 0.6)
    law = EddyDiffusionSphere(EDDY, 0.6, density=1200.0)
    np.testing.assert_allclose(law.rates_numpy(GRID, AIR)[1], expected, rtol=1e-14)


def test_power_law_adds_plainly_at_its_reference():
    grid = SizeGrid.from_diameters([50e-9, 100e-9, 400e-9])
    np.testing.assert_allclose(
        PowerLawLoss(1.0, 2.0, -1.5).rates_numpy(grid)[0], [1 + 2 * 2**1.5, 3.0, 1.25], rtol=1e-12
    )


def test_table_interpolates_in_the_logarithm_of_the_diameter():
    table = TableLoss(np.array([1e-8, 1e-6]), np.array([1.0, 3.0]))
    np.testing.assert_allclose(table.rates_numpy(SizeGrid.from_diameters([1e-8, 1e-7, 1e-6]))[0], [1, 2, 3], rtol=1e-12)
    with pytest.raises(ValueError, match=r"diameters \[m\]: the table covers"):
        table.rates_numpy(GRID)


def test_dilution_is_flow_over_volume():
    assert dilution_rate(2e-3, 4.0) == 5e-4
    with pytest.raises(ValueError, match=r"volume \[m\^3\]"):
        dilution_rate(1.0, 0.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ConstantLoss(-1.0), r"rate \[s\^-1\]"),
        (lambda: PowerLawLoss(0.0, np.inf, 1.0), r"slope \[s\^-1\]"),
        (lambda: EddyDiffusionSphere(0.0, 1.0), r"eddy_coefficient \[s\^-1\]"),
        (lambda: EddyDiffusionBox(1.0, 1.0, -1.0, 1.0), r"width \[m\]"),
        (lambda: TableLoss([1e-8, 1e-9], [1.0, 1.0]), r"diameters \[m\].*increasing"),
        (lambda: TableLoss([1e-9, 1e-8], [1.0, -1.0]), r"values \[s\^-1\]"),
        (lambda: EddyDiffusionSphere(1.0, 1.0).rates(GRID), "temperature"),
    ],
)
def test_bad_laws_are_refused_naming_field_and_unit(make, message):
    with pytest.raises(ValueError, match=message):
        make()
