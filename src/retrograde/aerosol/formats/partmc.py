"""Particles in PartMC's NetCDF files, read, and written so that PartMC reads them.

PartMC is the particle-resolved model of Riemer, West, Zaveri and Easter (2009), Journal of Geophysical
Research 114, D09202, doi:10.1029/2008JD011073. The layout is that of its version 2.8.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from retrograde.aerosol.formats._netcdf import check_size, opened
from retrograde.aerosol.formats.errors import FormatError
from retrograde.aerosol.formats.particula import sectional_from_particula
from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.states import Environment, SectionalState, check_concentrations

if TYPE_CHECKING:
    from retrograde.aerosol.particles.state import ParticleState

Floats = NDArray[np.float64]

_EQUAL = 1e-9
"""Relative spread of particles' weights that is taken for rounding."""


@dataclass(frozen=True, eq=False)
class PartMCState:
    """Particles of one box at one time, each with its own weight.

    The first four attributes are those that `sectional_from_particula` takes.

    Attributes:
        masses: Mass of every species in every particle [kg], shape [1, particles, species].
        concentration: Number concentration that each particle stands for [m^-3], shape [1, particles].
        density: Density of the species [kg m^-3], shape [species].
        species: Names of the species.
        kappa: Hygroscopicity parameter of the species [1], shape [species].
        molar_mass: Molar mass of the species [kg mol^-1], shape [species].
        temperature: Temperature of the air [K].
        pressure: Pressure of the air [Pa].
        relative_humidity: Relative humidity [1].
        time: Time since the start of the simulation [s].

    Raises:
        ValueError: A shape is not as described, or a value is negative or not finite.
    """

    masses: Floats
    concentration: Floats
    density: Floats
    species: tuple[str, ...]
    kappa: Floats
    molar_mass: Floats
    temperature: float = 298.15
    pressure: float = 101325.0
    relative_humidity: float = 0.0
    time: float = 0.0

    def __post_init__(self) -> None:
        count = len(self.species)
        shapes = {"density": (count,), "kappa": (count,), "molar_mass": (count,)}
        masses = np.asarray(self.masses, dtype=np.float64)
        if masses.ndim != 3 or masses.shape[0] != 1 or masses.shape[2] != count:
            raise ValueError(f"masses [kg]: expected shape [1, particles, {count}], got {list(masses.shape)}")
        shapes.update(masses=masses.shape, concentration=masses.shape[:2])
        for name, shape in shapes.items():
            values = np.array(getattr(self, name), dtype=np.float64)
            if values.shape != shape:
                raise ValueError(f"{name}: expected shape {list(shape)}, got {list(values.shape)}")
            check_concentrations(name, np.atleast_2d(values.reshape(-1)), "[SI]")
            values.flags.writeable = False
            object.__setattr__(self, name, values)
        if np.any(self.density <= 0.0):
            raise ValueError("density [kg m^-3]: expected positive values")

    @classmethod
    def from_particles(
        cls,
        particles: ParticleState,
        species: Sequence[str],
        *,
        kappa: Any,
        molar_mass: Any,
        box: int = 0,
        environment: Environment | None = None,
        relative_humidity: float = 0.0,
        time: float = 0.0,
    ) -> PartMCState:
        """One box of a particle state; its empty slots are left out.

        Args:
            particles: Particle state.
            species: Names of the species.
            kappa: Hygroscopicity parameters [1], shape [species].
            molar_mass: Molar masses [kg mol^-1], shape [species].
            box: Index of the box.
            environment: Air, with as many boxes as the particles; 298.15 K and 101325 Pa by default.
            relative_humidity: Relative humidity [1].
            time: Time since the start of the simulation [s].

        Raises:
            ValueError: A shape does not fit, or there is no such box.
        """
        if not 0 <= box < particles.boxes:
            raise ValueError(f"box: expected 0 to {particles.boxes - 1}, got {box}")
        air = environment or Environment.uniform(particles.boxes)
        if air.boxes != particles.boxes:
            raise ValueError(f"environment: expected {particles.boxes} boxes as in the state, got {air.boxes}")
        masses = particles.numpy()[box]
        full = masses.sum(axis=1) > 0.0
        return cls(
            masses=masses[np.newaxis, full],
            concentration=np.full((1, int(full.sum())), 1.0 / particles.volume[box]),
            density=particles.density,
            species=tuple(species),
            kappa=np.asarray(kappa, dtype=np.float64),
            molar_mass=np.asarray(molar_mass, dtype=np.float64),
            temperature=float(air.temperature[box]),
            pressure=float(air.pressure[box]),
            relative_humidity=relative_humidity,
            time=time,
        )

    @property
    def volume(self) -> Floats:
        """Volume of air to which the concentrations refer, 1 m^3, shape [1]."""
        return np.ones(1)

    @property
    def environment(self) -> Environment:
        """The air; a ValueError if its temperature or pressure is impossible."""
        return Environment(np.array([self.temperature]), np.array([self.pressure]))

    @property
    def equal_weight(self) -> float | None:
        """Concentration that every particle stands for [m^-3], if it is one number."""
        first = float(self.concentration.flat[0]) if self.concentration.size else 0.0
        return first if first > 0.0 and np.ptp(self.concentration) <= _EQUAL * first else None

    def particles(self, *, device: Any = None) -> ParticleState:
        """Particle state of one box.

        Raises:
            ValueError: The particles differ in weight, or there are none; `sectional` takes weights.
        """
        from retrograde.aerosol.particles.state import ParticleState

        weight = self.equal_weight
        if weight is None:
            raise ValueError("concentration [m^-3]: a particle state has particles of equal weight, and these are not")
        return ParticleState.from_numpy(self.masses, 1.0 / weight, density=self.density, device=device)

    def sectional(self, grid: SizeGrid, *, device: Any = None) -> SectionalState:
        """Sectional state; number and volume of every particle are kept, between the two pivots around it.

        Raises:
            ValueError: A particle lies outside the grid's pivots.
        """
        fields: Any = self
        return sectional_from_particula(fields, grid, device=device)


def read_partmc(path: str | Path) -> PartMCState:
    """Particles and air of a file that PartMC wrote, of version 2 or later.

    Raises:
        FormatError: The file is not PartMC's, or holds values that cannot be.
    """
    path = Path(path)
    with opened(path) as dataset:
        try:
            return _state(dataset)
        except ValueError as error:
            raise FormatError(path, None, None, str(error)) from error


def _state(dataset: xr.Dataset) -> PartMCState:
    particle, kind = "aero_particle", "aero_species"
    weights = "aero_num_conc" if "aero_num_conc" in dataset.variables else "aero_comp_vol"
    for name in ("aero_particle_mass", weights, "aero_density", kind):
        if name not in dataset.variables:
            raise ValueError(f"{name}: no such variable; PartMC's files with particles have it")
    masses = _values(dataset, "aero_particle_mass", (particle, kind))
    concentration = _values(dataset, weights, (particle,))
    if weights == "aero_comp_vol":
        if np.any(concentration <= 0.0):
            raise ValueError("aero_comp_vol [m^3]: expected positive values")
        concentration = 1.0 / concentration
    names = tuple(name.strip() for name in str(dataset[kind].attrs.get("names", "")).split(","))
    if len(names) != masses.shape[1]:
        raise ValueError(f"aero_species: {len(names)} names for {masses.shape[1]} species")
    scalars = {
        name: float(_values(dataset, name, ())) for name in ("temperature", "pressure", "relative_humidity", "time")
    }
    return PartMCState(
        masses=masses[np.newaxis],
        concentration=concentration[np.newaxis],
        density=_values(dataset, "aero_density", (kind,)),
        species=names,
        kappa=_values(dataset, "aero_kappa", (kind,)),
        molar_mass=_values(dataset, "aero_molec_weight", (kind,)),
        **scalars,
    )


def _values(dataset: xr.Dataset, name: str, dims: tuple[str, ...]) -> Floats:
    if name not in dataset.variables:
        raise ValueError(f"{name}: no such variable")
    array = dataset[name]
    if set(array.dims) != set(dims):
        raise ValueError(f"{name}: expected dimensions {dims}, got {array.dims}")
    check_size(array)
    return np.asarray(array.transpose(*dims).values, dtype=np.float64)


def write_partmc(state: PartMCState, path: str | Path) -> None:
    """Write the state as PartMC writes its own, with particles of one weight class.

    Args:
        state: Particles of equal weight, for PartMC computes weights from its classes.
        path: File, replaced if it is there.

    Raises:
        ValueError: The particles differ in weight, or a name has a comma.
    """
    weight = state.equal_weight
    if weight is None:
        raise ValueError("concentration [m^-3]: expected particles of equal weight, and at least one")
    if any("," in name or not name for name in state.species):
        raise ValueError(f"species: expected names without commas, got {', '.join(map(repr, state.species))}")
    dataset: Any = _dataset(state, weight)
    dataset.to_netcdf(Path(path), engine="h5netcdf")


def _dataset(state: PartMCState, weight: float) -> xr.Dataset:
    count, species = state.masses.shape[1], len(state.species)
    each = np.arange(1, count + 1, dtype=np.int32)
    one = np.ones(count, dtype=np.int32)
    kind, particle, classes = ("aero_species",), ("aero_particle",), ("aero_weight_class", "aero_weight_group")
    water = next((i + 1 for i, name in enumerate(state.species) if name.upper() == "H2O"), 0)
    scalars: dict[str, tuple[Any, str]] = {
        "time": (state.time, "s"),
        "timestep": (0.0, "s"),
        "timestep_index": (np.int32(1), "1"),
        "repeat": (np.int32(1), "1"),
        "temperature": (state.temperature, "K"),
        "relative_humidity": (state.relative_humidity, "1"),
        "pressure": (state.pressure, "Pa"),
        "longitude": (0.0, "degree_east"),
        "latitude": (0.0, "degree_north"),
        "altitude": (0.0, "m"),
        "start_time_of_day": (0.0, "s"),
        "start_day_of_year": (np.int32(1), "1"),
        "elapsed_time": (state.time, "s"),
        "solar_zenith_angle": (0.0, "radian"),
        "height": (1000.0, "m"),
        "aero_i_water": (np.int32(water), "1"),
        "fractal_dimension": (3.0, "1"),
        "fractal_prime_radius": (1e-8, "m"),
        "fractal_vol_fill_factor": (1.0, "1"),
    }
    arrays: dict[str, tuple[tuple[str, ...], Any, str]] = {
        "aero_mosaic_index": (kind, np.zeros(species, dtype=np.int32), "1"),
        "aero_density": (kind, state.density, "kg/m^3"),
        "aero_num_ions": (kind, np.zeros(species, dtype=np.int32), "1"),
        "aero_molec_weight": (kind, state.molar_mass, "kg/mol"),
        "aero_kappa": (kind, state.kappa, "1"),
        "aero_abifm_m": (kind, np.zeros(species), "1"),
        "aero_abifm_c": (kind, np.zeros(species), "1"),
        "aero_optical_wavelengths": (("optical_wavelengths",), np.zeros(1), "m"),
        "weight_type": (classes, np.ones((1, 1), dtype=np.int32), "1"),
        "weight_magnitude": (classes, np.full((1, 1), weight), "m^{-3}"),
        "weight_exponent": (classes, np.zeros((1, 1)), "1"),
        "aero_particle_mass": ((*kind, *particle), state.masses[0].T, "kg"),
        "aero_num_conc": (particle, state.concentration[0], "m^{-3}"),
        "aero_id": (particle, each.astype(np.int64), "1"),
        "aero_component_len": (particle, one, "1"),
        "aero_component_start_ind": (particle, each, "1"),
        "aero_component_particle_num": (("aero_components",), each, "1"),
        "aero_component_source_num": (("aero_components",), one, "1"),
        "aero_component_create_time": (("aero_components",), np.zeros(count), "s"),
        "aero_particle_weight_group": (particle, one, "1"),
        "aero_particle_weight_class": (particle, one, "1"),
        "aero_particle_n_primary_parts": (particle, one, "1"),
        "aero_water_hyst_leg": (particle, 0 * one, "1"),
        "aero_frozen": (particle, 0 * one, "1"),
        "aero_imf_temperature": (particle, np.zeros(count), "K"),
        "aero_ice_density": (particle, np.full(count, -9999.0), "kg/m^3"),
        "aero_ice_shape_phi": (particle, np.full(count, -9999.0), "1"),
        "aero_least_create_time": (particle, np.zeros(count), "s"),
        "aero_greatest_create_time": (particle, np.zeros(count), "s"),
    }
    variables: dict[str, Any] = {name: ((), value, {"unit": unit}) for name, (value, unit) in scalars.items()}
    variables.update({name: (dims, values, {"unit": unit}) for name, (dims, values, unit) in arrays.items()})
    for name, members in (
        ("aero_species", state.species),
        ("aero_source", ("initial",)),
        ("aero_data_weight_class", ("initial",)),
        ("gas_species", ("none",)),
    ):
        dims = ("aero_weight_class",) if name == "aero_data_weight_class" else (name,)
        variables[name] = (dims, np.arange(1, len(members) + 1, dtype=np.int32), {"names": ",".join(members)})
    variables["aero_particle"] = (particle, each)
    variables["aero_weight_group"] = (("aero_weight_group",), np.ones(1, dtype=np.int32))
    variables["gas_mosaic_index"] = (("gas_species",), np.zeros(1, dtype=np.int32))
    variables["gas_mixing_ratio"] = (("gas_species",), np.zeros(1), {"unit": "ppb"})
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    attributes = {
        "title": "PartMC output file, written by Retrograde",
        "source": "PartMC version 2.8.0",
        "UUID": str(uuid.uuid4()).upper(),
        "history": f"{now} created by Retrograde",
        "Conventions": "CF-1.4",
    }
    dataset = xr.Dataset(variables, attrs=attributes)
    for name in dataset.variables:
        dataset[name].encoding["_FillValue"] = None
    return dataset
