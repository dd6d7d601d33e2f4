"""Counts trials by cause, and writes the tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.properties.trials import Result

_COLUMNS = ("programs", "found", "named", "line", "invented", "undecided")


@dataclass(frozen=True)
class Row:
    """Programs with one cause, alone or beside others.

    Attributes:
        programs: Number of programs.
        found: Those declared wrong.
        named: Those of which the cause was reported.
        line: Those of which it was reported at its line.
        invented: Those with another cause reported that was not planted.
        undecided: Those not decided, or whose audit failed.
    """

    programs: int
    found: int
    named: int
    line: int
    invented: int
    undecided: int


def row(results: Sequence[Result], cause: str | None = None) -> Row:
    """Count results by one cause; None asks for all causes that were planted."""

    def every(result: Result) -> tuple[str, ...]:
        return result.causes if cause is None else (cause,)

    wrong = [r for r in results if r.verdict == "wrong"]
    return Row(
        programs=len(results),
        found=len(wrong),
        named=sum(all(r.names(c) for c in every(r)) for r in wrong),
        line=sum(all(r.points_at(c) for c in every(r)) for r in wrong),
        invented=sum(bool(r.invented) for r in wrong),
        undecided=sum(r.verdict not in ("wrong", "right") for r in results),
    )


def table(results: Sequence[Result]) -> str:
    """Tables in Markdown: right programs, one fault by cause, two faults."""
    tried = [r for r in results if r.state != "no program"]
    parts = [_right([r for r in tried if not r.causes])]
    single = [r for r in tried if len(r.causes) == 1]
    causes = sorted({r.causes[0] for r in single})
    if causes:
        rows = [(c, row([r for r in single if r.causes == (c,)], c)) for c in causes]
        parts.append(_planted("one fault", [*rows, ("all", row(single))]))
    double = [r for r in tried if len(r.causes) == 2]
    if double:
        causes = sorted({c for r in double for c in r.causes})
        rows = [(c, row([r for r in double if c in r.causes], c)) for c in causes]
        parts.append(_planted("one of two faults", [*rows, ("both", row(double))]))
    return "\n\n".join(part for part in parts if part) + "\n"


def _right(results: Sequence[Result]) -> str:
    if not results:
        return ""
    counts = {verdict: sum(r.verdict == verdict for r in results) for verdict in ("right", "wrong")}
    rest = len(results) - sum(counts.values())
    head = "| right programs | declared right | declared wrong | undecided |\n|---|---:|---:|---:|"
    return f"{head}\n| {len(results)} | {counts['right']} | {counts['wrong']} | {rest} |"


def _planted(title: str, rows: Sequence[tuple[str, Row]]) -> str:
    lines = [f"| {title} | {' | '.join(_COLUMNS)} |", "|---|" + "---:|" * len(_COLUMNS)]
    for name, r in rows:
        lines.append(f"| {name} | {' | '.join(str(getattr(r, column)) for column in _COLUMNS)} |")
    return "\n".join(lines)


def fault_of(result: Result) -> str:
    """What is wrong with the auditor's answer, in words; empty where nothing is."""
    if result.state == "no program":
        return ""
    if result.state == "failed":
        return "failed: " + (result.reason.strip().splitlines() or [""])[-1]
    if not result.causes:
        return "" if result.verdict == "right" else f"false alarm: {result.verdict}"
    if result.verdict != "wrong":
        return f"not found: {result.verdict}"
    missing = [c for c in result.causes if not result.names(c)]
    astray = [c for c in result.causes if c not in missing and not result.points_at(c)]
    words = [f"not named: {', '.join(missing)}"] if missing else []
    words += [f"line of {', '.join(astray)}"] if astray else []
    words += [f"invented: {', '.join(result.invented)}"] if result.invented else []
    return "; ".join(words)
