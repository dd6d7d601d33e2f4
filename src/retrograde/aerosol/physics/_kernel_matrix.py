"""Device kernels that fill coagulation kernel matrices; launched over [environments, bins, bins]."""

from retrograde.aerosol._device import Float64, Float64Array, Float64Tensor, wp
from retrograde.aerosol.physics.fuchs1964 import fuchs_kernel_wp
from retrograde.aerosol.physics.smoluchowski_kernels import (
    additive_kernel_wp,
    constant_kernel_wp,
    product_kernel_wp,
)


@wp.kernel(enable_backward=False)
def fill_brownian(
    diameters: Float64Array,
    temperature: Float64Array,
    pressure: Float64Array,
    density: Float64,
    joining_factor: Float64,
    matrix: Float64Tensor,
):
    """Fuchs' kernel at pairs of diameters [m] in every environment [K, Pa]."""
    e, i, j = wp.tid()
    larger = wp.max(diameters[i], diameters[j])
    smaller = wp.min(diameters[i], diameters[j])
    matrix[e, i, j] = fuchs_kernel_wp(larger, smaller, temperature[e], pressure[e], density, joining_factor)


@wp.kernel(enable_backward=False)
def fill_constant(volumes: Float64Array, rate: Float64, matrix: Float64Tensor):
    """The constant kernel."""
    e, i, j = wp.tid()
    matrix[e, i, j] = constant_kernel_wp(volumes[i], volumes[j], rate)


@wp.kernel(enable_backward=False)
def fill_additive(volumes: Float64Array, slope: Float64, matrix: Float64Tensor):
    """The additive kernel at pairs of volumes [m^3]."""
    e, i, j = wp.tid()
    matrix[e, i, j] = additive_kernel_wp(volumes[i], volumes[j], slope)


@wp.kernel(enable_backward=False)
def fill_product(volumes: Float64Array, coefficient: Float64, matrix: Float64Tensor):
    """The product kernel at pairs of volumes [m^3]."""
    e, i, j = wp.tid()
    matrix[e, i, j] = product_kernel_wp(volumes[i], volumes[j], coefficient)
