"""First-order loss rates by size: laws that a process applies to a state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol._checks import check_not_negative, check_positive
from retrograde.aerosol._device import WarpArray, launch, new_zeros, to_device, wp
from retrograde.aerosol.constants import DEFAULT_DENSITY
from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.physics._loss_rates import fill_box, fill_power_law, fill_sphere
from retrograde.aerosol.physics.crump_seinfeld1981 import box_loss_rate, sphere_loss_rate
from retrograde.aerosol.physics.particle_transport import particle_transport
from retrograde.aerosol.physics.power_law_loss import power_law_loss_rate
from retrograde.aerosol.states import Environment

Floats = NDArray[np.float64]


class LossLaw(ABC):
    """Rate at which particles of every bin are lost."""

    @property
    def depends_on_environment(self) -> bool:
        """Whether different environments have different rates."""
        return False

    def rates(self, grid: SizeGrid, environment: Environment | None = None, *, device: Any = None) -> WarpArray:
        """Loss rates on the device, float64.

        Args:
            grid: Size bins; the law is taken at the pivots.
            environment: Environments, one row of rates for each. Ignored by laws that do not depend
                on it, which give one row.
            device: Warp device; the current default if None.

        Returns:
            First-order rates [s^-1], shape [environments, bins].

        Raises:
            ValueError: The law depends on the environment and none was given, or does not cover the grid.
        """
        return self._rates(grid, self._air(environment), device)

    def rates_numpy(self, grid: SizeGrid, environment: Environment | None = None) -> Floats:
        """Host twin of `rates`, computed by the host formulae."""
        return self._rates_numpy(grid, self._air(environment))

    def for_boxes(self, grid: SizeGrid, environment: Environment) -> Floats:
        """The rates as a loss process takes them: shared where all boxes may share them.

        Args:
            grid: Size bins.
            environment: Environment of every box.

        Returns:
            First-order rates [s^-1], shape [bins] if they are the same in all boxes, otherwise
            [boxes, bins].
        """
        if not self.depends_on_environment:
            return self.rates_numpy(grid)[0]
        distinct, index = environment.distinct()
        rates = self.rates_numpy(grid, distinct)
        return rates[0] if len(rates) == 1 else rates[index]

    def _rates(self, grid: SizeGrid, air: Environment, device: Any) -> WarpArray:
        return to_device(self._rates_numpy(grid, air), device=device)

    @abstractmethod
    def _rates_numpy(self, grid: SizeGrid, air: Environment) -> Floats: ...

    def _air(self, environment: Environment | None) -> Environment:
        if not self.depends_on_environment:
            return Environment.uniform(1)
        if environment is None:
            raise ValueError("environment: this law depends on temperature [K] and pressure [Pa]; none were given")
        return environment


@dataclass(frozen=True)
class ConstantLoss(LossLaw):
    """One rate for all sizes.

    Attributes:
        rate: First-order rate [s^-1].
    """

    rate: float

    def __post_init__(self) -> None:
        check_not_negative("rate", self.rate, "s^-1")

    def _rates_numpy(self, grid: SizeGrid, air: Environment) -> Floats:
        return np.full((1, grid.bins), self.rate)


@dataclass(frozen=True)
class PowerLawLoss(LossLaw):
    """rate + slope (D / reference_diameter)^exponent.

    Attributes:
        rate: Part that does not depend on size [s^-1].
        slope: Part that does, at the reference diameter [s^-1].
        exponent: Power of the diameter; negative where small particles are lost faster [1].
        reference_diameter: Diameter at which the two parts add up plainly [m].
    """

    rate: float
    slope: float
    exponent: float
    reference_diameter: float = 100e-9

    def __post_init__(self) -> None:
        check_not_negative("rate", self.rate, "s^-1")
        check_not_negative("slope", self.slope, "s^-1")
        check_positive("reference_diameter", self.reference_diameter, "m")
        if not np.isfinite(self.exponent):
            raise ValueError(f"exponent [1]: expected a finite number, got {self.exponent}")

    def _rates(self, grid: SizeGrid, air: Environment, device: Any) -> WarpArray:
        out = new_zeros((1, grid.bins), device=device)
        parameters = [self.rate, self.slope, self.exponent, self.reference_diameter]
        inputs = [to_device(grid.diameters, device=device), *(wp.float64(p) for p in parameters)]
        launch(fill_power_law, (1, grid.bins), inputs, [out], device)
        return out

    def _rates_numpy(self, grid: SizeGrid, air: Environment) -> Floats:
        rates = power_law_loss_rate(grid.diameters, self.rate, self.slope, self.exponent, self.reference_diameter)
        return rates[None]


class _EddyDiffusionLoss(LossLaw):
    @property
    def depends_on_environment(self) -> bool:
        """True: diffusivity and settling depend on the air."""
        return True


@dataclass(frozen=True)
class EddyDiffusionSphere(_EddyDiffusionLoss):
    """Loss to the wall of a stirred sphere: Crump and Seinfeld (1981).

    Attributes:
        eddy_coefficient: Coefficient of the eddy diffusivity near the wall [s^-1].
        radius: Radius [m].
        density: Particle density [kg m^-3].
    """

    eddy_coefficient: float
    radius: float
    density: float = DEFAULT_DENSITY

    def __post_init__(self) -> None:
        check_positive("eddy_coefficient", self.eddy_coefficient, "s^-1")
        check_positive("radius", self.radius, "m")
        check_positive("density", self.density, "kg m^-3")

    def _rates(self, grid: SizeGrid, air: Environment, device: Any) -> WarpArray:
        return _fill_eddy(fill_sphere, grid, air, self.density, [self.eddy_coefficient, self.radius], device)

    def _rates_numpy(self, grid: SizeGrid, air: Environment) -> Floats:
        diffusivity, settling = _movement(grid, air, self.density)
        return sphere_loss_rate(diffusivity, settling, self.eddy_coefficient, self.radius)


@dataclass(frozen=True)
class EddyDiffusionBox(_EddyDiffusionLoss):
    """Loss to the walls of a stirred rectangular box: Crump and Seinfeld (1981).

    Attributes:
        eddy_coefficient: Coefficient of the eddy diffusivity near the walls [s^-1].
        length: Horizontal side [m].
        width: Horizontal side [m].
        height: Height [m].
        density: Particle density [kg m^-3].
    """

    eddy_coefficient: float
    length: float
    width: float
    height: float
    density: float = DEFAULT_DENSITY

    def __post_init__(self) -> None:
        check_positive("eddy_coefficient", self.eddy_coefficient, "s^-1")
        for name in ("length", "width", "height"):
            check_positive(name, getattr(self, name), "m")
        check_positive("density", self.density, "kg m^-3")

    def _rates(self, grid: SizeGrid, air: Environment, device: Any) -> WarpArray:
        parameters = [self.eddy_coefficient, self.length, self.width, self.height]
        return _fill_eddy(fill_box, grid, air, self.density, parameters, device)

    def _rates_numpy(self, grid: SizeGrid, air: Environment) -> Floats:
        diffusivity, settling = _movement(grid, air, self.density)
        return box_loss_rate(diffusivity, settling, self.eddy_coefficient, self.length, self.width, self.height)


@dataclass(frozen=True, eq=False)
class TableLoss(LossLaw):
    """Measured rates, interpolated linearly in ln D; sizes outside the table are refused.

    Attributes:
        diameters: Diameters of the table, strictly increasing [m], shape [entries].
        values: First-order rates there [s^-1], shape [entries].
    """

    diameters: Floats
    values: Floats

    def __post_init__(self) -> None:
        diameters = np.array(self.diameters, dtype=np.float64)
        values = np.array(self.values, dtype=np.float64)
        if diameters.ndim != 1 or diameters.shape != values.shape or diameters.size < 2:
            raise ValueError(
                "diameters [m], values [s^-1]: expected one shape [entries] with at least 2 entries, "
                f"got {list(diameters.shape)} and {list(values.shape)}"
            )
        if not (np.isfinite(diameters).all() and (diameters > 0).all() and (np.diff(diameters) > 0).all()):
            raise ValueError("diameters [m]: expected finite positive strictly increasing values")
        if not (np.isfinite(values).all() and (values >= 0).all()):
            raise ValueError("values [s^-1]: expected finite values, none negative")
        for name, array in (("diameters", diameters), ("values", values)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def _rates_numpy(self, grid: SizeGrid, air: Environment) -> Floats:
        d = grid.diameters
        low, high = self.diameters[0] * (1 - 1e-12), self.diameters[-1] * (1 + 1e-12)
        if d[0] < low or d[-1] > high:
            raise ValueError(
                f"diameters [m]: the table covers {low:.4g} to {high:.4g} m, the grid {d[0]:.4g} to {d[-1]:.4g} m"
            )
        return np.interp(np.log(d), np.log(self.diameters), self.values)[None]


def dilution_rate(flow: float, volume: float) -> float:
    """First-order dilution rate [s^-1] of a well-mixed `volume` [m^3] flushed by a clean `flow` [m^3 s^-1]."""
    check_not_negative("flow", flow, "m^3 s^-1")
    check_positive("volume", volume, "m^3")
    return flow / volume


def _movement(grid: SizeGrid, air: Environment, density: float) -> tuple[Floats, Floats]:
    moves = particle_transport(grid.diameters[None], air.temperature[:, None], air.pressure[:, None], density)
    return moves.diffusivity, moves.settling_velocity


def _fill_eddy(
    kernel: Any, grid: SizeGrid, air: Environment, density: float, parameters: list[float], device: Any
) -> WarpArray:
    out = new_zeros((air.boxes, grid.bins), device=device)
    arrays = [to_device(a, device=device) for a in (grid.diameters, air.temperature, air.pressure)]
    inputs = [*arrays, wp.float64(density), *(wp.float64(p) for p in parameters)]
    launch(kernel, (air.boxes, grid.bins), inputs, [out], device)
    return out
