"""Containers of particula's data-oriented form, taken in and given back by their attributes alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol._checks import check_positive
from retrograde.aerosol._device import wp
from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.states import Environment, SectionalState, check_concentrations

Floats = NDArray[np.float64]
Container = TypeVar("Container")


class ParticleFields(Protocol):
    """Attributes read from a `ParticleData`-like object.

    Attributes:
        masses: Species masses of each particle or bin [kg], shape [boxes, particles, species].
        concentration: Particles in the box's volume, shape [boxes, particles]; number concentration
            [m^-3] where the volume is 1.
        density: Densities of the species [kg m^-3], shape [species].
        volume: Air volume of each box [m^3], shape [boxes].
    """

    masses: Any
    concentration: Any
    density: Any
    volume: Any


class EnvironmentFields(Protocol):
    """Attributes read from an `EnvironmentData`-like object.

    Attributes:
        temperature: Temperature [K], shape [boxes].
        pressure: Pressure [Pa], shape [boxes].
    """

    temperature: Any
    pressure: Any


def sectional_from_particula(
    data: ParticleFields, grid: SizeGrid | None = None, *, dtype: Any = wp.float64, device: Any = None
) -> SectionalState:
    """Sectional state of particles or bins; empty slots, of no mass and no concentration, are passed over.

    Args:
        data: Object with the attributes of `ParticleFields`.
        grid: Size bins. Each particle is shared between the two pivots around its volume so that number
            and volume are both kept. None for binned data whose volumes are the same in all boxes and
            increase: they become the pivots.
        dtype: Storage, `wp.float64` or `wp.float32`.
        device: Warp device; the current default if None.

    Raises:
        ValueError: Shapes disagree, a value is negative or not finite, particles lie outside the
            grid's pivots, or, without a grid, the volumes do not make one.
    """
    volumes, number = _volumes_and_numbers(data)
    if grid is None:
        if not np.allclose(volumes, volumes[:1], rtol=1e-12, atol=0.0):
            raise ValueError("masses [kg]: the boxes hold particles of different volumes; give a grid to put them on")
        return SectionalState.from_numpy(number, SizeGrid.from_volumes(volumes[0]), dtype=dtype, device=device)
    return SectionalState.from_numpy(_split(volumes, number, grid), grid, dtype=dtype, device=device)


def sectional_to_particula(state: SectionalState, density: float, container: Callable[..., Container]) -> Container:
    """The state as binned data of one species.

    Args:
        state: Sectional state.
        density: Density of the particles [kg m^-3].
        container: Called with `masses`, `concentration`, `charge`, `density` and `volume`; particula's
            `ParticleData`, or `dict`.
    """
    check_positive("density", density, "kg m^-3")
    masses = np.broadcast_to(state.grid.masses(density)[None, :, None], (state.boxes, state.bins, 1)).copy()
    number = state.numpy()
    return container(
        masses=masses,
        concentration=number,
        charge=np.zeros_like(number),
        density=np.array([density]),
        volume=np.ones(state.boxes),
    )


def environment_from_particula(data: EnvironmentFields) -> Environment:
    """Environment of an `EnvironmentData`-like object; its saturation ratios are not kept."""
    return Environment(np.asarray(data.temperature), np.asarray(data.pressure))


def environment_to_particula(
    environment: Environment, saturation_ratio: Any, container: Callable[..., Container]
) -> Container:
    """The environment with given saturation ratios [1], shape [boxes, species].

    Args:
        environment: Environment.
        saturation_ratio: Saturation ratios [1], shape [boxes, species].
        container: Called with `temperature`, `pressure` and `saturation_ratio`; particula's
            `EnvironmentData`, or `dict`.

    Raises:
        ValueError: The saturation ratios are not of shape [boxes, species].
    """
    ratios = np.array(saturation_ratio, dtype=np.float64)
    if ratios.ndim != 2 or ratios.shape[0] != environment.boxes:
        raise ValueError(
            f"saturation_ratio [1]: expected shape [boxes, species] with {environment.boxes} boxes, "
            f"got {list(ratios.shape)}"
        )
    return container(
        temperature=environment.temperature.copy(), pressure=environment.pressure.copy(), saturation_ratio=ratios
    )


def check_fields(data: ParticleFields) -> None:
    """Raise a ValueError unless the attributes have shapes and values as `ParticleFields` describes."""
    masses = np.asarray(data.masses, dtype=np.float64)
    concentration = np.asarray(data.concentration, dtype=np.float64)
    density = np.asarray(data.density, dtype=np.float64)
    volume = np.asarray(data.volume, dtype=np.float64)
    if masses.ndim != 3:
        raise ValueError(f"masses [kg]: expected shape [boxes, particles, species], got {list(masses.shape)}")
    for name, unit, array, expected in (
        ("concentration", "1", concentration, masses.shape[:2]),
        ("density", "kg m^-3", density, masses.shape[2:]),
        ("volume", "m^3", volume, masses.shape[:1]),
    ):
        if array.shape != expected:
            raise ValueError(f"{name} [{unit}]: expected shape {list(expected)} to fit masses, got {list(array.shape)}")
    for name, unit, array in (("density", "kg m^-3", density), ("volume", "m^3", volume)):
        if not (np.isfinite(array).all() and (array > 0).all()):
            raise ValueError(f"{name} [{unit}]: expected finite positive values")
    check_concentrations("masses", masses, "[kg]")
    check_concentrations("concentration", concentration, "[1]")


def _volumes_and_numbers(data: ParticleFields) -> tuple[Floats, Floats]:
    """Particle volumes [m^3] and number concentrations [m^-3], both of shape [boxes, particles]."""
    check_fields(data)
    masses, density = np.asarray(data.masses, dtype=np.float64), np.asarray(data.density, dtype=np.float64)
    concentration, volume = np.asarray(data.concentration, dtype=np.float64), np.asarray(data.volume, dtype=np.float64)
    return (masses / density).sum(axis=2), concentration / volume[:, None]


def _split(volumes: Floats, number: Floats, grid: SizeGrid) -> Floats:
    """Numbers on the pivots of a grid [m^-3], shape [boxes, bins]."""
    boxes = np.nonzero(number > 0)[0]
    v, n = volumes[number > 0], number[number > 0]
    pivots = grid.volumes
    slack = 1e-12
    outside = (v < pivots[0] * (1 - slack)) | (v > pivots[-1] * (1 + slack))
    if outside.any():
        raise ValueError(
            f"masses [kg]: {int(outside.sum())} particles lie outside the pivots {pivots[0]:g} to {pivots[-1]:g} m^3, "
            f"the first with {v[outside][0]:g} m^3"
        )
    low = np.clip(np.searchsorted(pivots, v, side="right") - 1, 0, max(grid.bins - 2, 0))
    high = np.minimum(low + 1, grid.bins - 1)
    gap = np.where(high > low, pivots[high] - pivots[low], 1.0)
    share = np.clip((v - pivots[low]) / gap, 0.0, 1.0)
    result = np.zeros((number.shape[0], grid.bins))
    np.add.at(result, (boxes, low), n * (1.0 - share))
    np.add.at(result, (boxes, high), n * share)
    return result
