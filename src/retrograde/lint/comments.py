"""Comments that tell the linter to let a line pass, with the reason."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, replace

from retrograde.lint.module import SourceModule
from retrograde.lint.suspicion import Suspicion

_IGNORE = re.compile(r"#\s*retrograde:\s*ignore(?:\[(?P<codes>[^\]]*)\])?(?P<reason>.*)")


@dataclass(frozen=True)
class Ignore:
    """One such comment.

    Attributes:
        line: Its line.
        covers: The line that it speaks of: its own, or the next one where it stands alone.
        codes: Codes that it names.
        reason: Why.
    """

    line: int
    covers: int
    codes: frozenset[str]
    reason: str


def ignores_in(module: SourceModule) -> tuple[Ignore, ...]:
    """The comments of a file."""
    if "retrograde:" not in module.text:
        return ()
    return tuple(_ignores(module.text))


def _ignores(text: str) -> Iterator[Ignore]:
    lines = text.splitlines()
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return
    for token in tokens:
        match = _IGNORE.match(token.string) if token.type == tokenize.COMMENT else None
        if match is None:
            continue
        line = token.start[0]
        alone = lines[line - 1].lstrip().startswith("#")
        codes = frozenset(c.strip().upper() for c in (match["codes"] or "").split(",") if c.strip())
        yield Ignore(line, _next_code(lines, line) if alone else line, codes, match["reason"].strip(" :-"))


def _next_code(lines: list[str], line: int) -> int:
    """The next line that is neither empty nor a comment."""
    following = line
    while following < len(lines) and (not lines[following].strip() or lines[following].lstrip().startswith("#")):
        following += 1
    return following + 1


def without_ignored(
    suspicions: list[Suspicion], ignores: tuple[Ignore, ...], path: str
) -> tuple[list[Suspicion], list[str]]:
    """Suspicions that no comment lets pass, and notes on comments that do nothing.

    A comment must name codes and give a reason; one that does not lets nothing pass.
    """
    kept: list[Suspicion] = []
    idle = set(ignores)
    for suspicion in suspicions:
        mine = [i for i in ignores if i.covers == suspicion.line and suspicion.code in i.codes]
        idle -= set(mine)
        if not mine:
            kept.append(suspicion)
        elif not any(i.reason for i in mine):
            said = f"{suspicion.message} (The comment that would ignore this gives no reason, so it does not.)"
            kept.append(replace(suspicion, message=said))
    return kept, [f"{path}:{i.line}: {_complaint(i)}" for i in sorted(idle, key=lambda i: i.line)]


def _complaint(ignore: Ignore) -> str:
    if not ignore.codes:
        return "this comment names no code: write `# retrograde: ignore[RG403] reason`."
    return f"nothing to ignore here for {', '.join(sorted(ignore.codes))}."
