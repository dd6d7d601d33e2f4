"""What an instrument measured: size distributions over time, in SI, with what is known of them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.grids import SizeGrid

if TYPE_CHECKING:
    import xarray as xr

Floats = NDArray[np.float64]
Times = NDArray[np.datetime64]

_BY_SCAN = ("temperature", "pressure", "total")
_BY_CHANNEL = ("number", "uncertainty", "counts")
_LIMITS = {"temperature": "[K]", "pressure": "[Pa]", "total": "[m^-3]"}
_UNITS = {"number": "[m^-3]", "uncertainty": "[m^-3]", "counts": "[1]", **_LIMITS}


@dataclass(frozen=True, eq=False)
class Observations:
    """Size distributions of consecutive scans on one set of size bins.

    A value that the instrument did not give is NaN. Numbers may be negative where a file's own
    inversion left them so.

    Attributes:
        start: Start of each scan, in the order of time, shape [scans]. The clock is the file's; a zone
            is applied only if the file states one, and the times are then UTC.
        times: Time at which each channel sampled, shape [scans, bins]; the scan's start where the
            file does not allow to know it.
        diameters: Bin centres, increasing [m], shape [bins].
        edges: Bin edges, increasing [m], shape [bins + 1].
        number: Number concentration in each bin [m^-3], shape [scans, bins]; NaN where missing.
        uncertainty: Standard error of `number` by counting statistics [m^-3], shape [scans, bins]; None
            where the file does not allow to know it.
        counts: Particles counted in each bin [1], shape [scans, bins]; None where the file has none.
        flow: Sample flow [m^3 s^-1].
        temperature: Temperature of the sample [K], shape [scans].
        pressure: Pressure of the sample [Pa], shape [scans].
        total: Total number concentration as the file gives it [m^-3], shape [scans].
        density: Particle density that the file states [kg m^-3].
        diameter_kind: Equivalent diameter: "mobility", "aerodynamic", "optical" or "unknown".
        corrected_for: Effects that the file says were corrected, as "multiple charge", "diffusion loss".
        not_corrected_for: Effects that the file says were not corrected.
        flags: What the file reports of each scan beyond that it was normal, one tuple a scan.
        source: File and format.
        notes: What the reader assumed or noticed, one sentence each.

    Raises:
        ValueError: A shape, sign or order is not as described; the message names the field.
    """

    start: Times
    times: Times
    diameters: Floats
    edges: Floats
    number: Floats
    uncertainty: Floats | None = None
    counts: Floats | None = None
    flow: float | None = None
    temperature: Floats | None = None
    pressure: Floats | None = None
    total: Floats | None = None
    density: float | None = None
    diameter_kind: str = "unknown"
    corrected_for: frozenset[str] = frozenset()
    not_corrected_for: frozenset[str] = frozenset()
    flags: tuple[tuple[str, ...], ...] | None = None
    source: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._set("diameters", _floats("diameters", self.diameters))
        self._set("edges", _floats("edges", self.edges))
        SizeGrid.from_diameters(self.diameters, self.edges)
        self._set("start", _times("start", self.start))
        self._set("times", _times("times", self.times))
        scans, bins = self.start.size, self.diameters.size
        if self.start.ndim != 1 or scans == 0:
            raise ValueError(f"start: expected shape [scans] with at least one, got {list(self.start.shape)}")
        if np.any(np.diff(self.start) < np.timedelta64(0)):
            raise ValueError("start: expected scans in the order of time")
        _check_shape("times", self.times, (scans, bins))
        for names, shape in ((_BY_CHANNEL, (scans, bins)), (_BY_SCAN, (scans,))):
            for name in names:
                values = getattr(self, name)
                if values is not None:
                    array = _floats(name, values)
                    _check_shape(name, array, shape)
                    self._set(name, array)
        for name, unit in (("uncertainty", "[m^-3]"), ("counts", "[1]"), *_LIMITS.items()):
            values = getattr(self, name)
            if values is not None and np.any(values < 0.0):
                raise ValueError(f"{name} {unit}: expected no negative values, got {np.nanmin(values):g}")
        for name, unit in (("flow", "[m^3 s^-1]"), ("density", "[kg m^-3]")):
            value = getattr(self, name)
            if value is not None and not (np.isfinite(value) and value > 0.0):
                raise ValueError(f"{name} {unit}: expected a finite positive number or None, got {value}")
        if self.flags is not None and len(self.flags) != scans:
            raise ValueError(f"flags: expected one tuple for each of {scans} scans, got {len(self.flags)}")

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    @property
    def scans(self) -> int:
        """Number of scans."""
        return int(self.start.size)

    @property
    def bins(self) -> int:
        """Number of size bins."""
        return int(self.diameters.size)

    @property
    def grid(self) -> SizeGrid:
        """The size bins as a grid of a sectional state, the diameters taken for volume diameters."""
        return SizeGrid.from_diameters(self.diameters, self.edges)

    def spectrum(self) -> Floats:
        """dN/dlnD [m^-3], shape [scans, bins]."""
        return self.number / np.diff(np.log(self.edges))

    def select(self, start: Any = None, end: Any = None) -> Observations:
        """The scans that start from `start` to `end`, both included; None leaves that side open.

        Args:
            start: First start of a scan, as `numpy.datetime64` takes it: "2017-06-12T14:12:20".
            end: Last start of a scan.

        Raises:
            ValueError: A time cannot be read, or no scan starts then.
        """
        first = self.start[0] if start is None else _time(start)
        last = self.start[-1] if end is None else _time(end)
        chosen = np.flatnonzero((self.start >= first) & (self.start <= last))
        if chosen.size == 0:
            raise ValueError(
                f"no scan starts from {_seconds(first)} to {_seconds(last)}; "
                f"the scans start from {_seconds(self.start[0])} to {_seconds(self.start[-1])}"
            )
        names = ("start", "times", *_BY_CHANNEL, *_BY_SCAN)
        parts = {name: getattr(self, name)[chosen] for name in names if getattr(self, name) is not None}
        flags = None if self.flags is None else tuple(self.flags[i] for i in chosen)
        return replace(self, **parts, flags=flags)

    def dataset(self) -> xr.Dataset:
        """Dataset with CF names, units and bounds over (time, diameter), from which `from_dataset` reads them back."""
        from retrograde.aerosol.formats._observations_dataset import to_dataset

        return to_dataset(self)

    @classmethod
    def from_dataset(cls, dataset: xr.Dataset) -> Observations:
        """Observations from a dataset as `dataset` makes it.

        Raises:
            ValueError: A variable or unit is missing or unknown, or values are not as in the class's attributes.
        """
        from retrograde.aerosol.formats._observations_dataset import from_dataset

        return from_dataset(dataset)

    def __repr__(self) -> str:
        low, high = self.diameters[[0, -1]] * 1e9
        return (
            f"Observations({self.scans} scans from {_seconds(self.start[0])} to {_seconds(self.start[-1])}, "
            f"{self.bins} bins from {low:.4g} to {high:.4g} nm, {self.source or 'no source'})"
        )


OBSERVATION_FIELDS = tuple(f.name for f in fields(Observations))
"""Names of the fields, in order."""


def geometric_edges(diameters: Floats) -> Floats:
    """Edges at the geometric means of neighbouring centres, the outermost two mirrored about their centres [m].

    Raises:
        ValueError: There are fewer than two centres.
    """
    return SizeGrid.from_diameters(diameters).diameter_edges


def _floats(name: str, values: Any) -> Floats:
    array = np.array(values, dtype=np.float64)
    if np.any(np.isinf(array)):
        raise ValueError(
            f"{name} {_UNITS.get(name, '[m]')}: expected finite values, or NaN where missing, got infinity"
        )
    array.flags.writeable = False
    return array


def _times(name: str, values: Any) -> Times:
    array = np.array(values, dtype="datetime64[ns]")
    if np.any(np.isnat(array)):
        raise ValueError(f"{name}: expected a time everywhere, got none at {int(np.argmax(np.isnat(array)))}")
    array.flags.writeable = False
    return array


def _check_shape(name: str, array: NDArray[Any], shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        words = "[scans, bins]" if len(shape) == 2 else "[scans]"
        raise ValueError(f"{name}: expected shape {words} = {list(shape)}, got {list(array.shape)}")


def _time(value: Any) -> np.datetime64:
    try:
        time = np.datetime64(value, "ns")
    except (ValueError, TypeError) as error:
        raise ValueError(f"{value!r} is no time; expected one as 2017-06-12T14:12:20") from error
    if np.isnat(time):
        raise ValueError(f"{value!r} is no time; expected one as 2017-06-12T14:12:20")
    return time


def _seconds(time: np.datetime64) -> str:
    return str(time.astype("datetime64[s]"))
