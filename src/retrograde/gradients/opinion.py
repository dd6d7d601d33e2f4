"""What is thought of one consumed gradient."""

from __future__ import annotations

from enum import Enum


class Opinion(Enum):
    """What is thought of one consumed gradient."""

    RIGHT = "right"
    WRONG = "wrong"
    UNDECIDED = "undecided"
