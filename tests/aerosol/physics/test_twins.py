"""Every device function against its host formula, over the range the physics is used in."""

import inspect

import numpy as np
import pytest
import warp as wp

from retrograde.aerosol import _elementary
from retrograde.aerosol.physics import (
    crump_seinfeld1981,
    davies1945,
    debye,
    einstein1905,
    fuchs1964,
    fuchs_sutugin1971,
    kinetic_theory,
    petters_kreidenweis2007,
    power_law_loss,
    raoult1887,
    relaxation,
    smoluchowski_kernels,
    stokes1851,
    sutherland1893,
    thomson1871,
)

N = 200
RNG = np.random.default_rng(11)


def between(low: float, high: float) -> np.ndarray:
    return np.exp(RNG.uniform(np.log(low), np.log(high), N))


TEMPERATURE, PRESSURE = RNG.uniform(180.0, 400.0, N), between(2e3, 2e5)
DIAMETER, DENSITY, VOLUME = between(1e-9, 2e-5), between(500.0, 5000.0), between(1e-27, 1e-15)
VISCOSITY, SLIP, KNUDSEN = between(1e-5, 3e-5), between(1.0, 200.0), between(1e-3, 300.0)
DIFFUSIVITY, SETTLING, EDDY, SIDE = between(1e-12, 1e-5), between(1e-10, 1e-2), between(1e-3, 10.0), between(0.1, 10.0)

CASES = [
    (sutherland1893, "dynamic_viscosity", [TEMPERATURE]),
    (kinetic_theory, "mean_free_path", [TEMPERATURE, PRESSURE, VISCOSITY]),
    (kinetic_theory, "thermal_speed", [VOLUME * DENSITY, TEMPERATURE]),
    (davies1945, "slip_correction", [KNUDSEN]),
    (einstein1905, "diffusivity", [DIAMETER, TEMPERATURE, VISCOSITY, SLIP]),
    (stokes1851, "settling_velocity", [DIAMETER, DENSITY, VISCOSITY, SLIP]),
    (fuchs1964, "joining_distance", [DIAMETER, DIAMETER * between(1e-3, 1e3)]),
    (fuchs1964, "fuchs_kernel", [DIAMETER, between(1e-9, 2e-5), TEMPERATURE, PRESSURE, DENSITY, between(1.0, 1.5)]),
    (smoluchowski_kernels, "constant_kernel", [VOLUME, VOLUME[::-1].copy(), between(1e-17, 1e-12)]),
    (smoluchowski_kernels, "additive_kernel", [VOLUME, VOLUME[::-1].copy(), between(1e-2, 1e3)]),
    (smoluchowski_kernels, "product_kernel", [VOLUME, VOLUME[::-1].copy(), between(1e10, 1e20)]),
    (debye, "debye1", [np.concatenate([[0.0, 1e-12, 0.1, 10.0, 700.0], between(1e-6, 600.0)[5:]])]),
    (crump_seinfeld1981, "sphere_loss_rate", [DIFFUSIVITY, SETTLING, EDDY, SIDE]),
    (crump_seinfeld1981, "box_loss_rate", [DIFFUSIVITY, SETTLING, EDDY, SIDE, between(0.1, 10.0), between(0.1, 10.0)]),
    (fuchs_sutugin1971, "transition_correction", [KNUDSEN, between(1e-3, 1.0)]),
    (fuchs_sutugin1971, "vapour_mean_free_path", [between(1e-6, 1e-4), between(0.01, 0.5), TEMPERATURE]),
    (
        fuchs_sutugin1971,
        "uptake_rate",
        [DIAMETER, between(1e-6, 1e-4), between(0.01, 0.5), between(1e-3, 1.0), TEMPERATURE],
    ),
    (thomson1871, "kelvin_ratio", [between(5e-9, 2e-5), between(1e-3, 0.1), between(0.01, 0.2), DENSITY, TEMPERATURE]),
    (_elementary, "log1p", [between(1e-18, 1e3)]),
    (_elementary, "expm1", [between(1e-18, 10.0)]),
    (raoult1887, "ideal_activity", [between(1e-20, 1e-18), between(1e-18, 1e-16)]),
    (relaxation, "mean_decay", [between(1e-9, 50.0)]),
    (petters_kreidenweis2007, "kappa_activity", [VOLUME, VOLUME[::-1].copy(), between(1e-3, 1.4)]),
    (
        petters_kreidenweis2007,
        "koehler_saturation_ratio",
        [DIAMETER * between(1.1, 20.0), DIAMETER, between(1e-3, 1.4), between(1e-9, 3e-9)],
    ),
    (
        petters_kreidenweis2007,
        "critical_supersaturation",
        [between(1e-8, 1e-6), between(1e-3, 1.4), between(1e-9, 3e-9)],
    ),
    (
        power_law_loss,
        "power_law_loss_rate",
        [DIAMETER, between(1e-6, 1e-2), between(1e-6, 1e-2), RNG.uniform(-3, 3, N), between(1e-8, 1e-6)],
    ),
]


def _rows_kernel(function: object, count: int) -> object:
    """A kernel that applies `function` to the rows of a table with `count` columns."""
    if count == 1:

        def rows(table: wp.array2d[wp.float64], out: wp.array[wp.float64]):
            i = wp.tid()
            out[i] = function(table[i, 0])
    elif count == 2:

        def rows(table: wp.array2d[wp.float64], out: wp.array[wp.float64]):
            i = wp.tid()
            out[i] = function(table[i, 0], table[i, 1])
    elif count == 3:

        def rows(table: wp.array2d[wp.float64], out: wp.array[wp.float64]):
            i = wp.tid()
            out[i] = function(table[i, 0], table[i, 1], table[i, 2])
    elif count == 4:

        def rows(table: wp.array2d[wp.float64], out: wp.array[wp.float64]):
            i = wp.tid()
            out[i] = function(table[i, 0], table[i, 1], table[i, 2], table[i, 3])
    elif count == 5:

        def rows(table: wp.array2d[wp.float64], out: wp.array[wp.float64]):
            i = wp.tid()
            out[i] = function(table[i, 0], table[i, 1], table[i, 2], table[i, 3], table[i, 4])
    else:

        def rows(table: wp.array2d[wp.float64], out: wp.array[wp.float64]):
            i = wp.tid()
            out[i] = function(table[i, 0], table[i, 1], table[i, 2], table[i, 3], table[i, 4], table[i, 5])

    return wp.kernel(rows, module="unique")


@pytest.mark.parametrize(("module", "name", "columns"), CASES, ids=[name for _, name, _ in CASES])
def test_device_twin_agrees_with_the_host_and_its_derivative_with_differences(module, name, columns):
    host, device = getattr(module, name), getattr(module, f"{name}_wp")
    table = wp.array(np.stack(columns, axis=1), dtype=wp.float64, requires_grad=True)
    out = wp.zeros(N, dtype=wp.float64, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(_rows_kernel(device, len(columns)), N, inputs=[table], outputs=[out])
    np.testing.assert_allclose(out.numpy(), host(*columns), rtol=1e-12)

    tape.backward(grads={out: wp.ones(N, dtype=wp.float64)})
    gradients = table.grad.numpy()
    assert np.isfinite(gradients).all()
    for j, column in enumerate(columns):
        step = 2e-4 * np.abs(column)
        moved = [host(*[c + k * step if i == j else c for i, c in enumerate(columns)]) for k in (-2, -1, 1, 2)]
        change = (moved[0] - 8 * moved[1] + 8 * moved[2] - moved[3]) / 12
        # A change is known to the rounding of the values that it is the difference of.
        np.testing.assert_allclose(gradients[:, j] * step, change, rtol=1e-7, atol=1e-14 * np.abs(moved[1]).max())


def test_every_public_device_function_has_a_case():
    listed = {name for _, name, _ in CASES}
    modules = {module for module, _, _ in CASES}
    found = {n.removesuffix("_wp") for m in modules for n, _ in inspect.getmembers(m) if n.endswith("_wp")}
    assert {n for n in found if not n.startswith("_")} - {"particle_transport"} <= listed
