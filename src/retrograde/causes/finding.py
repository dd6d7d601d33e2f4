"""A cause or a remark, with the evidence that makes it one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Evidence = Mapping[str, "float | int | str | bool | list[float] | None"]

NEGLIGIBLE = 0.005
"""Share of an error that counts as explained away: what rounding leaves in a sum of several faults."""


@dataclass(frozen=True)
class Finding:
    """What an intervention proved.

    Attributes:
        code: Code of the cause, "RG101".
        name: Its name, "overwritten-input".
        message: One or two sentences about this program.
        file, line: The user's line to change or to look at; None where there is none.
        array: Name of the array concerned.
        route: By which route the fault came ("view or slice", "NumPy view", ...).
        explains: Share of the error that the intervention removed, 0 to 1; None for remarks.
        scale: The factor, where the error is one exact factor.
        alternatives: Codes and places that explain the same error as well.
        evidence: Numbers behind the finding, by name.
        fix: The smallest change, in words.
        doc: The page of the cause, and the section of Warp's documentation on it.
    """

    code: str
    name: str
    message: str
    file: str | None = None
    line: int | None = None
    array: str | None = None
    route: str | None = None
    explains: float | None = None
    scale: float | None = None
    alternatives: tuple[str, ...] = ()
    evidence: Evidence = field(default_factory=dict[str, "float | int | str | bool | list[float] | None"])
    fix: str = ""
    doc: str = ""
