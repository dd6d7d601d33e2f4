"""Spectra as instruments give them, dN/dlog10 D in cm^-3 over diameters in nm, to and from states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol._device import wp
from retrograde.aerosol.formats.units import SpectrumKind, concentration_factor, length_factor
from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.states import SectionalState, check_concentrations

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class InstrumentSpectrum:
    """Numbers by size in an instrument's own units.

    Attributes:
        values: Spectrum, shape [boxes, bins]; [unit of `concentration_unit`].
        diameters: Pivot diameters, shape [bins]; [unit of `diameter_unit`].
        kind: What the values count.
        concentration_unit: Unit of the values.
        diameter_unit: Unit of the diameters.
    """

    values: Floats
    diameters: Floats
    kind: SpectrumKind = SpectrumKind.PER_LOG10_DIAMETER
    concentration_unit: str = "cm-3"
    diameter_unit: str = "nm"


def from_instrument(
    spectrum: InstrumentSpectrum,
    *,
    edges: Any | None = None,
    total: Any | None = None,
    dtype: Any = wp.float64,
    device: Any = None,
) -> SectionalState:
    """State on the instrument's own size bins.

    Args:
        spectrum: Values, diameters and their units.
        edges: Bin edges in the unit of the diameters, shape [bins + 1]; geometric means by default.
        total: Total concentration that the instrument reports [unit of the values], shape [boxes] or
            scalar; a spectrum that does not add up to it, as one of another kind, is refused.
        dtype: Storage, `wp.float64` or `wp.float32`.
        device: Warp device; the current default if None.

    Raises:
        ValueError: A unit is unknown, the diameters do not increase, a value is negative or not
            finite, or the spectrum does not add up to `total` within 20 %.
    """
    length = length_factor(spectrum.diameter_unit)
    concentration = concentration_factor(spectrum.concentration_unit)
    diameters = np.asarray(spectrum.diameters, dtype=np.float64) * length
    grid = SizeGrid.from_diameters(diameters, None if edges is None else np.asarray(edges, dtype=np.float64) * length)
    values = np.atleast_2d(np.asarray(spectrum.values, dtype=np.float64))
    if values.ndim != 2 or values.shape[1] != grid.bins:
        raise ValueError(
            f"values [{spectrum.concentration_unit}]: expected shape [boxes, bins] with {grid.bins} bins as there are "
            f"diameters, got {list(values.shape)}"
        )
    check_concentrations("values", values, f"[{spectrum.concentration_unit}]")
    per_ln = values * concentration * spectrum.kind.widths(grid) / grid.ln_widths
    si_total = None if total is None else np.asarray(total, dtype=np.float64) * concentration
    return SectionalState.from_spectrum(per_ln, grid, total=si_total, dtype=dtype, device=device)


def to_instrument(
    state: SectionalState,
    *,
    kind: SpectrumKind = SpectrumKind.PER_LOG10_DIAMETER,
    concentration_unit: str = "cm-3",
    diameter_unit: str = "nm",
) -> InstrumentSpectrum:
    """The state's spectrum in an instrument's units, dN/dlog10 D in cm^-3 over nm by default.

    Raises:
        ValueError: A unit is unknown.
    """
    values = state.numpy() / kind.widths(state.grid) / concentration_factor(concentration_unit)
    diameters = state.grid.diameters / length_factor(diameter_unit)
    return InstrumentSpectrum(values, diameters, kind, concentration_unit, diameter_unit)
