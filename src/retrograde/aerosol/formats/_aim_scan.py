"""How the instrument of an AIM export scanned: each channel's time, and what one count stands for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.formats._aim_fields import Quantities, header_text
from retrograde.aerosol.formats._classifier import Column, Ramp, inlet_times, number_per_count

Floats = NDArray[np.float64]

_SMALLEST_RADIUS = 5e-4
"""No classifier's inner electrode is thinner [m]; AIM 9 writes radii in metres and calls them cm."""


@dataclass(frozen=True)
class Scanning:
    """What is known of the scans.

    Attributes:
        offsets: Time after the scan's start at which each channel sampled [s], shape [scans, bins].
        per_count: Number concentration of one count [m^-3], shape [scans, bins]; None where unknown.
    """

    offsets: Floats
    per_count: Floats | None


def scanning(quantities: Quantities, diameters: Floats, diameter_kind: str, sample_flow: float | None) -> Scanning:
    """Times and counting of a mobility scan or of a counter that sees all sizes at once.

    Args:
        quantities: Of the export; what is assumed is added to its notes.
        diameters: Bin centres [m].
        diameter_kind: Kind of the diameters.
        sample_flow: Flow that the counter counts in [m^3 s^-1].
    """
    shape = (len(quantities.sheet.scans), diameters.size)
    if diameter_kind == "mobility":
        return _mobility(quantities, diameters, sample_flow, shape)
    duration = quantities.plain("sample time", "sample length")
    if duration is None or not np.all(duration > 0.0):
        return Scanning(np.zeros(shape), None)
    offsets = np.broadcast_to(0.5 * duration[:, np.newaxis], shape)
    quantities.notes.append("Channel times are the middle of the sample time.")
    if sample_flow is None:
        return Scanning(offsets, None)
    return Scanning(offsets, np.broadcast_to(1.0 / (sample_flow * duration[:, np.newaxis]), shape))


def _mobility(quantities: Quantities, diameters: Floats, sample_flow: float | None, shape: tuple[int, int]) -> Scanning:
    ramp, column = _ramp(quantities), _column(quantities)
    if ramp is None or column is None:
        quantities.notes.append("Channel times are the scans' starts: the file lacks what places them in the scan.")
        return Scanning(np.zeros(shape), None)
    scans_per_sample = _or_zero(quantities.plain("scans per sample"), shape[0])
    retrace = _or_zero(quantities.plain("retrace time"), shape[0])
    repeats = np.maximum(scans_per_sample, 1.0) - 1.0
    before = 0.5 * repeats[:, np.newaxis] * (ramp.duration + retrace[:, np.newaxis])
    before += np.where(_down_first(quantities), retrace, 0.0)[:, np.newaxis]
    offsets = inlet_times(diameters, ramp, column) + before
    offsets = np.broadcast_to(np.where(np.isfinite(offsets), offsets, 0.0), shape)
    quantities.notes.append(
        "Channel times are when the air of each size entered the classifier; the way from the inlet is not in them."
    )
    return Scanning(offsets, _per_count(quantities, diameters, ramp, sample_flow, repeats))


def _per_count(
    quantities: Quantities, diameters: Floats, ramp: Ramp, sample_flow: float | None, repeats: Floats
) -> Floats | None:
    aerosol = quantities.flow("aerosol flow")
    if aerosol is None or sample_flow is None or not np.all(aerosol > 0.0):
        return None
    # A negative high voltage, the usual one, draws particles of positive charge.
    positive = not _polarity(quantities).startswith("pos")
    one = number_per_count(
        diameters,
        ramp,
        aerosol_flow=aerosol[:, np.newaxis],
        sample_flow=np.full((1, 1), sample_flow),
        positive=positive,
    )
    return one / (repeats[:, np.newaxis] + 1.0)


def _ramp(quantities: Quantities) -> Ramp | None:
    found = [
        quantities.flow("sheath flow"),
        quantities.plain("low voltage"),
        quantities.plain("high voltage"),
        quantities.plain("scan up time", "scan time"),
        quantities.plain("tf"),
        quantities.length("mean free path", "reference mean free path"),
        quantities.plain("gas viscosity", "reference gas viscosity"),
    ]
    known = np.array([np.where(values > 0.0, values, np.nan) for values in found if values is not None])
    if len(known) < len(found):
        return None
    _, low, high, duration, transit, _, _ = known
    usable = np.all(np.isfinite(known), axis=0) & (high > low) & (transit < duration)
    if not np.any(usable):
        return None
    if not np.all(usable):
        quantities.notes.append(
            f"{np.sum(~usable)} scans lack what places channels in them; they have the scan's start."
        )
    return Ramp(*np.where(usable, known, np.nan)[:, :, np.newaxis])


def _column(quantities: Quantities) -> Column | None:
    sizes = [quantities.length(f"dma {name}") for name in ("inner radius", "outer radius", "characteristic length")]
    known = [float(values[0]) for values in sizes if values is not None and values[0] > 0.0]
    if len(known) < len(sizes) or known[0] >= known[1]:
        return None
    if known[0] < _SMALLEST_RADIUS:
        quantities.notes.append("The classifier's radii and length, said to be in cm, are taken for metres.")
        known = [100.0 * value for value in known]
    return Column(*known)


def _down_first(quantities: Quantities) -> NDArray[np.bool_]:
    sheet = quantities.sheet
    field = sheet.find("down scan first")
    if field is None:
        return np.zeros(len(sheet.scans), dtype=np.bool_)
    return np.array([sheet.text(scan, field).lower() == "true" for scan in sheet.scans])


def _polarity(quantities: Quantities) -> str:
    sheet = quantities.sheet
    field = sheet.find("hv polarity")
    text = sheet.text(sheet.scans[0], field) if field is not None else header_text(sheet, "hv polarity")
    return text.lower()


def _or_zero(values: Floats | None, scans: int) -> Floats:
    return np.zeros(scans) if values is None else np.where(np.isfinite(values), values, 0.0)
