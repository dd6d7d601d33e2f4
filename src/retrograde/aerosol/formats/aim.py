"""Reader of the text that TSI's Aerosol Instrument Manager exports, versions 9 to 11."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.formats._aim_fields import Quantities, header_flag, header_text
from retrograde.aerosol.formats._aim_scan import Scanning, scanning
from retrograde.aerosol.formats._aim_sheet import Sheet, sheet_of
from retrograde.aerosol.formats._aim_times import starts
from retrograde.aerosol.formats._assembly import check_total, time_order
from retrograde.aerosol.formats._values import number
from retrograde.aerosol.formats.errors import FormatError
from retrograde.aerosol.formats.observations import Observations, geometric_edges
from retrograde.aerosol.formats.stated import Stated
from retrograde.aerosol.formats.units import SpectrumKind, concentration_factor, length_factor
from retrograde.aerosol.grids import SizeGrid

Floats = NDArray[np.float64]

_KINDS = {
    "dw/dlogdp": SpectrumKind.PER_LOG10_DIAMETER,
    "dn/dlogdp": SpectrumKind.PER_LOG10_DIAMETER,
    "dw/dlndp": SpectrumKind.PER_LN_DIAMETER,
    "dn/dlndp": SpectrumKind.PER_LN_DIAMETER,
    "concentration(dw)": SpectrumKind.PER_BIN,
    "concentration(dn)": SpectrumKind.PER_BIN,
    "concentration": SpectrumKind.PER_BIN,
    "dw": SpectrumKind.PER_BIN,
    "dn": SpectrumKind.PER_BIN,
    "counts": None,
    "rawcounts": None,
    "counts(dw)": None,
}
_CHANNELS_PER_DECADE = {"aerodynamic": 32.0}
_CORRECTIONS = {
    "multiple charge": ("multiple charge correction",),
    "diffusion loss": ("diffusion correction", "diffusioncorrection"),
}
_FLAGS = ("status flag", "status flags", "instrument errors")
_NORMAL = {"", "normal scan", "normal", "none", "ok"}


def read_aim(path: Path, lines: list[str], key: int, stated: Stated) -> Observations:
    """Observations from an export.

    Args:
        path: File, for messages.
        lines: Lines of its text.
        key: Index of the line that begins the scans.
        stated: What the user states.

    Raises:
        FormatError: The export does not hold number by size, or a cell is not what it should be.
    """
    sheet = sheet_of(path, lines, key)
    quantities = Quantities(sheet)
    start = starts(sheet, stated, quantities.notes)
    diameter_kind = _diameter_kind(sheet)
    diameters, edges = _bins(sheet, diameter_kind, stated, quantities.notes)
    flow = _sample_flow(quantities, diameter_kind)
    scan = scanning(quantities, diameters, diameter_kind, flow)
    values, counts = _numbers(sheet, SizeGrid.from_diameters(diameters, edges), scan, stated, quantities.notes)
    total = quantities.concentration("total concentration", "total conc.", "total conc")
    check_total(path, values, total, quantities.notes, measured=counts is None)
    corrected, not_corrected = _corrections(sheet)
    uncertainty = None
    if scan.per_count is not None:
        uncertainty = np.sqrt(np.maximum(values, scan.per_count) * scan.per_count)
        if "diffusion loss" in corrected:
            quantities.notes.append(
                "Uncertainties leave out losses, for which the file is corrected: too low below 50 nm."
            )
    _note_dilution(quantities)
    order = time_order(start, quantities.notes)
    times = start[:, np.newaxis] + np.round(scan.offsets * 1e6).astype("timedelta64[us]")
    return Observations(
        start=start[order],
        times=times[order],
        diameters=diameters,
        edges=edges,
        number=values[order],
        uncertainty=_in_order(uncertainty, order),
        counts=_in_order(counts, order),
        flow=flow,
        temperature=_in_order(quantities.temperature(), order),
        pressure=_in_order(quantities.pressure(), order),
        total=_in_order(total, order),
        density=quantities.density(),
        diameter_kind=diameter_kind,
        corrected_for=corrected,
        not_corrected_for=not_corrected,
        flags=_flags(sheet, order),
        source=f"{path.name}, exported by {' '.join(['TSI AIM', header_text(sheet, 'aim version')]).strip()}",
        notes=tuple(quantities.notes),
    )


def _diameter_kind(sheet: Sheet) -> str:
    """Kind of the diameters: the label before them says it, and a mobility classifier says nothing."""
    name = sheet.block.name if sheet.block is not None else ""
    for kind in ("aerodynamic", "optical"):
        if kind in name:
            return kind
    return "mobility"


def _bins(sheet: Sheet, diameter_kind: str, stated: Stated, notes: list[str]) -> tuple[Floats, Floats]:
    """Centres and edges [m]: the instrument's exact channels if the rounded labels fit them."""
    written = sheet.block.unit if sheet.block is not None else ""
    unit = written or stated.diameter_unit or ("nm" if diameter_kind == "mobility" else "um")
    try:
        factor = length_factor(unit)
    except ValueError as error:
        raise sheet.error(str(error), max(sheet.sizes[0].field - 1, 0)) from error
    sizes = [size for size in sheet.sizes if not size.below]
    if len(sizes) < len(sheet.sizes):
        notes.append("Numbers below the smallest size are left out.")
    labels = np.array([size.value for size in sizes])
    try:
        per_decade = float(number(header_text(sheet, "channels/decade").replace(",", ".")))
    except ValueError:
        per_decade = float("nan")
    if not per_decade > 0.0:
        per_decade = _CHANNELS_PER_DECADE.get(diameter_kind, float("nan"))
    roundings = np.array([size.rounding for size in sizes])
    exact = _exact_channels(labels, roundings, per_decade) if per_decade > 0.0 else None
    if exact is None:
        notes.append("Bin edges are the geometric means of the sizes, which are rounded in the file.")
        return labels * factor, geometric_edges(labels * factor)
    return exact[0] * factor, exact[1] * factor


def _exact_channels(labels: Floats, roundings: Floats, per_decade: float) -> tuple[Floats, Floats] | None:
    """Centres and edges of channels that divide each decade evenly, if the labels are theirs, rounded."""
    first = np.floor(np.log10(labels[0]) * per_decade)
    for index in (first, first - 1.0, first + 1.0):
        edges = 10.0 ** ((index + np.arange(labels.size + 1)) / per_decade)
        centres = np.sqrt(edges[1:] * edges[:-1])
        if np.all(np.abs(centres - labels) <= 1.02 * roundings + 1e-12):
            return centres, edges
    return None


def _numbers(
    sheet: Sheet, grid: SizeGrid, scan: Scanning, stated: Stated, notes: list[str]
) -> tuple[Floats, Floats | None]:
    """Number in each bin [m^-3], and counts where those are what the file holds."""
    kind = _kind(sheet, stated)
    table = _table(sheet)
    if kind is not None:
        return table * kind.widths(grid) * concentration_factor("cm-3"), None
    if scan.per_count is None:
        raise FormatError(
            sheet.path, None, None, "the file holds counts, and lacks the flows and times that make them concentrations"
        )
    notes.append("Numbers are from counts, of singly charged particles where they are charged, each one counted.")
    return table * scan.per_count, table


def _kind(sheet: Sheet, stated: Stated) -> SpectrumKind | None:
    """What the file holds; None for counts."""
    weight = header_text(sheet, "weight").lower()
    if weight not in ("", "number"):
        raise FormatError(
            sheet.path,
            sheet.header["weight"][2],
            2,
            f"the file holds {weight}, not number; export it with weight Number",
        )
    units = header_text(sheet, "units")
    if not units and sheet.block is not None:
        units = sheet.text(sheet.scans[0], sheet.sizes[0].field - 1)
    plain = units.lower().replace(" ", "")
    if plain in _KINDS:
        kind = _KINDS[plain]
        if stated.kind not in (None, kind):
            raise FormatError(sheet.path, None, None, f"the file says {units}, not {stated.kind.value} as stated")
        return kind
    if units or stated.kind is None:
        line = sheet.header["units"][2] if "units" in sheet.header else None
        known = "dW/dlogDp, Concentration (dW) and Counts"
        raise FormatError(sheet.path, line, None, f"units {units!r}: expected one of {known}")
    return stated.kind


def _table(sheet: Sheet) -> Floats:
    """The cells of all scans and sizes as numbers, shape [scans, bins]."""
    sizes = [size for size in sheet.sizes if not size.below]
    table = np.empty((len(sheet.scans), len(sizes)))
    for row, scan in enumerate(sheet.scans):
        for column, size in enumerate(sizes):
            text = sheet.text(scan, size.field)
            try:
                value = number(text, sheet.mark)
            except ValueError as error:
                raise sheet.error(str(error), size.field, scan) from error
            if value < 0.0:
                raise sheet.error(f"a negative number of particles, {text}", size.field, scan)
            table[row, column] = value
    return table


def _sample_flow(quantities: Quantities, diameter_kind: str) -> float | None:
    """Flow that the counter counts in [m^3 s^-1]; all but the sheath flow where one counter sees all sizes."""
    if diameter_kind == "mobility":
        return quantities.one("sample flow", quantities.flow("cpc sample flow", "detector sample flow", "sample flow"))
    total, sheath = quantities.flow("total flow"), quantities.flow("sheath flow")
    if total is None or sheath is None:
        return quantities.one("sample flow", quantities.flow("sample flow"))
    flow = total - sheath
    return float(np.median(flow)) if np.all(flow > 0.0) else None


def _corrections(sheet: Sheet) -> tuple[frozenset[str], frozenset[str]]:
    known = {effect: header_flag(sheet, *names) for effect, names in _CORRECTIONS.items()}
    return (
        frozenset(effect for effect, done in known.items() if done is True),
        frozenset(effect for effect, done in known.items() if done is False),
    )


def _flags(sheet: Sheet, order: NDArray[np.intp]) -> tuple[tuple[str, ...], ...] | None:
    fields = [index for index, field in enumerate(sheet.fields) if field.name in _FLAGS]
    if not fields:
        return None
    found: list[tuple[str, ...]] = []
    for scan in (sheet.scans[int(index)] for index in order):
        words = [word.strip() for field in fields for word in sheet.text(scan, field).split(";")]
        found.append(tuple(word for word in words if word.lower() not in _NORMAL and set(word) - set("0 ")))
    return tuple(found)


def _note_dilution(quantities: Quantities) -> None:
    factor = quantities.plain("dilution factor")
    if factor is not None and np.any(np.isfinite(factor) & (factor != 1.0)):
        quantities.notes.append(f"A dilution factor of up to {np.nanmax(factor):g} is stated; numbers are as exported.")


def _in_order(values: Floats | None, order: NDArray[np.intp]) -> Floats | None:
    return None if values is None else values[order]
