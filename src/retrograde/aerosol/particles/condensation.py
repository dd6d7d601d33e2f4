"""Condensation on and evaporation from single particles, coupled with the gas around them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from retrograde.aerosol._device import WarpArray, new_zeros, shape_of, to_device, wp
from retrograde.aerosol.particles._condensation import (
    Vapours,
    balance,
    collect,
    exchange,
    gas_left,
    mean_gas,
    measure,
    settle,
    share_out,
    uptake,
)
from retrograde.aerosol.states import Environment, check_concentrations

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Condensation:
    """Exchange of species with the gas: Fuchs and Sutugin's rates, Kelvin's ratio, an ideal mixture.

    Sizes are held for a substep; the gas follows its exact solution meanwhile. Mass of gas and particles
    is kept to rounding. Two boundaries are not smooth, and a run says which boxes touched them: evaporation
    ends at zero mass, uptake at the gas there is.

    Attributes:
        diffusivity: Diffusivity of the vapours [m^2 s^-1], shape [species].
        molar_mass: Molar mass [kg mol^-1], shape [species].
        saturation: Concentration over a flat pure surface [kg m^-3], shape [species]; zero for what only condenses.
        accommodation: Mass accommodation coefficient [1], a number or shape [species].
        surface_tension: Surface tension [N m^-1], a number or shape [species]; zero for no Kelvin effect.
        exchanged: Which species are exchanged, shape [species]; all by default.
        substeps: Substeps of each half of an interval; the error is of first order in them.

    Raises:
        ValueError: A shape is not as described, or a value is out of range.
    """

    diffusivity: ArrayLike
    molar_mass: ArrayLike
    saturation: ArrayLike
    accommodation: ArrayLike = 1.0
    surface_tension: ArrayLike = 0.0
    exchanged: ArrayLike = True
    substeps: int = 4

    def __post_init__(self) -> None:
        species = np.shape(self.molar_mass)
        if len(species) != 1 or species[0] == 0:
            raise ValueError(f"molar_mass [kg mol^-1]: expected shape [species], got {list(species)}")
        for name, unit, positive in (
            ("diffusivity", "m^2 s^-1", True),
            ("molar_mass", "kg mol^-1", True),
            ("saturation", "kg m^-3", False),
            ("accommodation", "1", True),
            ("surface_tension", "N m^-1", False),
        ):
            given = np.asarray(getattr(self, name), dtype=np.float64)
            if given.shape not in ((), species):
                raise ValueError(
                    f"{name} [{unit}]: expected a number or shape {list(species)}, got {list(given.shape)}"
                )
            if not np.isfinite(given).all() or (given < 0).any() or (positive and (given == 0).any()):
                wanted = "positive" if positive else "not negative"
                raise ValueError(f"{name} [{unit}]: expected finite values that are {wanted}, got {given}")
            object.__setattr__(self, name, np.broadcast_to(given, species).copy())
        object.__setattr__(self, "exchanged", np.broadcast_to(np.asarray(self.exchanged, dtype=bool), species).copy())
        if self.substeps < 1:
            raise ValueError(f"substeps: expected 1 or more, got {self.substeps}")

    @property
    def species(self) -> int:
        """Number of species."""
        return np.shape(self.molar_mass)[0]

    def advance(
        self,
        masses: WarpArray,
        gas: WarpArray,
        duration: float,
        *,
        volume: Floats,
        density: Floats,
        environment: Environment,
        rate_factor: WarpArray | None = None,
    ) -> tuple[WarpArray, WarpArray, NDArray[np.bool_]]:
        """Masses and gas after a duration, in new memory; recorded on the active tape if they carry gradients.

        Args:
            masses: Masses [kg], shape [boxes, particles, species].
            gas: Concentrations of the vapours [kg m^-3], shape [boxes, species].
            duration: How long [s].
            volume: Volume of air of each box [m^3], shape [boxes].
            density: Density of the species [kg m^-3], shape [species].
            environment: Air of every box, or of all if it is one.
            rate_factor: What the uptake of every box is multiplied with [1], shape [boxes]; 1 by default.
                It is differentiated like masses and gas, so that rates may be mu + sigma times a noise.

        Returns:
            Masses, gas, and which boxes touched a boundary, shape [boxes].
        """
        untyped: Any = masses
        device, boxes = untyped.device, shape_of(masses)[0]
        vapours = self._vapours(boxes, volume, density, environment, device)
        touched: Any = wp.zeros(boxes, dtype=wp.int32, device=device)
        factor: Any = to_device(np.ones(boxes), device=device) if rate_factor is None else rate_factor
        for _ in range(self.substeps):
            masses, gas = _substep(masses, gas, factor, duration / self.substeps, vapours, touched)
        return masses, gas, touched.numpy() != 0

    def check_gas(self, gas: ArrayLike, boxes: int) -> Floats:
        """Concentrations [kg m^-3] of shape [boxes, species], from those or from [species].

        Raises:
            ValueError: Another shape, or a value that is negative or not finite.
        """
        values = np.asarray(gas, dtype=np.float64)
        if values.shape not in ((self.species,), (boxes, self.species)):
            raise ValueError(
                f"gas [kg m^-3]: expected shape [{boxes}, {self.species}] or [{self.species}], got {list(values.shape)}"
            )
        check_concentrations("gas", values, "[kg m^-3]")
        return np.broadcast_to(values, (boxes, self.species)).copy()

    def _vapours(self, boxes: int, volume: Floats, density: Floats, air: Environment, device: Any) -> Any:
        vapours: Any = Vapours()
        for name in ("diffusivity", "molar_mass", "accommodation", "saturation", "surface_tension"):
            setattr(vapours, name, to_device(getattr(self, name), device=device))
        vapours.exchanged = wp.array(np.asarray(self.exchanged, dtype=np.int32), dtype=wp.int32, device=device)
        vapours.density, vapours.volume = to_device(density, device=device), to_device(volume, device=device)
        vapours.temperature = to_device(np.broadcast_to(air.temperature, boxes), device=device)
        return vapours


def _substep(masses: Any, gas: Any, factor: Any, duration: float, v: Any, touched: Any) -> tuple[Any, Any]:
    device, whole, each = masses.device, shape_of(masses), shape_of(gas)
    boxes, particles, _ = whole
    differentiated = any(bool(a.requires_grad) for a in (masses, gas, factor))
    options: dict[str, Any] = {"device": device, "requires_grad": differentiated}
    sizes, moles = (new_zeros((boxes, particles), **options) for _ in range(2))
    clearing, surface, change, after = (new_zeros(whole, **options) for _ in range(4))
    sink, source, mean, gained, lost, share, left = (new_zeros(each, **options) for _ in range(7))
    h = wp.float64(duration)
    for kernel, dim, inputs, outputs in (
        (measure, (boxes, particles), [masses, v], [sizes, moles]),
        (uptake, whole, [masses, sizes, moles, v, factor], [clearing, surface]),
        (collect, each, [clearing, surface, v], [sink, source]),
        (mean_gas, each, [gas, sink, source, h], [mean]),
        (exchange, whole, [masses, clearing, surface, mean, h], [change, touched]),
        (balance, each, [change, v], [gained, lost]),
        (share_out, each, [gas, gained, lost], [share, touched]),
        (settle, whole, [masses, change, share], [after]),
        (gas_left, each, [masses, after, gas, v], [left]),
    ):
        wp.launch(kernel, dim, inputs, outputs, device=device)
    return after, left
