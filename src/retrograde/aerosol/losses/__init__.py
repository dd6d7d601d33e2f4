"""Losses: distances of states from what they should be, with hand-written adjoints."""

from retrograde.aerosol.losses.base import SizeDistributionLoss, StateLoss
from retrograde.aerosol.losses.cells import CellLoss
from retrograde.aerosol.losses.composition import CompositionLoss, LineDistance
from retrograde.aerosol.losses.cumulative import CramerLoss, Wasserstein1Loss
from retrograde.aerosol.losses.hygroscopicity import KappaLoss, SizeKappaLoss
from retrograde.aerosol.losses.l2 import L2Loss
from retrograde.aerosol.losses.mixing_state import MixingStateLoss
from retrograde.aerosol.losses.moment import MomentLoss
from retrograde.aerosol.losses.poisson import PoissonLoss
from retrograde.aerosol.losses.transport import Wasserstein2Loss

__all__ = [
    "CellLoss",
    "CompositionLoss",
    "CramerLoss",
    "KappaLoss",
    "L2Loss",
    "LineDistance",
    "MixingStateLoss",
    "MomentLoss",
    "PoissonLoss",
    "SizeDistributionLoss",
    "SizeKappaLoss",
    "StateLoss",
    "Wasserstein1Loss",
    "Wasserstein2Loss",
]
