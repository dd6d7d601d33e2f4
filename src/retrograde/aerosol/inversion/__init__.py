"""The inverse problem: the initial state whose simulation agrees with what was measured later."""

from retrograde.aerosol.inversion.calibration import Calibration, calibrate
from retrograde.aerosol.inversion.case import Case
from retrograde.aerosol.inversion.errors import ErrorSizes
from retrograde.aerosol.inversion.loss_laws import CalibratedLoss
from retrograde.aerosol.inversion.prescribed import Prescribed
from retrograde.aerosol.inversion.recover import Recovery, recover
from retrograde.aerosol.inversion.settings import Settings

__all__ = [
    "CalibratedLoss",
    "Calibration",
    "Case",
    "ErrorSizes",
    "Prescribed",
    "Recovery",
    "Settings",
    "calibrate",
    "recover",
]
