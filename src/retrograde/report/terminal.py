"""The report for a person at a terminal: the verdict first, then what to change, then the numbers behind it."""

from __future__ import annotations

from io import StringIO

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from retrograde.causes.finding import NEGLIGIBLE, Finding
from retrograde.report.against import against_parts
from retrograde.report.comparison_table import comparison_parts
from retrograde.report.ladder_table import ladder_table
from retrograde.report.places import place
from retrograde.report.stock import stock_parts
from retrograde.result import Audit, Verdict

_STYLE = {
    Verdict.RIGHT: "bold green",
    Verdict.WRONG: "bold red",
    Verdict.UNDECIDED: "bold yellow",
    Verdict.NOT_RUN: "bold yellow",
    Verdict.NOTHING_TO_CHECK: "bold yellow",
}


def render_terminal(audit: Audit, *, width: int = 100, color: bool = False) -> str:
    """The report of `audit` as text.

    Args:
        audit: The result to report.
        width: Columns of the terminal.
        color: Whether to use colour and weight.
    """
    stream = StringIO()
    console = Console(
        file=stream,
        width=width,
        force_terminal=color,
        no_color=not color,
        color_system="standard" if color else None,
        highlight=False,
        emoji=False,
        markup=False,
        legacy_windows=False,
    )
    for part in _parts(audit):
        console.print(part)
    lines = (line.rstrip() for line in stream.getvalue().split("\n"))
    return "\n".join(lines)


def _parts(audit: Audit) -> list[RenderableType]:
    parts: list[RenderableType] = [_headline(audit)]
    for cause in audit.causes:
        parts += [Text(), _finding(cause)]
    if audit.verdict is Verdict.WRONG and audit.unexplained > NEGLIGIBLE:
        parts.append(Text(f"No cause explains {_percent(audit.unexplained)} of the error.", "bold"))
    if audit.ladder:
        parts += [Text(), ladder_table(audit.ladder)]
    for remark in audit.remarks:
        parts += [Text(), _finding(remark)]
    for finding in audit.accepted:
        parts += [Text(), Text("accepted, no fault:", "dim"), _finding(finding)]
    if audit.against is not None:
        parts += [Text(), *against_parts(audit.against)]
    if audit.stock:
        parts += [Text(), *stock_parts(audit.stock)]
    if audit.comparison is not None:
        parts += [Text(), *comparison_parts(audit.comparison, audit.verdict)]
    parts.append(Text())
    if audit.checked:
        parts.append(_hanging("checked", "; ".join(sentence.rstrip(".") for sentence in audit.checked) + "."))
    parts += [_hanging("not checked", sentence) for sentence in audit.not_checked]
    parts.append(Text(_footer(audit), "dim"))
    return parts


def _headline(audit: Audit) -> Text:
    program = " ".join([audit.script, *audit.args]).strip()
    line = Text.assemble((audit.verdict.value.upper(), _STYLE[audit.verdict]), "  ", (program, "bold"))
    return line.append("\n" + audit.reason if audit.reason else "")


def _finding(finding: Finding) -> Group:
    title = Text.assemble((finding.code, "bold"), " ", (finding.name, "bold"))
    if finding.file is not None:
        title.append(f"  {place(finding.file, finding.line)}", "cyan")
    if finding.explains is not None:
        title.append(f"  explains {_percent(finding.explains)} of the error")
    if finding.scale is not None:
        title.append(f", a factor of {finding.scale:.6g}")
    lines: list[RenderableType] = [title, Padding(Text(_message(finding)), (0, 0, 0, 2))]
    if finding.fix:
        lines.append(_hanging("  fix", finding.fix))
    if finding.alternatives:
        lines.append(_hanging("  or", "; ".join(finding.alternatives)))
    lines.append(_hanging("  more", f"retrograde explain {finding.code}" + (f"; {finding.doc}" if finding.doc else "")))
    return Group(*lines)


def _message(finding: Finding) -> str:
    return finding.message if finding.route is None else f"{finding.message} (By way of: {finding.route}.)"


def _hanging(label: str, text: str) -> RenderableType:
    """A label, and a text that wraps beside it."""
    grid = Table.grid(padding=(0, 1), expand=False)
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column()
    grid.add_row(f"{label}:", Text(text))
    return grid


def _footer(audit: Audit) -> str:
    parts = [f"{audit.seconds:.1f} s"]
    if audit.overhead is not None:
        parts.append(f"{audit.overhead:.1f} times the program's own time")
    if audit.warp:
        parts.append(f"Warp {audit.warp}")
    if audit.device:
        parts.append(audit.device)
    return ", ".join(parts)


def _percent(share: float) -> str:
    text = f"{100 * share:.1f}"
    return ("100" if text == "100.0" else text) + " %"
