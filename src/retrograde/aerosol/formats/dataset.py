"""States as xarray datasets with CF names, units and bounds, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from retrograde.aerosol._device import wp
from retrograde.aerosol.formats.units import SpectrumKind, concentration_factor, length_factor
from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.states import Environment, SectionalState

Floats = NDArray[np.float64]

NUMBER_NAME = "number_concentration_of_ambient_aerosol_particles_in_air"
"""CF standard name of the number in each bin."""


def to_xarray(state: SectionalState, environment: Environment | None = None) -> xr.Dataset:
    """Dataset with `number_concentration` [m-3] over (box, size), its grid and, if given, the environment.

    Raises:
        ValueError: State and environment have different numbers of boxes.
    """
    if environment is not None and environment.boxes != state.boxes:
        raise ValueError(f"environment: expected {state.boxes} boxes as in the state, got {environment.boxes}")
    dataset = series_to_xarray(state.numpy(), state.grid)
    if environment is None:
        return dataset
    air = {
        "air_temperature": ("box", environment.temperature, {"units": "K", "standard_name": "air_temperature"}),
        "air_pressure": ("box", environment.pressure, {"units": "Pa", "standard_name": "air_pressure"}),
    }
    return dataset.assign(air)


def series_to_xarray(number: Floats, grid: SizeGrid, times: Any | None = None) -> xr.Dataset:
    """Dataset of numbers [m-3], shape [boxes, bins] or, with `times` [s] of shape [times], [times, boxes, bins].

    Raises:
        ValueError: The shape of `number` does not fit.
    """
    dims = ("box", "size") if times is None else ("time", "box", "size")
    if number.ndim != len(dims) or number.shape[-1] != grid.bins:
        raise ValueError(f"number [m^-3]: expected shape {list(dims)} with {grid.bins} sizes, got {list(number.shape)}")
    coordinates: dict[str, Any] = {
        "particle_volume": (
            "size",
            grid.volumes,
            {"units": "m3", "long_name": "volume of the particles of a bin", "bounds": "particle_volume_bounds"},
        ),
        "diameter": ("size", grid.diameters, {"units": "m", "long_name": "diameter of the sphere of that volume"}),
    }
    if times is not None:
        coordinates["time"] = ("time", np.asarray(times, dtype=np.float64), {"units": "s", "long_name": "time"})
    bounds = np.stack([grid.edges[:-1], grid.edges[1:]], axis=1)
    attributes = {"units": "m-3", "standard_name": NUMBER_NAME, "long_name": "number concentration in each bin"}
    variables: dict[str, Any] = {
        "number_concentration": (dims, number, attributes),
        "particle_volume_bounds": (("size", "bound"), bounds),
    }
    return xr.Dataset(variables, coordinates, {"Conventions": "CF-1.11"})


def from_xarray(
    dataset: xr.Dataset,
    variable: str = "number_concentration",
    *,
    kind: SpectrumKind = SpectrumKind.PER_BIN,
    dtype: Any = wp.float64,
    device: Any = None,
) -> SectionalState:
    """State from a dataset over (box, size), or over size alone for one box.

    The grid comes from `particle_volume` and its bounds if they are there, otherwise from `diameter`.

    Args:
        dataset: Dataset; the variable and the diameters must carry a `units` attribute.
        variable: Name of the variable that holds the numbers.
        kind: What the variable counts.
        dtype: Storage, `wp.float64` or `wp.float32`.
        device: Warp device; the current default if None.

    Raises:
        ValueError: A variable, a dimension or a unit is missing or unknown, or values are negative,
            not finite or not increasing.
    """
    if variable not in dataset:
        raise ValueError(f"{variable}: no such variable; there are {', '.join(map(str, dataset.data_vars))}")
    array = dataset[variable]
    if "size" not in array.dims or not set(array.dims) <= {"box", "size"}:
        raise ValueError(
            f"{variable}: expected dimensions (box, size) or (size), got {array.dims}; "
            "choose one time with .isel(time=...), rename the size dimension with .rename(...)"
        )
    factor = concentration_factor(_units(array))
    grid = _grid(dataset)
    values = np.asarray(array.transpose(..., "size").values, dtype=np.float64) * factor
    return SectionalState.from_numpy(values * kind.widths(grid), grid, dtype=dtype, device=device)


def environment_from_xarray(dataset: xr.Dataset) -> Environment:
    """Environment from `air_temperature` [K] and `air_pressure` [Pa] over box.

    Raises:
        ValueError: A variable is missing or in another unit, or its values are out of bounds.
    """
    values: list[Floats] = []
    for name, unit in (("air_temperature", "K"), ("air_pressure", "Pa")):
        if name not in dataset:
            raise ValueError(f"{name} [{unit}]: no such variable")
        if _units(dataset[name]) != unit:
            raise ValueError(f"{name}: expected units {unit}, got {_units(dataset[name])}")
        values.append(np.atleast_1d(np.asarray(dataset[name].values, dtype=np.float64)))
    return Environment(values[0], values[1])


def _grid(dataset: xr.Dataset) -> SizeGrid:
    if "particle_volume" in dataset.variables:
        volumes = dataset["particle_volume"]
        if _units(volumes) != "m3":
            raise ValueError(f"particle_volume: expected units m3, got {_units(volumes)}")
        bounds = dataset.variables.get("particle_volume_bounds")
        edges = None if bounds is None else np.append(bounds.values[:, 0], bounds.values[-1, 1])
        return SizeGrid.from_volumes(volumes.values, edges)
    if "diameter" in dataset.variables:
        diameters = dataset["diameter"]
        return SizeGrid.from_diameters(np.asarray(diameters.values) * length_factor(_units(diameters)))
    raise ValueError("particle_volume [m3] or diameter [m]: neither is in the dataset")


def _units(array: xr.DataArray) -> str:
    units = array.attrs.get("units")
    if not isinstance(units, str):
        raise ValueError(f"{array.name}: it has no units attribute, and none is guessed")
    return units
