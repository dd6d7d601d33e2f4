"""Analytic and tabulated kernels, and kernels as processes take them."""

import numpy as np
import pytest

from retrograde.aerosol import Environment, SizeGrid
from retrograde.aerosol.physics import AdditiveKernel, BrownianKernel, ConstantKernel, ProductKernel, TableKernel

GRID = SizeGrid.from_ratio(1e-24, 2.0, 12)
V, W = GRID.volumes[:, None], GRID.volumes[None, :]


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (ConstantKernel(3e-15), np.full((12, 12), 3e-15)),
        (AdditiveKernel(5.0), 5.0 * (V + W)),
        (ProductKernel(2e21), 2e21 * V * W),
        (TableKernel(np.minimum(V, W)), np.minimum(V, W)),
    ],
)
def test_device_and_host_give_the_formula(kernel, expected):
    np.testing.assert_allclose(kernel.matrix(GRID).numpy(), expected[None], rtol=1e-15)
    np.testing.assert_allclose(kernel.matrix_numpy(GRID), expected[None], rtol=1e-15)
    assert kernel.for_boxes(GRID, Environment.uniform(5)).shape == (12, 12)


def test_boxes_share_a_kernel_where_their_air_is_equal():
    kernel = BrownianKernel()
    assert kernel.for_boxes(GRID, Environment.uniform(4)).shape == (12, 12)
    air = Environment(np.array([300.0, 280.0, 300.0]), np.full(3, 1e5))
    by_box = kernel.for_boxes(GRID, air)
    assert np.array_equal(by_box[0], by_box[2])
    np.testing.assert_allclose(by_box, kernel.matrix_numpy(GRID, air), rtol=0)


def test_a_table_for_every_box_keeps_the_order_of_the_boxes():
    tables = np.array([k * np.ones((12, 12)) for k in (3.0, 1.0, 2.0)])
    air = Environment(np.array([300.0, 280.0, 300.0]), np.full(3, 1e5))
    assert np.array_equal(TableKernel(tables).for_boxes(GRID, air), tables)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ConstantKernel(-1.0), r"rate \[m\^3 s\^-1\]"),
        (lambda: AdditiveKernel(np.nan), r"slope \[s\^-1\]"),
        (lambda: ProductKernel(0.0), r"coefficient \[m\^-3 s\^-1\]"),
        (lambda: BrownianKernel(density=0.0), r"density \[kg m\^-3\]"),
        (lambda: TableKernel(np.ones((3, 4))), r"values \[m\^3 s\^-1\].*\[3, 4\]"),
        (lambda: TableKernel(V / W), "symmetric"),
        (lambda: TableKernel(-np.ones((3, 3))), "negative"),
        (lambda: TableKernel(np.ones((3, 3))).matrix(GRID), "12 bins"),
        (lambda: TableKernel(np.ones((2, 12, 12))).matrix(GRID, Environment.uniform(3)), "3 tables"),
    ],
)
def test_bad_kernels_are_refused_naming_field_and_unit(make, message):
    with pytest.raises(ValueError, match=message):
        make()
