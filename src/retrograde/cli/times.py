"""Times on the command line: ISO 8601, or a time of day that is put on the file's day."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import numpy as np

_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?")


def split_window(text: str) -> tuple[str, str]:
    """Both ends of "TIME..TIME"; one TIME is both.

    Raises:
        click.UsageError: There are more than two, or one is empty.
    """
    parts = text.split("..")
    if len(parts) > 2 or not all(part.strip() for part in parts):
        raise click.UsageError(f"{text!r} is no window of time; expected TIME or TIME..TIME.")
    return parts[0].strip(), parts[-1].strip()


def place_times(texts: Sequence[str], first_scan: np.datetime64, last_scan: np.datetime64) -> list[np.datetime64]:
    """Times in the order in which they must come.

    Dates are taken as they are, converted to UTC where they name a zone. A time of day is put on the
    day of the first scan, or on the first day on which it is not before the time in front of it. If
    that leaves the last time before the first scan, the times of day are a day later.

    Args:
        texts: Times as they were typed.
        first_scan: Start of the file's first scan.
        last_scan: Start of its last one.

    Raises:
        click.UsageError: A time cannot be read, or the times are not in order.
    """
    import numpy as np

    day = np.timedelta64(1, "D")
    midnight = first_scan.astype("datetime64[D]").astype("datetime64[ns]")
    times: list[np.datetime64] = []
    for shift in range(2):
        times = []
        for text in texts:
            clock = _clock(text)
            if clock is None:
                times.append(_date(text))
            else:
                time = midnight + shift * day + np.timedelta64(round(clock * 1e9), "ns")
                while times and time < times[-1]:
                    time += day
                times.append(time)
        if times[-1] >= first_scan or times[-1] + day > last_scan:
            break
    for earlier, later in itertools.pairwise(times):
        if later < earlier:
            raise click.UsageError(f"{shown(later)} comes before {shown(earlier)}; expected times in their order.")
    return times


def shown(time: Any) -> str:
    """A time to the second."""
    return str(time.astype("datetime64[s]"))


def _clock(text: str) -> float | None:
    """Seconds since midnight of a time of day; None for anything else."""
    match = _CLOCK.fullmatch(text)
    if match is None:
        return None
    hours, minutes, seconds = int(match[1]), int(match[2]), float(match[3] or 0.0)
    if hours > 23 or minutes > 59 or seconds >= 60.0:
        raise click.UsageError(f"{text!r} is no time of day.")
    return 3600.0 * hours + 60.0 * minutes + seconds


def _date(text: str) -> np.datetime64:
    import numpy as np

    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise click.UsageError(
            f"{text!r} is no time; expected ISO 8601, as 2017-06-12T14:12:20, or HH:MM[:SS]."
        ) from error
    if time.tzinfo is not None:
        time = time.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(time, "ns")
