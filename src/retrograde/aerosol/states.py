"""States: what the air holds at one time, for many boxes at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol._device import (
    REALS,
    WarpArray,
    device_of,
    numpy_type,
    shape_of,
    to_device,
    to_host,
    type_of,
    wp,
)
from retrograde.aerosol.grids import SizeGrid

Floats = NDArray[np.float64]

TEMPERATURE_BOUNDS = (100.0, 2000.0)
"""Accepted temperatures [K]; degrees Celsius fall outside."""

PRESSURE_BOUNDS = (1e3, 1e7)
"""Accepted pressures [Pa]; kPa, atm and most values in hPa fall outside."""


@dataclass(frozen=True, eq=False)
class SectionalState:
    """Number concentration on size bins.

    The constructor takes device memory as it is and checks its shape and type only; the values
    are checked by `from_numpy`, which reads them anyway, and by `check_values`.

    Attributes:
        number: Number concentration of each bin [m^-3], shape [boxes, bins], float64 or float32.
        grid: Size bins.

    Raises:
        ValueError: `number` has another shape or type.
    """

    number: WarpArray
    grid: SizeGrid

    def __post_init__(self) -> None:
        shape = shape_of(self.number)
        if len(shape) != 2 or shape[1] != self.grid.bins:
            raise ValueError(
                f"number [m^-3]: expected shape [boxes, bins] with {self.grid.bins} bins on the grid, got {shape}"
            )
        if type_of(self.number) not in REALS:
            raise ValueError(f"number [m^-3]: expected float64 or float32, got {type_of(self.number)}")

    @classmethod
    def from_numpy(
        cls,
        number: Any,
        grid: SizeGrid,
        *,
        dtype: Any = wp.float64,
        device: Any = None,
        requires_grad: bool = False,
    ) -> SectionalState:
        """State from host values, copied.

        Args:
            number: Number concentration of each bin [m^-3], shape [boxes, bins], or [bins] for one box.
            grid: Size bins.
            dtype: Storage, `wp.float64` or `wp.float32`.
            device: Warp device; the current default if None.
            requires_grad: Whether the device array carries a gradient.

        Raises:
            ValueError: The shape does not fit the grid, or a value is negative, not finite, or too
                large for the storage.
        """
        values = np.asarray(number, dtype=np.float64)
        values = values[np.newaxis] if values.ndim == 1 else values
        if values.ndim != 2 or values.shape[1] != grid.bins or values.shape[0] == 0:
            raise ValueError(
                f"number [m^-3]: expected shape [boxes, bins] or [bins] with {grid.bins} bins on the grid, "
                f"got {list(np.shape(number))}"
            )
        if dtype not in REALS:
            raise ValueError(f"number [m^-3]: expected float64 or float32, got {dtype}")
        check_concentrations("number", values, "[m^-3]", limit=float(np.finfo(numpy_type(dtype)).max))
        return cls(to_device(values, dtype=dtype, device=device, requires_grad=requires_grad), grid)

    @classmethod
    def from_spectrum(
        cls,
        number_per_ln_diameter: Any,
        grid: SizeGrid,
        *,
        total: Any | None = None,
        dtype: Any = wp.float64,
        device: Any = None,
        requires_grad: bool = False,
    ) -> SectionalState:
        """State from a size spectrum dN/dlnD.

        Args:
            number_per_ln_diameter: dN/dlnD at the bins [m^-3], shape [boxes, bins] or [bins].
            grid: Size bins.
            total: Total number over the grid [m^-3], shape [boxes] or scalar, where it is known
                otherwise. A spectrum given per log10 D, or in cm^-3, is then recognised and refused.
            dtype: Storage, `wp.float64` or `wp.float32`.
            device: Warp device; the current default if None.
            requires_grad: Whether the device array carries a gradient.

        Raises:
            ValueError: As `from_numpy`, or the spectrum does not add up to `total` within 20 %.
        """
        spectrum = np.asarray(number_per_ln_diameter, dtype=np.float64)
        if spectrum.ndim not in (1, 2) or spectrum.shape[-1] != grid.bins:
            raise ValueError(
                f"number_per_ln_diameter [m^-3]: expected shape [boxes, bins] or [bins] with {grid.bins} bins "
                f"on the grid, got {list(spectrum.shape)}"
            )
        check_concentrations("number_per_ln_diameter", spectrum, "[m^-3]")
        number = spectrum * grid.ln_widths
        if total is not None:
            _check_total(number.sum(axis=-1), np.asarray(total, dtype=np.float64))
        return cls.from_numpy(number, grid, dtype=dtype, device=device, requires_grad=requires_grad)

    @property
    def boxes(self) -> int:
        """Number of boxes."""
        return shape_of(self.number)[0]

    @property
    def bins(self) -> int:
        """Number of size bins."""
        return self.grid.bins

    @property
    def dtype(self) -> Any:
        """Warp scalar type of the storage."""
        return type_of(self.number)

    @property
    def device(self) -> Any:
        """Warp device of the storage."""
        return device_of(self.number)

    def numpy(self) -> Floats:
        """Number concentrations on the host [m^-3], shape [boxes, bins], always float64, copied."""
        return to_host(self.number)

    def spectrum(self) -> Floats:
        """dN/dlnD on the host [m^-3], shape [boxes, bins]."""
        return self.numpy() / self.grid.ln_widths

    def total_number(self) -> Floats:
        """Number concentration over all bins [m^-3], shape [boxes]."""
        return self.numpy().sum(axis=1)

    def total_volume(self) -> Floats:
        """Volume of particles per volume of air [m^3 m^-3], shape [boxes]."""
        return self.numpy() @ self.grid.volumes

    def moment(self, order: float) -> Floats:
        """Sum of number times pivot volume to the power `order` [m^(3 order - 3)], shape [boxes]."""
        return self.numpy() @ self.grid.volumes**order

    def with_number(self, number: WarpArray) -> SectionalState:
        """State on the same grid with other device memory."""
        return SectionalState(number, self.grid)

    def check_values(self) -> None:
        """Read the values back and raise a ValueError where one is negative or not finite."""
        check_concentrations("number", self.numpy(), "[m^-3]")

    def __repr__(self) -> str:
        kind = "float64" if self.dtype is wp.float64 else "float32"
        return f"SectionalState({self.boxes} boxes, {self.bins} bins, {kind}, {self.device})"


@dataclass(frozen=True, eq=False)
class Environment:
    """Air around the particles.

    Attributes:
        temperature: Temperature [K], shape [boxes], on the host.
        pressure: Pressure [Pa], shape [boxes], on the host.

    Raises:
        ValueError: A shape differs, or a value lies outside `TEMPERATURE_BOUNDS` or
            `PRESSURE_BOUNDS`, where another unit is the likely cause.
    """

    temperature: Floats
    pressure: Floats

    def __post_init__(self) -> None:
        temperature = _bounded("temperature", self.temperature, "K", TEMPERATURE_BOUNDS)
        pressure = _bounded("pressure", self.pressure, "Pa", PRESSURE_BOUNDS)
        if temperature.shape != pressure.shape:
            raise ValueError(
                f"pressure [Pa]: expected shape [boxes] = {list(temperature.shape)} like temperature, "
                f"got {list(pressure.shape)}"
            )
        object.__setattr__(self, "temperature", temperature)
        object.__setattr__(self, "pressure", pressure)

    @classmethod
    def uniform(cls, boxes: int, temperature: float = 298.15, pressure: float = 101325.0) -> Environment:
        """The same temperature [K] and pressure [Pa] in every box."""
        if boxes < 1:
            raise ValueError(f"boxes: expected at least 1, got {boxes}")
        return cls(np.full(boxes, temperature), np.full(boxes, pressure))

    @property
    def boxes(self) -> int:
        """Number of boxes."""
        return int(self.temperature.shape[0])

    def distinct(self) -> tuple[Environment, NDArray[np.int32]]:
        """The different environments, and for every box the index of its own [boxes].

        What depends on the environment alone is computed once for each of them.
        """
        rows = np.stack([self.temperature, self.pressure], axis=1)
        unique, index = np.unique(rows, axis=0, return_inverse=True)
        return Environment(unique[:, 0], unique[:, 1]), index.reshape(-1).astype(np.int32)


def check_concentrations(name: str, values: Floats, unit: str, limit: float = np.inf) -> None:
    """Raise a ValueError naming the first element that is negative, not finite, or above `limit`."""
    wrong = ~(np.isfinite(values) & (values >= 0) & (values <= limit))
    if not wrong.any():
        return
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    value = float(values[index])
    kind = "not finite" if not np.isfinite(value) else "negative" if value < 0 else "too large for its storage"
    raise ValueError(
        f"{name} {unit}: {int(wrong.sum())} of {values.size} values refused; the first, at index {list(index)} "
        f"of shape {list(values.shape)}, is {kind}: {value:g}"
    )


def _check_total(found: Floats, total: Floats) -> None:
    if total.shape not in ((), found.shape):
        raise ValueError(f"total [m^-3]: expected shape {list(found.shape)} or a scalar, got {list(total.shape)}")
    check_concentrations("total", np.atleast_1d(total), "[m^-3]")
    shown = np.atleast_1d(np.broadcast_to(total, found.shape))
    ratio = np.divide(np.atleast_1d(found), shown, out=np.ones_like(shown), where=shown > 0)
    wrong = np.flatnonzero(np.abs(ratio - 1.0) > 0.2)
    if not wrong.size:
        return
    box = int(wrong[0])
    cause = ""
    for factor, text in (
        (np.log(10.0), "it was given per log10 D"),
        (1e-6, "it was given in cm^-3"),
        (1e-6 * np.log(10.0), "it was given per log10 D and in cm^-3"),
    ):
        if abs(ratio[box] / factor - 1.0) <= 0.2:
            cause = f"; {text}, it seems"
    raise ValueError(f"number_per_ln_diameter [m^-3]: adds up to {ratio[box]:.4g} times the total of box {box}{cause}")


def _bounded(name: str, values: Any, unit: str, bounds: tuple[float, float]) -> Floats:
    array = np.array(values, dtype=np.float64)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} [{unit}]: expected shape [boxes], got {list(array.shape)}")
    low, high = bounds
    wrong = np.flatnonzero(~((array >= low) & (array <= high)))
    if wrong.size:
        raise ValueError(
            f"{name} [{unit}]: expected {low:g} to {high:g} {unit}, got {array[wrong[0]]:g} in box {wrong[0]}"
        )
    array.flags.writeable = False
    return array
