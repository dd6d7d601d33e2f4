"""Size distributions over time in datasets of any origin, by their units, bounds and quality flags."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from retrograde.aerosol.formats._assembly import check_total, note_negative, time_order
from retrograde.aerosol.formats._netcdf import check_size
from retrograde.aerosol.formats._values import PRESSURES, in_unit, kelvin
from retrograde.aerosol.formats.dataset import NUMBER_NAME
from retrograde.aerosol.formats.errors import FormatError
from retrograde.aerosol.formats.observations import Observations, geometric_edges
from retrograde.aerosol.formats.stated import Stated
from retrograde.aerosol.formats.units import SpectrumKind, concentration_factor, length_factor
from retrograde.aerosol.grids import SizeGrid

Floats = NDArray[np.float64]
Times = NDArray[np.datetime64]

_LOG10 = re.compile(r"d[nw][ _/]*d[ _]*log(10)?[ _]*d", re.IGNORECASE)
_LN = re.compile(r"d[nw][ _/]*d[ _]*ln[ _]*d", re.IGNORECASE)
_LOG10_STANDARD_NAME = "log10_size_interval_based_number_size_distribution"
_CONTIGUOUS = 1e-3
"""Relative gap between neighbouring bins' bounds that rounding explains."""


def from_spectra(dataset: xr.Dataset, path: Path | None, stated: Stated) -> Observations:
    """Observations from a dataset that `Observations.dataset` made, or from any variable over time and diameter.

    Such a variable has a number concentration's unit, a time coordinate and a coordinate in a unit of
    length. Where there are several, one named "merged" is taken, or the one that the user states. Its
    kind is what its name or standard name says. Values that ancillary quality bits call bad are missing.

    Raises:
        FormatError: There is no such variable, several, or one that leaves open what it is.
    """
    try:
        if {"number_concentration", "channel_time", "diameter_bounds"} <= set(dataset.variables):
            for name in dataset.variables:
                check_size(dataset[name])
            return Observations.from_dataset(dataset)
        name = _variable(dataset, stated)
        return _observations(dataset, name, path, stated)
    except FormatError:
        raise
    except ValueError as error:
        raise FormatError(path, None, None, str(error)) from error


def _variable(dataset: xr.Dataset, stated: Stated) -> str:
    found = [str(name) for name in dataset.data_vars if _is_spectrum(dataset, str(name))]
    if stated.variable is not None:
        if stated.variable not in found:
            raise ValueError(
                f"{stated.variable}: no number by time and diameter; those are: {', '.join(found) or 'none'}"
            )
        return stated.variable
    merged = [name for name in found if name.startswith("merged")]
    chosen = merged if len(merged) == 1 else found
    if len(chosen) == 1:
        return chosen[0]
    if chosen:
        raise ValueError(f"several numbers by time and diameter: {', '.join(chosen)}; give one as variable")
    if "aero_particle_mass" in dataset.variables:
        raise ValueError("particles of PartMC, not scans of an instrument; read_partmc reads them")
    others = [f"{n} [{v.attrs['units']}]" for n, v in dataset.data_vars.items() if v.ndim and _unit(v) not in ("", "1")]
    listed = f"; it holds {', '.join(others[:6])}{', ...' if len(others) > 6 else ''}" if others else ""
    raise ValueError(f"no size distribution: no number concentration over time and diameter{listed}")


def _is_spectrum(dataset: xr.Dataset, name: str) -> bool:
    array = dataset[name]
    return (
        array.ndim == 2 and _known(concentration_factor, _unit(array)) and None not in (_time(array), _diameter(array))
    )


def _observations(dataset: xr.Dataset, name: str, path: Path | None, stated: Stated) -> Observations:
    array = dataset[name]
    time, diameter = _time(array), _diameter(array)
    if time is None or diameter is None:
        raise ValueError(f"{name}: no coordinates of time and diameter")
    check_size(array)
    values = np.asarray(array.transpose(time, diameter).values, dtype=np.float64)
    notes: list[str] = []
    diameters, edges, rising = _bins(dataset, diameter, notes)
    values = values[:, rising]
    bad, flags = _quality(dataset, array, time, diameter)
    values[bad[:, rising]] = np.nan
    if np.any(bad):
        notes.append(f"{bad.sum()} values are missing, being called bad.")
    number = (
        values
        * concentration_factor(_unit(array))
        * _kind(array, stated).widths(SizeGrid.from_diameters(diameters, edges))
    )
    start, middle = _times(dataset, time, notes)
    total = _total(dataset, name, time)
    check_total(path, number, total, notes)
    note_negative(number, notes)
    order = time_order(start, notes)
    series = {"total": total, **_air(dataset, time, notes)}
    parts: dict[str, Any] = {field: column[order] for field, column in series.items() if column is not None}
    return Observations(
        start=start[order],
        times=np.repeat(middle[order][:, np.newaxis], diameters.size, axis=1),
        diameters=diameters,
        edges=edges,
        number=number[order],
        flags=tuple(flags[int(i)] for i in order),
        diameter_kind=_diameter_kind(dataset, diameter),
        source=", ".join(text for text in ("" if path is None else path.name, _origin(dataset), name) if text),
        notes=tuple(notes),
        **parts,
    )


def _bins(dataset: xr.Dataset, diameter: str, notes: list[str]) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Centres and edges [m], and the order of the variable's bins in which they increase."""
    coordinate = dataset[diameter]
    unit = _unit(coordinate)
    centres = np.asarray(coordinate.values, dtype=np.float64)
    rising = np.argsort(centres, kind="stable")
    factor = length_factor(unit)
    bounds = dataset.variables.get(coordinate.attrs.get("bounds", f"{diameter}_bounds"))
    if bounds is None or bounds.shape != (centres.size, 2):
        notes.append("Bin edges are the geometric means of neighbouring diameters.")
        return centres[rising] * factor, geometric_edges(centres[rising] * factor), rising
    pairs = np.sort(np.asarray(bounds.values, dtype=np.float64)[rising], axis=1)
    pairs *= length_factor(str(bounds.attrs.get("units", unit)))
    if np.any(np.abs(pairs[1:, 0] / pairs[:-1, 1] - 1.0) > _CONTIGUOUS):
        raise ValueError(f"{diameter}: the bins leave gaps or overlap, by their bounds")
    return centres[rising] * factor, np.append(pairs[:, 0], pairs[-1, 1]), rising


def _kind(array: xr.DataArray, stated: Stated) -> SpectrumKind:
    """What the variable counts."""
    words = " ".join(str(array.attrs.get(key, "")) for key in ("long_name", "description"))
    standard = str(array.attrs.get("standard_name", ""))
    said = (
        SpectrumKind.PER_LOG10_DIAMETER
        if standard.startswith(_LOG10_STANDARD_NAME) or _LOG10.search(f"{array.name} {words}")
        else SpectrumKind.PER_LN_DIAMETER
        if _LN.search(f"{array.name} {words}")
        else SpectrumKind.PER_BIN
        if standard.startswith(NUMBER_NAME)
        else None
    )
    if said is not None and stated.kind not in (None, said):
        raise ValueError(f"{array.name}: it says {said.value}, not {stated.kind.value} as stated")
    kind = said or stated.kind
    if kind is None:
        raise ValueError(f"kind: {array.name} does not say what it counts, and it is not guessed; give it to read(...)")
    return kind


def _times(dataset: xr.Dataset, time: str, notes: list[str]) -> tuple[Times, Times]:
    """Start and middle of each scan; both are its time where it has no bounds."""
    coordinate = dataset[time]
    instants = np.asarray(coordinate.values, dtype="datetime64[ns]")
    if str(dataset.attrs.get("Conventions", "")).startswith("ARM"):
        notes.append("Times are in UTC.")
    bounds: Any = dataset.variables.get(coordinate.attrs.get("bounds", f"{time}_bounds"))
    if bounds is None or bounds.shape != (instants.size, 2) or bounds.dtype.kind != "M":
        return instants, instants
    pairs: Times = np.asarray(bounds.values, dtype="datetime64[ns]")
    notes.append("Scans start at the lower bounds of their times; channel times are the middle.")
    return pairs[:, 0], pairs[:, 0] + (pairs[:, 1] - pairs[:, 0]) / 2


def _quality(
    dataset: xr.Dataset, array: xr.DataArray, time: str, diameter: str
) -> tuple[NDArray[np.bool_], list[tuple[str, ...]]]:
    """Values that the variable's own quality bits call bad, and what all its quality bits say of each scan."""
    shape = (array.sizes[time], array.sizes[diameter])
    bad = np.zeros(shape, dtype=np.bool_)
    flags: list[list[str]] = [[] for _ in range(shape[0])]
    for name in str(array.attrs.get("ancillary_variables", f"qc_{array.name}")).split():
        if name not in dataset.variables or not name.startswith("qc_"):
            continue
        quality = dataset[name]
        if time not in quality.dims or not set(quality.dims) <= {time, diameter}:
            continue
        check_size(quality)
        codes = np.asarray(quality.broadcast_like(array).transpose(time, diameter).values, dtype=np.float64)
        bits = np.where(codes > 0.0, codes, 0.0).astype(np.int64)
        for position, assessment, description in _bits(quality):
            hit = (bits >> (position - 1)) & 1 == 1
            if name == f"qc_{array.name}" and assessment == "bad":
                bad |= hit
            for scan in np.flatnonzero(hit.any(axis=1)):
                flags[scan].append(f"{name} {assessment}: {description}")
    return bad, [tuple(dict.fromkeys(words)) for words in flags]


def _bits(quality: xr.DataArray) -> list[tuple[int, str, str]]:
    """Position, assessment and description of each bit, as ARM writes them."""
    found: list[tuple[int, str, str]] = []
    for key, text in quality.attrs.items():
        match = re.fullmatch(r"bit_(\d{1,2})_description", str(key))
        if match is not None and 1 <= int(match[1]) <= 52:
            assessment = str(quality.attrs.get(f"bit_{match[1]}_assessment", "")).strip().lower()
            found.append((int(match[1]), assessment, str(text).strip().rstrip(".").replace(";", ",")))
    return found


def _total(dataset: xr.Dataset, name: str, time: str) -> Floats | None:
    """The total beside a spectrum, as ARM names the two."""
    partner = name.replace("dN_dlogDp", "total_N_conc")
    if partner == name or partner not in dataset or dataset[partner].dims != (time,):
        return None
    return np.asarray(dataset[partner].values, dtype=np.float64) * concentration_factor(_unit(dataset[partner]))


def _air(dataset: xr.Dataset, time: str, notes: list[str]) -> dict[str, Floats]:
    """Temperature [K] and pressure [Pa] where variables over time have their standard names."""
    found: dict[str, Floats] = {}
    for name, array in dataset.variables.items():
        standard = str(array.attrs.get("standard_name", ""))
        if array.dims != (time,) or standard not in ("air_temperature", "air_pressure"):
            continue
        unit = str(array.attrs.get("units", ""))
        values = np.asarray(array.values, dtype=np.float64)
        if standard == "air_temperature":
            found["temperature"] = np.array([kelvin(float(v), unit.replace("deg", "").strip("_")) for v in values])
        else:
            found["pressure"] = np.array([in_unit(float(v), unit, PRESSURES, "pressure") for v in values])
        notes.append(f"The {standard.replace('_', ' ')} is {name}.")
    return found


def _diameter_kind(dataset: xr.Dataset, diameter: str) -> str:
    words = f"{diameter} {dataset[diameter].attrs.get('long_name', '')}".lower()
    return next((kind for kind in ("mobility", "aerodynamic", "optical") if kind in words), "unknown")


def _origin(dataset: xr.Dataset) -> str:
    parts = (dataset.attrs.get(key) for key in ("datastream", "doi"))
    return ", ".join(str(part) for part in parts if part)


def _time(array: Any) -> str | None:
    return next((str(d) for d in array.dims if d in array.coords and array[d].dtype.kind == "M"), None)


def _diameter(array: Any) -> str | None:
    return next(
        (str(d) for d in array.dims if d in array.coords and _known(length_factor, _unit(array[d]))),
        None,
    )


def _unit(array: Any) -> str:
    return str(array.attrs.get("units", ""))


def _known(factor: Any, unit: str) -> bool:
    try:
        factor(unit)
    except ValueError:
        return False
    return True
