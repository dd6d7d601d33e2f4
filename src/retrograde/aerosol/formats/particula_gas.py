"""Gas of particula's form, taken in and given back by its attributes alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from retrograde.aerosol.states import check_concentrations

if TYPE_CHECKING:
    from retrograde.aerosol.composition.vapours import Vapour

Floats = NDArray[np.float64]
Container = TypeVar("Container")


class GasFields(Protocol):
    """Attributes read from a `GasData`-like object.

    Attributes:
        name: Names of the species, [species].
        molar_mass: Molar masses [kg mol^-1], shape [species].
        concentration: Concentrations [kg m^-3], shape [boxes, species].
        partitioning: Whether particles exchange each species, shape [species].
    """

    name: Any
    molar_mass: Any
    concentration: Any
    partitioning: Any


def gas_from_particula(data: GasFields, vapours: Sequence[Vapour]) -> Floats:
    """Concentrations of some vapours [kg m^-3], shape [boxes, vapours], as a composition simulation takes them.

    Args:
        data: Object with the attributes of `GasFields`.
        vapours: The vapours wanted, found by the names of their species.

    Raises:
        ValueError: A vapour is missing, is not to be exchanged, or has another molar mass there; shapes disagree; or
            a concentration is negative or not finite.
    """
    names = [str(name) for name in data.name]
    concentration = np.atleast_2d(np.asarray(data.concentration, dtype=np.float64))
    molar_mass = np.asarray(data.molar_mass, dtype=np.float64)
    exchanged = np.asarray(data.partitioning, dtype=bool)
    for field, shape in (("molar_mass [kg mol^-1]", molar_mass.shape), ("partitioning", exchanged.shape)):
        if shape != (len(names),):
            raise ValueError(f"{field}: expected shape [{len(names)}], one for each name, got {list(shape)}")
    if concentration.shape[1:] != (len(names),):
        raise ValueError(
            f"concentration [kg m^-3]: expected shape [boxes, {len(names)}], got {list(concentration.shape)}"
        )
    check_concentrations("concentration", concentration, "[kg m^-3]")
    places = [_place(vapour, names, molar_mass, exchanged) for vapour in vapours]
    return concentration[:, places]


def gas_to_particula(gas: ArrayLike, vapours: Sequence[Vapour], container: Callable[..., Container]) -> Container:
    """Concentrations of vapours as gas of particula's form.

    Args:
        gas: Concentrations [kg m^-3], shape [boxes, vapours].
        vapours: The vapours.
        container: Called with `name`, `molar_mass`, `concentration` and `partitioning`; particula's `GasData`, or
            `dict`.

    Raises:
        ValueError: The concentrations are not of that shape, negative or not finite.
    """
    concentration = np.array(gas, dtype=np.float64)
    if concentration.ndim != 2 or concentration.shape[1] != len(vapours):
        raise ValueError(
            f"gas [kg m^-3]: expected shape [boxes, {len(vapours)}], one column for each vapour, "
            f"got {list(concentration.shape)}"
        )
    check_concentrations("gas", concentration, "[kg m^-3]")
    return container(
        name=[vapour.species for vapour in vapours],
        molar_mass=np.array([vapour.molar_mass for vapour in vapours]),
        concentration=concentration,
        partitioning=np.ones(len(vapours), dtype=bool),
    )


def _place(vapour: Vapour, names: list[str], molar_mass: Floats, exchanged: NDArray[np.bool_]) -> int:
    if vapour.species not in names:
        raise ValueError(f"name: there is no gas {vapour.species!r} among {', '.join(names)}")
    place = names.index(vapour.species)
    if not exchanged[place]:
        raise ValueError(f"partitioning: {vapour.species} is not to be exchanged with particles")
    if not np.isclose(molar_mass[place], vapour.molar_mass, rtol=1e-3):
        raise ValueError(
            f"molar_mass [kg mol^-1]: {vapour.species} has {molar_mass[place]:g} there and {vapour.molar_mass:g} here"
        )
    return place
