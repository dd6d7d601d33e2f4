"""What Warp's own checks say, out of all that was printed while they ran."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_CHECKED = re.compile(r"Gradient check for kernel (\S+) (failed|passed)")
_OVERWRITTEN = re.compile(
    r"(?:passed to argument (?P<argument>\S+) in kernel (?P<kernel>\S+) at (?P<launch>[^\n]+?:\d+) )?"
    r"is being written to (?:by (?P<operation>[^\n]+?) at (?P<place>[^\n]+?:\d+) )?"
    r"but has already been read from in a previous launch"
)


class Tool(Enum):
    """Warp's checks; the value is what reports call them."""

    TRACKER = "overwrite tracker"
    GRADCHECK = "gradcheck_tape"


@dataclass(frozen=True)
class Stock:
    """What one of Warp's checks said of a program.

    Attributes:
        tool: Which check.
        flagged: Whether it complained; None where it came to no end.
        said: Its words, each different sentence once.
        count: How many complaints it printed.
        ended: How far it came, in words.
        seconds: How long it took [s].
    """

    tool: Tool
    flagged: bool | None
    said: tuple[str, ...]
    count: int
    ended: str
    seconds: float


def overwrite_warnings(text: str) -> list[str]:
    """The tracker's warnings in a text, without the contents of the arrays that it prints."""
    found: list[str] = []
    for match in _OVERWRITTEN.finditer(text):
        where = ""
        if match["kernel"]:
            where = f"passed to argument {match['argument']} in kernel {match['kernel']} at {match['launch']} "
        by = f"by {match['operation']} at {match['place']} " if match["operation"] else ""
        found.append(f"Array {where}is being written to {by}but has already been read from in a previous launch.")
    return found


def checked_kernels(text: str) -> list[str]:
    """The lines in which gradcheck says of a kernel that it failed or passed."""
    plain = _COLOUR.sub("", text)
    return [f"Gradient check for kernel {m[1]} {m[2]}." for m in _CHECKED.finditer(plain)]


def distinct(sentences: Sequence[str]) -> tuple[str, ...]:
    """Each sentence once, in order, with how often it came where that was more than once."""
    counts = {sentence: sentences.count(sentence) for sentence in dict.fromkeys(sentences)}
    return tuple(s if n == 1 else f"{s} ({n} times)" for s, n in counts.items())
