"""What a pattern says of a line: a suspicion, which an audit confirms or clears."""

from __future__ import annotations

import ast
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Suspicion:
    """A place in a file that looks like a fault.

    Attributes:
        file: Path of the file, as it was given.
        line, column: Where, counted from 1.
        code: Code of the cause that it may be, "RG403".
        name: Name of that cause.
        message: What was seen there, and what it does to the gradient.
        fix: The smallest change.
    """

    file: str
    line: int
    column: int
    code: str
    name: str
    message: str
    fix: str


@dataclass(frozen=True)
class Sighting:
    """What a pattern returns: a node, and what is wrong with it.

    Attributes:
        node: Where.
        message: What was seen there, and what it does to the gradient.
    """

    node: ast.AST
    message: str
