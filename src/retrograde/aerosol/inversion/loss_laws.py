"""Loss laws with a few numbers that a calibration may set, and how well they are known."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.physics import ConstantLoss, EddyDiffusionSphere, LossLaw, PowerLawLoss
from retrograde.aerosol.processes import Dilution, FirstOrderLoss, Process
from retrograde.aerosol.states import Environment

Floats = NDArray[np.float64]

ENHANCEMENT = "enhancement"
"""Name of the factor on the coagulation kernel among a law's parameters."""


@dataclass(frozen=True)
class Parameter:
    """One number of a law.

    Attributes:
        name: Its name in the file.
        unit: Its unit.
        guess: Value before anything was measured; for rates, a multiple of the decay seen in the window.
        spread: Standard deviation of that guess, of the logarithm where it is positive, plain otherwise.
        is_positive: Whether it is calibrated in its logarithm.
    """

    name: str
    unit: str
    guess: float
    spread: float
    is_positive: bool = True


class LossForm(ABC):
    """A law by name: its parameters, and the processes that they make."""

    name: ClassVar[str]
    parameters: ClassVar[tuple[Parameter, ...]]

    @staticmethod
    @abstractmethod
    def processes(values: dict[str, float], air: Environment, density: float) -> tuple[Process, ...]:
        """Processes with these values of the parameters, in SI."""


class ConstantForm(LossForm):
    """One rate for all sizes."""

    name = "constant"
    parameters = (Parameter("rate", "s^-1", 1.0, 2.0),)

    @staticmethod
    def processes(values: dict[str, float], air: Environment, density: float) -> tuple[Process, ...]:
        """A constant loss."""
        return (FirstOrderLoss(ConstantLoss(values["rate"])),)


class PowerLawForm(LossForm):
    """rate + slope (D / 100 nm)^exponent."""

    name = "power-law"
    parameters = (
        Parameter("rate", "s^-1", 0.8, 2.0),
        Parameter("slope", "s^-1", 0.2, 2.0),
        Parameter("exponent", "1", -1.0, 0.7, is_positive=False),
    )

    @staticmethod
    def processes(values: dict[str, float], air: Environment, density: float) -> tuple[Process, ...]:
        """A loss by a power law."""
        return (FirstOrderLoss(PowerLawLoss(values["rate"], values["slope"], values["exponent"])),)


class EddyForm(LossForm):
    """Dilution, and loss to the wall of a stirred sphere after Crump and Seinfeld (1981)."""

    name = "eddy"
    parameters = (
        Parameter("dilution", "s^-1", 0.8, 2.0),
        Parameter("eddy_coefficient", "s^-1", 0.1, 2.0),
        Parameter("radius", "m", 0.5, 1.0),
    )

    @staticmethod
    def processes(values: dict[str, float], air: Environment, density: float) -> tuple[Process, ...]:
        """Dilution and loss to a wall."""
        wall: LossLaw = EddyDiffusionSphere(values["eddy_coefficient"], values["radius"], density)
        return (Dilution(values["dilution"]), FirstOrderLoss(wall, air))


FORMS: dict[str, type[LossForm]] = {form.name: form for form in (ConstantForm, PowerLawForm, EddyForm)}
"""Laws by the name that the command takes."""

RATES = ("rate", "slope", "dilution")
"""Parameters whose guess is a multiple of the decay seen in the window."""


@dataclass(frozen=True, eq=False)
class CalibratedLoss:
    """A law, its numbers and how well they are known.

    Attributes:
        law: Name of the law, a key of `FORMS`.
        values: Parameters by name, in SI; `enhancement` among them multiplies the coagulation kernel.
        names: Parameters that were calibrated, in the order of the covariance.
        covariance: Covariance of the calibrated parameters, of the logarithms of the positive ones [1],
            shape [names, names].
        window: First and last scan that it was calibrated on, as text; empty where it was given.
        source: File that it was calibrated on.

    Raises:
        ValueError: The law is not known, or a parameter is missing, unknown or out of range.
    """

    law: str
    values: dict[str, float]
    names: tuple[str, ...] = ()
    covariance: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    window: tuple[str, str] = ("", "")
    source: str = ""

    def __post_init__(self) -> None:
        if self.law not in FORMS:
            raise ValueError(f"law: expected one of {', '.join(FORMS)}, got {self.law!r}")
        known = {parameter.name for parameter in self.form.parameters}
        missing, extra = known - set(self.values), set(self.values) - known - {ENHANCEMENT}
        if missing or extra:
            raise ValueError(
                f"{self.law}: its parameters are {', '.join(sorted(known))}; "
                + "; ".join([f"{n} is missing" for n in sorted(missing)] + [f"{n} is none" for n in sorted(extra)])
            )
        for name, value in self.values.items():
            if not np.isfinite(value) or (self.is_positive(name) and value < 0.0):
                raise ValueError(
                    f"{name}: expected a finite number{', not negative' * self.is_positive(name)}, got {value}"
                )
        covariance = np.array(self.covariance, dtype=np.float64)
        if covariance.shape != (len(self.names),) * 2 or not np.all(np.isfinite(covariance)):
            raise ValueError(f"covariance: expected shape [{len(self.names)}, {len(self.names)}]")
        if any(name not in self.values for name in self.names):
            raise ValueError("names: expected names of parameters")
        object.__setattr__(self, "covariance", covariance)

    @property
    def form(self) -> type[LossForm]:
        """The law."""
        return FORMS[self.law]

    @property
    def enhancement(self) -> float:
        """Factor on the coagulation kernel [1]."""
        return self.values.get(ENHANCEMENT, 1.0)

    def is_positive(self, name: str) -> bool:
        """Whether a parameter is positive, and calibrated in its logarithm."""
        return all(p.is_positive for p in self.form.parameters if p.name == name)

    def coordinates(self) -> Floats:
        """Calibrated parameters, positive ones as logarithms, shape [names]."""
        return np.array([np.log(self.values[n]) if self.is_positive(n) else self.values[n] for n in self.names])

    def at(self, coordinates: Floats) -> CalibratedLoss:
        """The law at other `coordinates`."""
        values = dict(self.values)
        for name, value in zip(self.names, coordinates, strict=True):
            values[name] = float(np.exp(value)) if self.is_positive(name) else float(value)
        return replace(self, values=values)

    def variations(self, share: float) -> list[CalibratedLoss]:
        """The law moved by a `share` of a standard deviation along each principal direction of its covariance."""
        if not self.names:
            return []
        sizes, directions = np.linalg.eigh(self.covariance)
        steps = share * directions * np.sqrt(np.maximum(sizes, 0.0))
        return [self.at(self.coordinates() + step) for step in steps.T if np.any(step != 0.0)]

    def processes(self, air: Environment, density: float) -> tuple[Process, ...]:
        """The loss processes."""
        return self.form.processes(self.values, air, density)

    def rates(self, grid: SizeGrid, air: Environment, density: float) -> Floats:
        """Loss rate of each bin [s^-1], shape [bins]."""
        removal: Floats = np.zeros(grid.bins)
        for process in self.processes(air, density):
            removal = removal + process.terms(grid).removal
        return np.atleast_2d(removal)[0]
