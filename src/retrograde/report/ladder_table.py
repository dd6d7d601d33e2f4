"""The four gradients of each parameter as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.table import Table

from retrograde.gradients.rungs import Array, Direction, Ladder
from retrograde.report.figures import MISSING, figure, share
from retrograde.report.measures import RUNGS, norm, reference_error, reference_norm, relative_error

MAX_LADDERS = 6
"""Ladders beyond the worst so many are counted, not shown."""

_MAX_ELEMENTS = 4


def ladder_table(ladders: Sequence[Ladder]) -> Table:
    """The ladders whose consumed gradient is furthest from the reference, in program order.

    Gradients of up to four elements are shown element by element, larger ones by their norm, or by the directional
    derivative that is furthest off where the reference was measured along directions only.
    """
    shown = sorted(sorted(ladders, key=_distance, reverse=True)[:MAX_LADDERS], key=ladders.index)
    hidden = len(ladders) - len(shown)
    table = Table(box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False, show_edge=False)
    table.caption = f"and {hidden} more, all of them in --format json" if hidden else None
    table.caption_justify = "left"
    table.add_column("gradient of the objective by")
    for name in (*RUNGS, "reference"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("error", justify="right", no_wrap=True)
    for ladder in shown:
        _add_rows(table, ladder)
    return table


def _add_rows(table: Table, ladder: Ladder) -> None:
    shape = f" [{', '.join(str(extent) for extent in ladder.shape)}]" if ladder.shape else ""
    title = f"{ladder.parameter}{shape} {ladder.dtype}, iteration {ladder.iteration}"
    error = share(relative_error(ladder, "consumed"))
    if math.prod(ladder.shape) <= _MAX_ELEMENTS:
        cells = [_elements(getattr(ladder, name)) for name in RUNGS]
        table.add_row(title, *cells, _reference_elements(ladder), error)
        measured = ladder.reference is not None and not np.isnan(ladder.reference).all()
    else:
        cells = [f"|{figure(norm(getattr(ladder, name)))}|" for name in RUNGS]
        whole = reference_norm(ladder)
        table.add_row(title, *cells, MISSING if whole is None else f"|{_bar(whole, reference_error(ladder))}|", error)
        measured = whole is not None
    worst = _worst(ladder.directions)
    if not measured and worst is not None:
        cells = [figure(getattr(worst, name)) for name in RUNGS]
        table.add_row(f"  along {worst.label}", *cells, _bar(worst.reference, worst.error), "")


def _elements(values: Array | None) -> str:
    return MISSING if values is None else "\n".join(figure(float(value)) for value in values)


def _reference_elements(ladder: Ladder) -> str:
    if ladder.reference is None:
        return MISSING
    errors = ladder.reference_error
    if errors is None:
        errors = np.full(ladder.reference.shape, math.nan)
    return "\n".join(_bar(float(value), float(error)) for value, error in zip(ladder.reference, errors, strict=True))


def _distance(ladder: Ladder) -> float:
    error = relative_error(ladder, "consumed")
    return -1.0 if error is None else error


def _worst(directions: Sequence[Direction]) -> Direction | None:
    def distance(direction: Direction) -> float:
        if direction.consumed is None:
            return -1.0
        difference = abs(direction.consumed - direction.reference)
        return math.inf if math.isnan(difference) else difference

    return max(directions, key=distance, default=None)


def _bar(value: float, error: float | None) -> str:
    if math.isnan(value):
        return MISSING
    if error is None or math.isnan(error):
        return figure(value)
    return f"{figure(value)} ± {error:.1g}"
