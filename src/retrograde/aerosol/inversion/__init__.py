"""The inverse problem: the initial state whose simulation agrees with what was measured later.

Names are loaded when they are first used: a program that needs one part starts without the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from retrograde.aerosol.inversion.calibration import Calibration, calibrate
    from retrograde.aerosol.inversion.case import Case
    from retrograde.aerosol.inversion.errors import ErrorSizes
    from retrograde.aerosol.inversion.loss_laws import CalibratedLoss
    from retrograde.aerosol.inversion.prescribed import Prescribed
    from retrograde.aerosol.inversion.recovering import Recovery, recover
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

_FILES = {
    "CalibratedLoss": "loss_laws",
    "Calibration": "calibration",
    "Case": "case",
    "ErrorSizes": "errors",
    "Prescribed": "prescribed",
    "Recovery": "recovering",
    "Settings": "settings",
    "calibrate": "calibration",
    "recover": "recovering",
}


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_FILES[name]}"), name)
