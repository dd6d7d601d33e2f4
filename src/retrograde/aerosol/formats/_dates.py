"""Dates and times as instruments' files write them, and which of day and month stands first."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

DateOrder = Literal["month first", "day first"]

_DATE = re.compile(r"(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})$")
_TIME = re.compile(r"(\d{1,2})[:.](\d{2})(?:[:.](\d{2})([.,]\d+)?)?\s*(?:([AaPp])\.?[Mm]\.?)?$")
_ZONE = re.compile(r"\s*(?:Z|UTC|([+-])(\d{2}):?(\d{2}))$")
_BETWEEN = re.compile(r"(?<=\d)T(?=\d)")
_ORDERS: tuple[DateOrder, DateOrder] = ("month first", "day first")
_STAMPS = ("%Y%m%d", "%Y-%m-%d", "%Y_%m_%d", "%Y %m %d", "%Y.%m.%d")


class DateParts(NamedTuple):
    """Three numbers of a date as written, and whether the year stands first."""

    first: int
    second: int
    third: int
    year_first: bool
    dotted: bool


def date_parts(text: str) -> DateParts:
    """Numbers of a date as 27/2/2018, 06/12/17, 2018-02-27 or 27.02.2018.

    Raises:
        ValueError: It is none.
    """
    match = _DATE.match(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no date; expected one as 2018-02-27, 02/27/2018 or 27.2.2018")
    first, second, third = int(match[1]), int(match[3]), int(match[4])
    return DateParts(first, second, third, len(match[1]) > 2, match[2] == ".")


def date_order(parts: Iterable[DateParts]) -> DateOrder | None:
    """Whether day or month stands first, None where every date can be read both ways.

    Raises:
        ValueError: Some dates have the month first and others the day.
    """
    found: set[DateOrder] = set()
    for part in parts:
        if part.year_first:
            continue
        if part.dotted or part.first > 12:
            found.add("day first")
        elif part.second > 12:
            found.add("month first")
    if len(found) > 1:
        raise ValueError("some dates have the month first and others the day")
    return found.pop() if found else None


def date(parts: DateParts, order: DateOrder) -> datetime.date:
    """The date; two digits of a year are of 1970 to 2069.

    Raises:
        ValueError: There is no such day.
    """
    if parts.year_first:
        year, month, day = parts.first, parts.second, parts.third
    elif order == "day first":
        day, month, year = parts.first, parts.second, parts.third
    else:
        month, day, year = parts.first, parts.second, parts.third
    if year < 100:
        year += 1900 if year >= 70 else 2000
    if not 1900 <= year <= 2200:
        raise ValueError(f"the year {year} lies outside 1900 to 2200")
    return datetime.date(year, month, day)


def time_of_day(text: str) -> datetime.timedelta:
    """Time since midnight of 14:12:20, 14:12, 02:12:20 PM or 14.12.20.

    Raises:
        ValueError: It is none.
    """
    match = _TIME.match(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is no time; expected one as 14:12:20 or 02:12:20 PM")
    hours, minutes, seconds = int(match[1]), int(match[2]), int(match[3] or 0)
    half = (match[5] or "").lower()
    if half and not 1 <= hours <= 12:
        raise ValueError(f"{text!r} is no time of twelve hours")
    if half:
        hours = hours % 12 + (12 if half == "p" else 0)
    if hours > 23 or minutes > 59 or seconds > 59:
        raise ValueError(f"{text!r} is no time of day")
    fraction = float((match[4] or ".0").replace(",", "."))
    return datetime.timedelta(hours=hours, minutes=minutes, seconds=seconds + round(fraction, 6))


def moment(day: datetime.date, time: datetime.timedelta) -> np.datetime64:
    """Day and time of day together."""
    return np.datetime64(datetime.datetime.combine(day, datetime.time()) + time, "ns")


def resolved_order(
    parts: Sequence[DateParts], names: Iterable[str], stated: DateOrder | None, notes: list[str]
) -> DateOrder:
    """Whether day or month stands first in dates that do not say it.

    It is what the dates allow; else what the user states; else the order of a date in a name; else the
    one by which the dates lie closer together; else month first. What was assumed is noted.

    Raises:
        ValueError: Some dates have the month first and others the day.
    """
    found = date_order(parts)
    if found is not None or stated is not None or all(part.year_first for part in parts):
        return found or stated or "month first"
    days: dict[DateOrder, list[datetime.date]] = {order: [date(p, order) for p in parts] for order in _ORDERS}
    text = " ".join(names)
    named: list[DateOrder] = [order for order in _ORDERS if any(days[order][0].strftime(s) in text for s in _STAMPS)]
    spans: dict[DateOrder, Any] = {order: max(days[order]) - min(days[order]) for order in _ORDERS}
    if len(named) == 1:
        order, reason = named[0], "as a name in the file has it"
    elif spans["month first"] != spans["day first"]:
        order, reason = min(_ORDERS, key=lambda o: spans[o]), "by which the scans lie closer together"
    else:
        order, reason = "month first", "which nothing in the file confirms; state date_order if it is wrong"
    notes.append(f"Dates are taken with the {order}, {reason}.")
    return order


class Stamp(NamedTuple):
    """A date and time in one text.

    Attributes:
        day: Date as written.
        time: Time since midnight.
        zone: Offset from UTC, None where none is written.
    """

    day: DateParts
    time: datetime.timedelta
    zone: datetime.timedelta | None

    def moment(self, order: DateOrder) -> np.datetime64:
        """The time, in UTC if a zone is written; a ValueError if there is no such day."""
        return moment(date(self.day, order), self.time - (self.zone or datetime.timedelta()))


def stamp(text: str) -> Stamp:
    """Date and time of 2017-06-12T14:12:20, 12.6.2017 14:12 or 06/12/2017 02:12:20 PM; midnight without a time.

    Raises:
        ValueError: It is none.
    """
    day, _, time = _BETWEEN.sub(" ", text.strip(), count=1).partition(" ")
    match = _ZONE.search(time)
    zone = None
    if match is not None:
        time = time[: match.start()]
        zone = datetime.timedelta(hours=int(match[2] or 0), minutes=int(match[3] or 0)) * (-1 if match[1] == "-" else 1)
    return Stamp(date_parts(day), time_of_day(time) if time.strip() else datetime.timedelta(), zone)
