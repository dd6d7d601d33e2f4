"""Start times of the scans of an AIM export."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.formats._aim_sheet import Sheet
from retrograde.aerosol.formats._dates import Stamp, date_parts, resolved_order, stamp, time_of_day
from retrograde.aerosol.formats.stated import Stated

_DATE = ("date", "start date", "sample date")
_TIME = ("start time", "time", "sample start time")
_BOTH = ("datetime sample start", "sample start date/time", "start date/time", "date/time", "date time", "datetime")


def starts(sheet: Sheet, stated: Stated, notes: list[str]) -> NDArray[np.datetime64]:
    """Start of each scan, shape [scans].

    Raises:
        FormatError: A date or time is missing or cannot be read.
    """
    field = sheet.find(*_BOTH, *_DATE)
    if field is None:
        raise sheet.error("expected labels Date and Start Time among those of the scans", 0)
    stamps = [_stamp(sheet, scan) for scan in sheet.scans]
    names = [sheet.path.name, *(text for _, text, _ in sheet.header.values())]
    try:
        order = resolved_order([s.day for s in stamps], names, stated.date_order, notes)
    except ValueError as error:
        raise sheet.error(str(error), field) from error
    times = np.empty(len(stamps), dtype="datetime64[ns]")
    for index, found in enumerate(stamps):
        try:
            times[index] = found.moment(order)
        except ValueError as error:
            scan = sheet.scans[index]
            raise sheet.error(f"{sheet.text(scan, field)!r} with the {order}: {error}", field, scan) from error
    return times


def _stamp(sheet: Sheet, scan: int) -> Stamp:
    both, day, time = sheet.find(*_BOTH), sheet.find(*_DATE), sheet.find(*_TIME)
    field = both if both is not None else day
    try:
        if both is not None:
            return stamp(sheet.text(scan, both))
        if day is None or time is None:
            raise ValueError("expected labels Date and Start Time among those of the scans")
        parts = date_parts(sheet.text(scan, day))
        field = time
        return Stamp(parts, time_of_day(sheet.text(scan, time)), None)
    except ValueError as error:
        raise sheet.error(str(error), field or 0, scan) from error
