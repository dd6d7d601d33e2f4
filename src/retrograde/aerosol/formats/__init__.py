"""Formats of measurements and states: instruments' files and spectra, xarray, pandas, neighbours' containers."""

from retrograde.aerosol.formats.dataset import environment_from_xarray, from_xarray, series_to_xarray, to_xarray
from retrograde.aerosol.formats.errors import FormatError
from retrograde.aerosol.formats.frame import from_pandas, to_pandas
from retrograde.aerosol.formats.instrument import InstrumentSpectrum, from_instrument, to_instrument
from retrograde.aerosol.formats.observations import Observations
from retrograde.aerosol.formats.particula import (
    environment_from_particula,
    environment_to_particula,
    sectional_from_particula,
    sectional_to_particula,
)
from retrograde.aerosol.formats.particula_gas import gas_from_particula, gas_to_particula
from retrograde.aerosol.formats.particula_particles import particles_from_particula, particles_to_particula
from retrograde.aerosol.formats.partmc import PartMCState, read_partmc, write_partmc
from retrograde.aerosol.formats.reading import read
from retrograde.aerosol.formats.units import SpectrumKind

__all__ = [
    "FormatError",
    "InstrumentSpectrum",
    "Observations",
    "PartMCState",
    "SpectrumKind",
    "environment_from_particula",
    "environment_from_xarray",
    "environment_to_particula",
    "from_instrument",
    "from_pandas",
    "from_xarray",
    "gas_from_particula",
    "gas_to_particula",
    "particles_from_particula",
    "particles_to_particula",
    "read",
    "read_partmc",
    "sectional_from_particula",
    "sectional_to_particula",
    "series_to_xarray",
    "to_instrument",
    "to_pandas",
    "to_xarray",
    "write_partmc",
]
