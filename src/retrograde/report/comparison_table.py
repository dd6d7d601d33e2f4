"""What changed since an earlier report, for a person."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from retrograde.causes.finding import Finding
from retrograde.report.figures import figure, share
from retrograde.report.places import place
from retrograde.result import Comparison, GradientChange, LossChange, Used, Verdict

_MOST = 8


def comparison_parts(comparison: Comparison, verdict: Verdict) -> list[RenderableType]:
    """The comparison of an audit of this `verdict` with an earlier one, part by part."""
    title = Text.assemble(("since ", "dim"), (comparison.source, "bold"))
    title.append(f": {comparison.verdict.value} before, {verdict.value} now")
    parts: list[RenderableType] = [title]
    for word, findings in (("gone", comparison.gone), ("new", comparison.new), ("still there", comparison.remaining)):
        parts += [Text(f"  {word}: {_named(finding)}") for finding in findings]
    if comparison.gradients:
        parts += (Text(), _gradients(comparison.gradients))
    if comparison.losses:
        parts += (Text(), _losses(comparison.losses))
    return parts


def _named(finding: Finding) -> str:
    where = "" if finding.file is None else f"  {place(finding.file, finding.line)}"
    return f"{finding.code} {finding.name}{where}"


def _table(first: str, *columns: str) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False, show_edge=False)
    table.caption_justify = "left"
    table.add_column(first)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table


def _gradients(changes: Sequence[GradientChange]) -> Table:
    table = _table("gradient of the objective by", "used before", "error", "used now", "error")
    for change in changes[:_MOST]:
        title = f"{change.parameter}, iteration {change.iteration}"
        table.add_row(title, *_used(change.before), *_used(change.now))
    return _counted(table, len(changes))


def _used(used: Used | None) -> tuple[str, str]:
    if used is None:
        return "-", "-"
    return ("-" if used.consumed is None else f"|{figure(used.consumed)}|"), share(used.error)


def _losses(changes: Sequence[LossChange]) -> Table:
    table = _table("objective", "before", "now")
    for change in changes[:_MOST]:
        table.add_row(f"{change.objective}, iteration {change.iteration}", figure(change.before), figure(change.now))
    return _counted(table, len(changes))


def _counted(table: Table, rows: int) -> Table:
    if rows > _MOST:
        table.caption = f"and {rows - _MOST} more, all of them in --format json"
    return table
