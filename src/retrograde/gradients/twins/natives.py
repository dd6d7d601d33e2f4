"""Native functions without an adjoint."""

from __future__ import annotations

from retrograde.gradients.twins.rewrite import Rewrite
from retrograde.gradients.twins.situation import Situation
from retrograde.gradients.twins.source import Role


def find_natives(situation: Situation) -> list[Rewrite]:
    """Native functions that the kernel reaches and that have no adjoint snippet; no twin can cure them."""
    return [
        Rewrite(
            code="RG407",
            source=piece,
            line=piece.tree.lineno,
            subject=f"{piece.name} is native code without an adjoint, so no gradient passes through it",
            edits={},
            advice=f"Give {piece.name} an adj_snippet, or write it in Python.",
            patch=False,
        )
        for piece in situation.source.functions
        if piece.role is Role.NATIVE and piece.owner.adj_native_snippet is None
    ]
