"""Coagulation kernels as matrices over a size grid, one matrix for each different environment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol._checks import check_positive
from retrograde.aerosol._device import WarpArray, launch, new_zeros, to_device, wp
from retrograde.aerosol.constants import DEFAULT_DENSITY
from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.physics._kernel_matrix import fill_additive, fill_brownian, fill_constant, fill_product
from retrograde.aerosol.physics.fuchs1964 import SQRT2, fuchs_kernel
from retrograde.aerosol.physics.smoluchowski_kernels import additive_kernel, constant_kernel, product_kernel
from retrograde.aerosol.states import Environment

Floats = NDArray[np.float64]


class JoiningForm(Enum):
    """The two forms of Fuchs' kernel in use; the value is the factor on the joining distance."""

    FUCHS = SQRT2
    """With the square root of two, as Fuchs and textbooks have it: the default."""
    WITHOUT_ROOT = 1.0
    """Without it, as some models have it: some 5 % smaller where the two regimes meet."""


class CoagulationKernel(ABC):
    """Rate constant of coagulation for every pair of bins."""

    @property
    def depends_on_environment(self) -> bool:
        """Whether different environments have different matrices."""
        return False

    def matrix(self, grid: SizeGrid, environment: Environment | None = None, *, device: Any = None) -> WarpArray:
        """Symmetric kernel matrices on the device, float64.

        Args:
            grid: Size bins; the kernel is taken at the pivots.
            environment: Environments, one matrix for each; pass `Environment.distinct()[0]` to
                compute every different one once, or use `for_boxes`. Ignored by kernels that do not
                depend on it, which give one matrix.
            device: Warp device; the current default if None.

        Returns:
            Rate constants [m^3 s^-1], shape [environments, bins, bins].

        Raises:
            ValueError: The kernel depends on the environment and none was given.
        """
        return self._matrix(grid, self._air(environment), device)

    def matrix_numpy(self, grid: SizeGrid, environment: Environment | None = None) -> Floats:
        """Host twin of `matrix`, computed by the host formulae."""
        return self._matrix_numpy(grid, self._air(environment))

    def for_boxes(self, grid: SizeGrid, environment: Environment) -> Floats:
        """The kernel as coagulation processes take it: shared where all boxes may share it.

        Args:
            grid: Size bins.
            environment: Environment of every box.

        Returns:
            Rate constants [m^3 s^-1], shape [bins, bins] if they are the same in all boxes, otherwise
            [boxes, bins, bins], computed once for every different environment.
        """
        if not self.depends_on_environment:
            return self.matrix_numpy(grid)[0]
        distinct, index = self._share(environment)
        matrices = self.matrix_numpy(grid, distinct)
        return matrices[0] if len(matrices) == 1 else matrices[index]

    @abstractmethod
    def _matrix(self, grid: SizeGrid, air: Environment, device: Any) -> WarpArray: ...

    @abstractmethod
    def _matrix_numpy(self, grid: SizeGrid, air: Environment) -> Floats: ...

    def _share(self, environment: Environment) -> tuple[Environment, NDArray[np.int32]]:
        return environment.distinct()

    def _air(self, environment: Environment | None) -> Environment:
        if not self.depends_on_environment:
            return Environment.uniform(1)
        if environment is None:
            raise ValueError("environment: this kernel depends on temperature [K] and pressure [Pa]; none were given")
        return environment


@dataclass(frozen=True)
class BrownianKernel(CoagulationKernel):
    """Brownian coagulation after Fuchs (1964), every encounter sticking.

    Attributes:
        density: Particle density [kg m^-3].
        form: With Fuchs' square root of two, the default, or without.
    """

    density: float = DEFAULT_DENSITY
    form: JoiningForm = JoiningForm.FUCHS

    @property
    def depends_on_environment(self) -> bool:
        """True."""
        return True

    def __post_init__(self) -> None:
        check_positive("density", self.density, "kg m^-3")

    def _matrix(self, grid: SizeGrid, air: Environment, device: Any) -> WarpArray:
        matrix = new_zeros((air.boxes, grid.bins, grid.bins), device=device)
        inputs = [
            to_device(grid.diameters, device=device),
            to_device(air.temperature, device=device),
            to_device(air.pressure, device=device),
            wp.float64(self.density),
            wp.float64(self.form.value),
        ]
        launch(fill_brownian, (air.boxes, grid.bins, grid.bins), inputs, [matrix], device)
        return matrix

    def _matrix_numpy(self, grid: SizeGrid, air: Environment) -> Floats:
        return fuchs_kernel(
            grid.diameters[:, None],
            grid.diameters[None, :],
            air.temperature[:, None, None],
            air.pressure[:, None, None],
            self.density,
            self.form.value,
        )


@dataclass(frozen=True)
class ConstantKernel(CoagulationKernel):
    """One rate constant for every pair.

    Attributes:
        rate: Rate constant [m^3 s^-1].
    """

    rate: float

    def __post_init__(self) -> None:
        check_positive("rate", self.rate, "m^3 s^-1")

    def _matrix(self, grid: SizeGrid, air: Environment, device: Any) -> WarpArray:
        return _fill(fill_constant, grid, self.rate, device)

    def _matrix_numpy(self, grid: SizeGrid, air: Environment) -> Floats:
        return constant_kernel(grid.volumes[None, :, None], grid.volumes[None, None, :], self.rate)


@dataclass(frozen=True)
class AdditiveKernel(CoagulationKernel):
    """Kernel proportional to the sum of the volumes, after Golovin (1963).

    Attributes:
        slope: Rate constant per volume [s^-1].
    """

    slope: float

    def __post_init__(self) -> None:
        check_positive("slope", self.slope, "s^-1")

    def _matrix(self, grid: SizeGrid, air: Environment, device: Any) -> WarpArray:
        return _fill(fill_additive, grid, self.slope, device)

    def _matrix_numpy(self, grid: SizeGrid, air: Environment) -> Floats:
        return additive_kernel(grid.volumes[None, :, None], grid.volumes[None, None, :], self.slope)


@dataclass(frozen=True)
class ProductKernel(CoagulationKernel):
    """Kernel proportional to the product of the volumes; it gels in finite time.

    Attributes:
        coefficient: Rate constant per product of volumes [m^-3 s^-1].
    """

    coefficient: float

    def __post_init__(self) -> None:
        check_positive("coefficient", self.coefficient, "m^-3 s^-1")

    def _matrix(self, grid: SizeGrid, air: Environment, device: Any) -> WarpArray:
        return _fill(fill_product, grid, self.coefficient, device)

    def _matrix_numpy(self, grid: SizeGrid, air: Environment) -> Floats:
        return product_kernel(grid.volumes[None, :, None], grid.volumes[None, None, :], self.coefficient)


@dataclass(frozen=True, eq=False)
class TableKernel(CoagulationKernel):
    """Any symmetric table over the bins of one grid.

    Attributes:
        values: Rate constants [m^3 s^-1], shape [bins, bins], or [environments, bins, bins] with one
            table for every box.

    Raises:
        ValueError: The table is not square, not symmetric to 1e-12 relative, negative or not finite;
            or, from `matrix`, it does not fit the grid or the number of boxes.
    """

    values: Floats

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=np.float64)
        if values.ndim not in (2, 3) or values.shape[-1] != values.shape[-2]:
            raise ValueError(
                "values [m^3 s^-1]: expected shape [bins, bins] or [environments, bins, bins], "
                f"got {list(values.shape)}"
            )
        if not (np.isfinite(values).all() and (values >= 0).all()):
            raise ValueError("values [m^3 s^-1]: expected finite values, none negative")
        transposed = np.swapaxes(values, -1, -2)
        if not np.allclose(values, transposed, rtol=1e-12, atol=0):
            raise ValueError("values [m^3 s^-1]: expected a symmetric table")
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    @property
    def depends_on_environment(self) -> bool:
        """Whether there is one table for every box."""
        return self.values.ndim == 3

    def _share(self, environment: Environment) -> tuple[Environment, NDArray[np.int32]]:
        return environment, np.arange(environment.boxes, dtype=np.int32)

    def _matrix(self, grid: SizeGrid, air: Environment, device: Any) -> WarpArray:
        return to_device(self._matrix_numpy(grid, air), device=device)

    def _matrix_numpy(self, grid: SizeGrid, air: Environment) -> Floats:
        if self.values.shape[-1] != grid.bins:
            raise ValueError(
                f"values [m^3 s^-1]: expected {grid.bins} bins as on the grid, got {self.values.shape[-1]}"
            )
        if self.values.ndim == 2:
            return self.values[None]
        if air.boxes != self.values.shape[0]:
            raise ValueError(
                f"values [m^3 s^-1]: expected {air.boxes} tables, one for each environment, got {self.values.shape[0]}"
            )
        return self.values


def _fill(kernel: Any, grid: SizeGrid, factor: float, device: Any) -> WarpArray:
    matrix = new_zeros((1, grid.bins, grid.bins), device=device)
    inputs = [to_device(grid.volumes, device=device), wp.float64(factor)]
    launch(kernel, (1, grid.bins, grid.bins), inputs, [matrix], device)
    return matrix
