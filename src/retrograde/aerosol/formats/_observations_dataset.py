"""Observations as a CF dataset, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from retrograde.aerosol.formats.dataset import NUMBER_NAME
from retrograde.aerosol.formats.observations import Observations

_DIMS = ("time", "diameter")
_SEPARATOR = "; "

_VARIABLES: dict[str, tuple[str, tuple[str, ...], dict[str, str]]] = {
    "number": ("number_concentration", _DIMS, {"units": "m-3", "standard_name": NUMBER_NAME}),
    "uncertainty": (
        "number_concentration_standard_error",
        _DIMS,
        {"units": "m-3", "standard_name": f"{NUMBER_NAME} standard_error"},
    ),
    "counts": ("counts", _DIMS, {"units": "1", "long_name": "particles counted in each bin"}),
    "temperature": ("air_temperature", ("time",), {"units": "K", "standard_name": "air_temperature"}),
    "pressure": ("air_pressure", ("time",), {"units": "Pa", "standard_name": "air_pressure"}),
    "total": (
        "total_number_concentration",
        ("time",),
        {"units": "m-3", "long_name": "total number concentration as the source gives it"},
    ),
    "flow": ("sample_flow", (), {"units": "m3 s-1", "long_name": "sample flow"}),
    "density": ("particle_density", (), {"units": "kg m-3", "long_name": "particle density as the source states it"}),
}
_WORDS = {"corrected_for": "corrected_for", "not_corrected_for": "not_corrected_for"}


def to_dataset(observations: Observations) -> xr.Dataset:
    """Dataset over (time, diameter); fields that are None are left out."""
    edges = observations.edges
    clock = {"long_name": "start of the scan, by the source's clock", "standard_name": "time"}
    coordinates: dict[str, Any] = {
        "time": ("time", observations.start, clock),
        "diameter": (
            "diameter",
            observations.diameters,
            {"units": "m", "long_name": f"{observations.diameter_kind} diameter", "bounds": "diameter_bounds"},
        ),
    }
    variables: dict[str, Any] = {
        "diameter_bounds": (("diameter", "bound"), np.stack([edges[:-1], edges[1:]], axis=1)),
        "channel_time": (_DIMS, observations.times, {"long_name": "time at which the channel sampled"}),
    }
    for field, (name, dims, attributes) in _VARIABLES.items():
        values = getattr(observations, field)
        if values is not None:
            variables[name] = (dims, values, attributes)
    if observations.flags is not None:
        texts = np.array([_SEPARATOR.join(flags) for flags in observations.flags], dtype=object)
        variables["scan_flags"] = ("time", texts, {"long_name": "what the source reports of the scan"})
    attributes = {
        "Conventions": "CF-1.11",
        "featureType": "timeSeries",
        "source": observations.source,
        "diameter_kind": observations.diameter_kind,
        "notes": "\n".join(observations.notes),
        **{name: _SEPARATOR.join(sorted(getattr(observations, field))) for field, name in _WORDS.items()},
    }
    dataset = xr.Dataset(variables, coordinates, {name: text for name, text in attributes.items() if text})
    day = str(observations.start[0].astype("datetime64[D]"))
    for name in ("time", "channel_time"):
        dataset[name].encoding = {"units": f"seconds since {day} 00:00:00", "dtype": "float64"}
    return dataset


def from_dataset(dataset: xr.Dataset) -> Observations:
    """Observations from such a dataset."""
    for name in ("time", "diameter", "diameter_bounds", "number_concentration"):
        if name not in dataset.variables:
            raise ValueError(f"{name}: no such variable; a dataset of observations has it")
    start = _times(dataset, "time")
    bins = dataset.sizes["diameter"]
    parts: dict[str, Any] = {}
    for field, (name, dims, attributes) in _VARIABLES.items():
        if name in dataset.variables:
            parts[field] = _values(dataset, name, dims, attributes["units"])
    for field in ("flow", "density"):
        if field in parts:
            parts[field] = float(parts[field])
    bounds = np.asarray(dataset["diameter_bounds"].transpose("diameter", ...).values, dtype=np.float64)
    if bounds.shape != (bins, 2):
        raise ValueError(f"diameter_bounds: expected shape [bins, 2] = [{bins}, 2], got {list(bounds.shape)}")
    attributes = dataset.attrs
    return Observations(
        start=start,
        times=_channel_times(dataset, start, bins),
        diameters=_values(dataset, "diameter", ("diameter",), "m"),
        edges=np.append(bounds[:, 0], bounds[-1, 1]),
        diameter_kind=str(attributes.get("diameter_kind", "unknown")),
        flags=_flags(dataset),
        source=str(attributes.get("source", "")),
        notes=tuple(note for note in str(attributes.get("notes", "")).split("\n") if note),
        corrected_for=_words(attributes.get("corrected_for", "")),
        not_corrected_for=_words(attributes.get("not_corrected_for", "")),
        **parts,
    )


def _values(dataset: xr.Dataset, name: str, dims: tuple[str, ...], units: str) -> Any:
    array = dataset[name]
    if set(array.dims) != set(dims):
        raise ValueError(f"{name}: expected dimensions ({', '.join(dims)}), got ({', '.join(map(str, array.dims))})")
    if array.attrs.get("units") != units:
        raise ValueError(f"{name}: expected units {units}, got {array.attrs.get('units', 'none')}")
    return np.asarray(array.transpose(*dims).values, dtype=np.float64)


def _times(dataset: xr.Dataset, name: str) -> Any:
    values = dataset[name].values
    if not np.issubdtype(values.dtype, np.datetime64):
        raise ValueError(f"{name}: expected decoded times, got values of type {values.dtype}")
    return _whole_microseconds(values)


def _channel_times(dataset: xr.Dataset, start: Any, bins: int) -> Any:
    if "channel_time" not in dataset.variables:
        return np.repeat(start[:, np.newaxis], bins, axis=1)
    if set(dataset["channel_time"].dims) != set(_DIMS):
        raise ValueError(f"channel_time: expected dimensions (time, diameter), got {dataset['channel_time'].dims}")
    return _times(dataset.transpose(*_DIMS, ...), "channel_time")


def _whole_microseconds(times: Any) -> Any:
    """Times rounded to microseconds: seconds in double precision, as files hold them, are no finer."""
    nanoseconds = np.asarray(times, dtype="datetime64[ns]")
    missing = np.isnat(nanoseconds)
    rounded = ((nanoseconds.astype(np.int64) + 500) // 1000 * 1000).astype("datetime64[ns]")
    return np.where(missing, np.datetime64("NaT", "ns"), rounded)


def _flags(dataset: xr.Dataset) -> tuple[tuple[str, ...], ...] | None:
    if "scan_flags" not in dataset.variables:
        return None
    return tuple(tuple(f for f in str(text).split(_SEPARATOR) if f) for text in dataset["scan_flags"].values)


def _words(text: Any) -> frozenset[str]:
    return frozenset(word for word in str(text).split(_SEPARATOR) if word)
