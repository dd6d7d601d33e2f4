"""Writes exports as TSI's Aerosol Instrument Manager does, in every layout that its versions have."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

PER_DECADE = 16
EDGES = 10.0 ** ((np.arange(13) + 24) / PER_DECADE)  # [nm]
DIAMETERS = np.sqrt(EDGES[1:] * EDGES[:-1])
SCANS = 4
NUMBER = np.random.default_rng(8).uniform(1.0, 900.0, size=(SCANS, 12)).round(3)  # in each bin [cm^-3]
COUNTS = np.random.default_rng(9).integers(0, 500, size=(SCANS, 12))
DATES = ["06/13/17"] * SCANS
TIMES = ["23:50:00", "23:52:30", "23:55:00", "23:57:30"]

KINDS = {
    "dW/dlogDp": NUMBER * PER_DECADE,
    "dw/dlogDp": NUMBER * PER_DECADE,
    "Concentration (DW)": NUMBER,
    "Counts": COUNTS,
}


@dataclass
class Export:
    """An export's content and layout; text() is the file."""

    header: dict[str, str] = field(
        default_factory=lambda: {
            "Sample File": "chamber.S80",
            "AIM Version": "10.1.0.6",
            "DMA Model": "3081",
            "DMA Inner Radius (cm)": "0.937",
            "DMA Outer Radius (cm)": "1.961",
            "DMA Characteristic Length (cm)": "44.369",
            "Detector Sample Flow (L/min)": "0.30",
            "Channels/Decade": str(PER_DECADE),
            "Multiple Charge Correction": "TRUE",
            "Diffusion Correction": "FALSE",
            "Weight": "Number",
        }
    )
    units: str = "dW/dlogDp"
    block: str = "Diameter Midpoint (nm)"
    key: str = "Sample #"
    dates: list[str] = field(default_factory=lambda: list(DATES))
    times: list[str] = field(default_factory=lambda: list(TIMES))
    before: dict[str, list[str]] = field(
        default_factory=lambda: {"Sample Temp (C)": ["21.5"] * 4, "Sample Pressure (kPa)": ["101.3"] * 4}
    )
    after: dict[str, list[str]] = field(
        default_factory=lambda: {
            "Scan Time (s)": ["120"] * 4,
            "Retrace Time (s)": ["30"] * 4,
            "Scans Per Sample": ["1"] * 4,
            "HV Polarity": ["Negative"] * 4,
            "Sheath Flow (L/min)": ["3.0"] * 4,
            "Aerosol Flow (L/min)": ["0.3"] * 4,
            "Low Voltage (V)": ["10.6"] * 4,
            "High Voltage (V)": ["9700.0"] * 4,
            "Mean Free Path (m)": ["6.6e-008"] * 4,
            "Gas Viscosity (Pa*s)": ["1.82e-005"] * 4,
            "Density (g/cm³)": ["1.2"] * 4,
            "tf (s)": ["7.5"] * 4,
            "Instrument Errors": ["Normal Scan", "Low flow;Incomplete Scan", "Normal Scan", "Normal Scan"],
        }
    )
    sizes: list[str] = field(default_factory=lambda: [f"{d:.1f}" for d in DIAMETERS])
    by_row: bool = True
    delimiter: str = ","
    decimal: str = "."
    total: bool = True

    def values(self) -> np.ndarray:
        return KINDS[self.units]

    def text(self) -> str:
        lines = [[label, text] for label, text in {**self.header, "Units": self.units}.items()]
        cells = [[f"{value:.6g}" for value in scan] for scan in self.values()]
        columns = [[self.key, *(str(i + 1) for i in range(SCANS))]]
        columns += [["Date", *self.dates]] if self.dates else []
        columns += [["Start Time" if self.dates else "DateTime Sample Start", *self.times]]
        columns += [[label, *texts] for label, texts in self.before.items()]
        columns += [[self.block, *[""] * SCANS]]
        columns += [[size, *(cells[scan][i] for scan in range(SCANS))] for i, size in enumerate(self.sizes)]
        columns += [[label, *texts] for label, texts in self.after.items()]
        if self.total:
            columns += [["Total Conc. (#/cm³)", *(f"{t:.6g}" for t in NUMBER.sum(axis=1))]]
        table = [list(row) for row in zip(*columns, strict=True)] if self.by_row else columns
        rows = [*lines, *table]
        if self.decimal == ",":
            rows = [[cell.replace(".", ",") if _is_number(cell) else cell for cell in row] for row in rows]
        return "\r\n".join(self.delimiter.join(row) for row in rows) + "\r\n"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
