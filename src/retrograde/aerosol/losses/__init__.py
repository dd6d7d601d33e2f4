"""Losses: distances of size distributions from what they should be, with hand-written adjoints."""

from retrograde.aerosol.losses.base import SizeDistributionLoss
from retrograde.aerosol.losses.cumulative import CramerLoss, Wasserstein1Loss
from retrograde.aerosol.losses.l2 import L2Loss
from retrograde.aerosol.losses.moment import MomentLoss
from retrograde.aerosol.losses.poisson import PoissonLoss
from retrograde.aerosol.losses.transport import Wasserstein2Loss

__all__ = [
    "CramerLoss",
    "L2Loss",
    "MomentLoss",
    "PoissonLoss",
    "SizeDistributionLoss",
    "Wasserstein1Loss",
    "Wasserstein2Loss",
]
