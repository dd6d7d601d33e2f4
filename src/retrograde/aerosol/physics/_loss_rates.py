"""Device kernels that fill loss rates; launched over [environments, bins]."""

from retrograde.aerosol._device import Float64, Float64Array, Float64Matrix, wp
from retrograde.aerosol.physics.crump_seinfeld1981 import box_loss_rate_wp, sphere_loss_rate_wp
from retrograde.aerosol.physics.particle_transport import particle_transport_wp
from retrograde.aerosol.physics.power_law_loss import power_law_loss_rate_wp


@wp.kernel(enable_backward=False)
def fill_power_law(
    diameters: Float64Array,
    rate: Float64,
    slope: Float64,
    exponent: Float64,
    reference_diameter: Float64,
    rates: Float64Matrix,
):
    """The power law at diameters [m]."""
    e, i = wp.tid()
    rates[e, i] = power_law_loss_rate_wp(diameters[i], rate, slope, exponent, reference_diameter)


@wp.kernel(enable_backward=False)
def fill_sphere(
    diameters: Float64Array,
    temperature: Float64Array,
    pressure: Float64Array,
    density: Float64,
    eddy_coefficient: Float64,
    radius: Float64,
    rates: Float64Matrix,
):
    """Loss in a sphere at diameters [m] in every environment [K, Pa]."""
    e, i = wp.tid()
    moves = particle_transport_wp(diameters[i], temperature[e], pressure[e], density)
    rates[e, i] = sphere_loss_rate_wp(moves[0], moves[2], eddy_coefficient, radius)


@wp.kernel(enable_backward=False)
def fill_box(
    diameters: Float64Array,
    temperature: Float64Array,
    pressure: Float64Array,
    density: Float64,
    eddy_coefficient: Float64,
    length: Float64,
    width: Float64,
    height: Float64,
    rates: Float64Matrix,
):
    """Loss in a box at diameters [m] in every environment [K, Pa]."""
    e, i = wp.tid()
    moves = particle_transport_wp(diameters[i], temperature[e], pressure[e], density)
    rates[e, i] = box_loss_rate_wp(moves[0], moves[2], eddy_coefficient, length, width, height)
