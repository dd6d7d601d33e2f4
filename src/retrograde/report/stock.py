"""The words of Warp's own checks: for machines, and for a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from retrograde.report.numbers import number
from retrograde.stock.words import Stock

_MOST = 5
_VERDICT = {True: "complains", False: "has no complaint", None: "came to no answer"}


def stock_document(stock: Sequence[Stock]) -> list[dict[str, Any]]:
    """The checks as a part of the JSON report."""
    return [
        {
            "tool": check.tool.value,
            "flagged": check.flagged,
            "said": list(check.said),
            "count": check.count,
            "ended": check.ended,
            "seconds": number(check.seconds),
        }
        for check in stock
    ]


def stock_parts(stock: Sequence[Stock]) -> list[RenderableType]:
    """The checks for a terminal, part by part."""
    parts: list[RenderableType] = []
    for check in stock:
        times = f", {check.count} times" if check.count > 1 else ""
        title = Text.assemble(("Warp's ", "dim"), (check.tool.value, "bold"), f" {_VERDICT[check.flagged]}{times}")
        parts.append(title.append(f" ({check.ended}, {check.seconds:.1f} s)", "dim"))
        parts += [Padding(Text(sentence), (0, 0, 0, 2)) for sentence in check.said[:_MOST]]
        if len(check.said) > _MOST:
            parts.append(Text(f"  and {len(check.said) - _MOST} more, all of them in --format json"))
    return parts
