"""States as pandas tables, one row a box and one column a size, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from retrograde.aerosol.formats.instrument import InstrumentSpectrum, from_instrument, to_instrument
from retrograde.aerosol.formats.units import SpectrumKind
from retrograde.aerosol.states import SectionalState


def to_pandas(
    state: SectionalState,
    *,
    kind: SpectrumKind = SpectrumKind.PER_BIN,
    concentration_unit: str = "m-3",
    diameter_unit: str = "m",
) -> pd.DataFrame:
    """Table of the state: index `box`, columns the pivot diameters.

    The units are kept in the names of the axes and in `attrs`, so that `from_pandas` reads the table
    back without being told.

    Raises:
        ValueError: A unit is unknown.
    """
    spectrum = to_instrument(state, kind=kind, concentration_unit=concentration_unit, diameter_unit=diameter_unit)
    frame = pd.DataFrame(
        spectrum.values,
        index=pd.RangeIndex(state.boxes, name="box"),
        columns=pd.Index(spectrum.diameters, name=f"diameter [{diameter_unit}]"),
    )
    frame.attrs.update(kind=kind.name, concentration_unit=concentration_unit, diameter_unit=diameter_unit)
    return frame


def from_pandas(
    frame: pd.DataFrame,
    *,
    kind: SpectrumKind | None = None,
    concentration_unit: str | None = None,
    diameter_unit: str | None = None,
    edges: Any | None = None,
    total: Any | None = None,
) -> SectionalState:
    """State from a table with one row a box and one column a size, the column labels being diameters.

    Args:
        frame: Table.
        kind: What the values count; by default what the table's `attrs` say.
        concentration_unit: Unit of the values; by default what the table's `attrs` say.
        diameter_unit: Unit of the column labels; by default what the table's `attrs` say.
        edges: Bin edges in the unit of the diameters, shape [bins + 1]; geometric means by default.
        total: Total concentration known otherwise [unit of the values], shape [boxes] or scalar.

    Raises:
        ValueError: Kind or a unit is neither given nor in `attrs`, a label is no number, or as
            `from_instrument`.
    """
    given = {
        "kind": kind.name if kind is not None else frame.attrs.get("kind"),
        "concentration_unit": concentration_unit or frame.attrs.get("concentration_unit"),
        "diameter_unit": diameter_unit or frame.attrs.get("diameter_unit"),
    }
    missing = [name for name, value in given.items() if value is None]
    if missing:
        raise ValueError(f"{', '.join(missing)}: neither given nor in the table's attrs, and none is guessed")
    try:
        diameters = np.array([float(label) for label in frame.columns], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"columns: expected diameters [{given['diameter_unit']}] as labels: {error}") from error
    spectrum = InstrumentSpectrum(
        frame.to_numpy(dtype=np.float64),
        diameters,
        SpectrumKind[str(given["kind"])],
        str(given["concentration_unit"]),
        str(given["diameter_unit"]),
    )
    return from_instrument(spectrum, edges=edges, total=total)
