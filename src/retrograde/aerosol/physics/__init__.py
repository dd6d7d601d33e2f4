"""Physics of aerosols: one parameterisation a file, each with its host formula and its device twin."""

from retrograde.aerosol.physics.coagulation_kernels import (
    AdditiveKernel,
    BrownianKernel,
    CoagulationKernel,
    ConstantKernel,
    JoiningForm,
    ProductKernel,
    TableKernel,
)
from retrograde.aerosol.physics.crump_seinfeld1981 import box_loss_rate, sphere_loss_rate
from retrograde.aerosol.physics.davies1945 import slip_correction
from retrograde.aerosol.physics.debye import debye1
from retrograde.aerosol.physics.einstein1905 import diffusivity
from retrograde.aerosol.physics.fuchs1964 import fuchs_kernel, joining_distance
from retrograde.aerosol.physics.fuchs_sutugin1971 import transition_correction, uptake_rate, vapour_mean_free_path
from retrograde.aerosol.physics.kinetic_theory import mean_free_path, thermal_speed
from retrograde.aerosol.physics.particle_transport import ParticleTransport, particle_transport
from retrograde.aerosol.physics.petters_kreidenweis2007 import (
    critical_supersaturation,
    kappa_activity,
    koehler_saturation_ratio,
)
from retrograde.aerosol.physics.power_law_loss import power_law_loss_rate
from retrograde.aerosol.physics.raoult1887 import ideal_activity
from retrograde.aerosol.physics.relaxation import mean_decay
from retrograde.aerosol.physics.smoluchowski_kernels import additive_kernel, constant_kernel, product_kernel
from retrograde.aerosol.physics.stokes1851 import settling_velocity
from retrograde.aerosol.physics.sutherland1893 import dynamic_viscosity
from retrograde.aerosol.physics.thomson1871 import kelvin_ratio
from retrograde.aerosol.physics.wall_loss import (
    ConstantLoss,
    EddyDiffusionBox,
    EddyDiffusionSphere,
    LossLaw,
    PowerLawLoss,
    TableLoss,
    dilution_rate,
)

__all__ = [
    "AdditiveKernel",
    "BrownianKernel",
    "CoagulationKernel",
    "ConstantKernel",
    "ConstantLoss",
    "EddyDiffusionBox",
    "EddyDiffusionSphere",
    "JoiningForm",
    "LossLaw",
    "ParticleTransport",
    "PowerLawLoss",
    "ProductKernel",
    "TableKernel",
    "TableLoss",
    "additive_kernel",
    "box_loss_rate",
    "constant_kernel",
    "critical_supersaturation",
    "debye1",
    "diffusivity",
    "dilution_rate",
    "dynamic_viscosity",
    "fuchs_kernel",
    "ideal_activity",
    "joining_distance",
    "kappa_activity",
    "kelvin_ratio",
    "koehler_saturation_ratio",
    "mean_decay",
    "mean_free_path",
    "particle_transport",
    "power_law_loss_rate",
    "product_kernel",
    "settling_velocity",
    "slip_correction",
    "sphere_loss_rate",
    "thermal_speed",
    "transition_correction",
    "uptake_rate",
    "vapour_mean_free_path",
]
