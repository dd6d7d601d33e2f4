"""Custom adjoints and replays, each against what Warp would do without it."""

from __future__ import annotations

from collections.abc import Iterator

from retrograde.gradients.twins.rewrite import Rewrite
from retrograde.gradients.twins.situation import Situation
from retrograde.gradients.twins.source import FunctionSource


def find_custom(situation: Situation) -> list[Rewrite]:
    """One rewrite for each custom adjoint, and for each custom replay: it is left out."""
    return [r for piece in situation.source.functions for r in _custom(piece)]


def _custom(piece: FunctionSource) -> Iterator[Rewrite]:
    for part, what in ((piece.gradient, "custom adjoint"), (piece.replay, "custom replay")):
        if part is not None:
            yield Rewrite(
                code="RG404",
                source=part,
                line=part.tree.lineno,
                subject=f"The {what} of {piece.name}",
                edits={},
                advice=f"Leave {part.name} out, or correct it.",
                drops=part,
                patch=False,
            )
