"""The page of a cause, made from its file alone: for the documentation and for `retrograde explain`."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.lint.catalogue import pattern_of


def page_of(cause: Cause) -> str:
    """The page of `cause` in Markdown, with one heading of the first level."""
    sections = [
        ("What it finds", cause.finds),
        ("Why it matters", cause.why),
        ("Example", _code(cause.example_wrong)),
        ("Use instead", _code(cause.example_right)),
        ("How to fix it", cause.fix),
        ("What lint looks for", pattern.looks_for if (pattern := pattern_of(cause.code)) else ""),
        ("Known problems", cause.known_problems),
        ("References", "\n".join(f"- {reference}" for reference in cause.references)),
    ]
    parts = [f"# {cause.code} {cause.name}", cause.summary.strip()]
    parts += [f"## {title}\n\n{text.strip()}" for title, text in sections if text.strip()]
    return "\n\n".join(parts) + "\n"


def _code(source: str) -> str:
    return f"```python\n{source.strip()}\n```" if source.strip() else ""
