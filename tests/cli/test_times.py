"""Times of the command line, put in order on the file's days."""

from __future__ import annotations

import click
import numpy as np
import pytest

from retrograde.cli.times import place_times, split_window

FIRST, LAST = np.datetime64("2023-09-25T14:59:08", "ns"), np.datetime64("2023-09-26T07:53:33", "ns")


def placed(*texts: str) -> list[str]:
    return [str(t.astype("datetime64[s]")) for t in place_times(texts, FIRST, LAST)]


def test_times_of_day_lie_on_the_first_day_or_roll_on() -> None:
    assert placed("20:00", "22:00", "02:00:30") == ["2023-09-25T20:00:00", "2023-09-25T22:00:00", "2023-09-26T02:00:30"]
    assert placed("02:00", "03:00") == ["2023-09-26T02:00:00", "2023-09-26T03:00:00"]
    assert placed("14:00", "15:30") == ["2023-09-25T14:00:00", "2023-09-25T15:30:00"]


def test_dates_are_taken_as_they_are_and_zones_become_utc() -> None:
    assert placed("2023-09-25T20:00", "2023-09-25T21:00:00.5") == ["2023-09-25T20:00:00", "2023-09-25T21:00:00"]
    assert placed("2023-09-25T22:00+02:00")[0] == "2023-09-25T20:00:00"


def test_what_is_no_time_or_out_of_order_is_refused() -> None:
    for wrong in ("25:00", "noon", "20:61", "", "2023-13-01"):
        with pytest.raises(click.UsageError, match="is no time"):
            placed(wrong)
    with pytest.raises(click.UsageError, match="in their order"):
        placed("2023-09-25T22:00", "2023-09-25T21:00")
    assert split_window("10:00..11:00") == ("10:00", "11:00")
    assert split_window("10:00") == ("10:00", "10:00")
    for wrong in ("..", "10:00..", "1..2..3"):
        with pytest.raises(click.UsageError, match="no window"):
            split_window(wrong)
