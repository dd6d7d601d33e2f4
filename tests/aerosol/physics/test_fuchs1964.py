"""Fuchs' kernel: tabulated values, its two limits, symmetry and smoothness in the diameter."""

import numpy as np
import pytest
import warp as wp

from retrograde.aerosol import Environment, SizeGrid
from retrograde.aerosol.physics import BrownianKernel, JoiningForm, fuchs_kernel, joining_distance, particle_transport
from retrograde.aerosol.physics.fuchs1964 import fuchs_kernel_wp

DIAMETERS = np.array([0.002, 0.004, 0.01, 0.02, 0.04, 0.1, 0.2, 0.4, 1.0, 2.0, 4.0, 10.0, 20.0]) * 1e-6
MONODISPERSE = {
    JoiningForm.FUCHS: "8.89 12.55 19.43 24.37 23.15 14.99 10.53 8.19 6.84 6.39 6.17 6.04 6.00",
    JoiningForm.WITHOUT_ROOT: "8.89 12.5 19.3 23.7 22.1 14.6 10.4 8.13 6.81 6.37 6.16 6.04 6.00",
}
AIR = Environment.uniform(1, 298.15, 101325.0)


@pytest.mark.parametrize("form", list(JoiningForm))
def test_monodisperse_kernel_has_the_tabulated_values(form):
    matrix = BrownianKernel(density=1000.0, form=form).matrix(SizeGrid.from_diameters(DIAMETERS), AIR).numpy()
    for value, text in zip(np.diag(matrix[0]) * 1e16, MONODISPERSE[form].split(), strict=True):
        half_a_unit_in_the_last_place = 0.5 * 10.0 ** -len(text.split(".")[1])
        assert abs(value - float(text)) <= half_a_unit_in_the_last_place * (1 + 1e-9)


def test_form_with_the_root_is_the_default():
    assert BrownianKernel().form is JoiningForm.FUCHS


def test_kernel_has_the_free_molecular_limit():
    small = 1e-10
    a, b = (particle_transport(d, 298.15, 101325.0, 1000.0) for d in (small, 3 * small))
    speed = np.hypot(a.thermal_speed, b.thermal_speed)
    gas_kinetic = np.pi / 4 * (4 * small) ** 2 * speed
    assert fuchs_kernel(small, 3 * small, 298.15, 101325.0, 1000.0) == pytest.approx(gas_kinetic, rel=2e-3)


def test_kernel_has_the_continuum_limit():
    large = 2e-4
    a, b = (particle_transport(d, 298.15, 101325.0, 1000.0) for d in (large, 3 * large))
    smoluchowski = 2 * np.pi * (a.diffusivity + b.diffusivity) * 4 * large
    assert fuchs_kernel(large, 3 * large, 298.15, 101325.0, 1000.0) == pytest.approx(smoluchowski, rel=1e-3)


def test_joining_distance_is_the_textbook_expression_without_its_cancellation():
    d = np.float64(1e-7)
    mean_path = d * np.geomspace(1e-2, 1e3, 30)
    textbook = ((d + mean_path) ** 3 - (d**2 + mean_path**2) ** 1.5) / (3 * d * mean_path) - d
    np.testing.assert_allclose(joining_distance(d, mean_path), textbook, rtol=1e-11)
    np.testing.assert_allclose(joining_distance(d, d * 1e-9), 0.5 * d * 1e-9, rtol=1e-8)


def test_matrix_is_symmetric_to_the_last_bit_and_one_for_each_environment():
    grid = SizeGrid.geometric(3e-9, 1e-5, bins_per_decade=7)
    air = Environment(np.array([250.0, 298.15, 310.0]), np.array([3e4, 101325.0, 9e4]))
    kernel = BrownianKernel(density=1769.0)
    matrix = kernel.matrix(grid, air).numpy()
    assert matrix.shape == (3, grid.bins, grid.bins)
    assert np.array_equal(matrix, matrix.swapaxes(1, 2))
    np.testing.assert_allclose(matrix, kernel.matrix_numpy(grid, air), rtol=1e-14)


@wp.kernel
def _kernel_values(diameters: wp.array[wp.float64], values: wp.array[wp.float64]):
    i = wp.tid()
    values[i] = fuchs_kernel_wp(
        diameters[i],
        wp.float64(1.0e-7),
        wp.float64(298.15),
        wp.float64(101325.0),
        wp.float64(1200.0),
        wp.float64(np.sqrt(2.0)),
    )


def test_device_kernel_has_the_right_derivative_in_the_diameter():
    host = np.geomspace(1e-9, 1e-5, 25)
    diameters = wp.array(host, dtype=wp.float64, requires_grad=True)
    values = wp.zeros(25, dtype=wp.float64, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(_kernel_values, 25, inputs=[diameters], outputs=[values])
    tape.backward(grads={values: wp.ones(25, dtype=wp.float64)})
    step = 1e-3 * host
    f = [fuchs_kernel(host + k * step, 1e-7, 298.15, 101325.0, 1200.0) for k in (-2, -1, 1, 2)]
    difference = (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * step)
    np.testing.assert_allclose(diameters.grad.numpy(), difference, rtol=1e-8)


def test_kernel_without_an_environment_is_refused():
    with pytest.raises(ValueError, match=r"temperature \[K\] and pressure \[Pa\]"):
        BrownianKernel().matrix(SizeGrid.from_diameters(DIAMETERS))
