"""The identity and the page of a cause."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Cause:
    """What one cause is, for the reader who met its code in a report.

    All texts are Markdown. The page of the documentation, `retrograde explain` and the reports are made from them.

    Attributes:
        code: Its code, "RG101".
        name: Its name, a noun: "overwritten-input".
        group: The group of its code: "contents", "chain", "bookkeeping", "kernels" or "remarks".
        summary: The fault in one sentence.
        finds: What the auditor looks for, and the intervention that proves it.
        why: Why it makes a gradient wrong (or, for a remark, why it explains a complaint).
        fix: The smallest change that cures it.
        example_wrong: A program fragment that has the fault.
        example_right: The same fragment, cured.
        known_problems: What the finding misses or confuses; empty where nothing is known.
        references: Places to read on: sections of Warp's documentation, papers with their DOI.
    """

    code: str
    name: str
    group: str
    summary: str
    finds: str
    why: str
    fix: str
    example_wrong: str
    example_right: str
    known_problems: str = ""
    references: tuple[str, ...] = ()
