"""Operations that are flat."""

from __future__ import annotations

from collections.abc import Iterator

from retrograde.lint.module import SourceModule
from retrograde.lint.suspicion import Sighting

CODE, NAME = "RG501", "flat-operation"
FIX = "If a gradient is wanted here, choose a smooth surrogate; zero is the right derivative of this operation."
_BUILTINS = ("sign", "step", "round", "rint", "trunc", "floor", "ceil")


def find(module: SourceModule) -> Iterator[Sighting]:
    """Roundings, signs and steps: their derivative is zero wherever it exists."""
    for device in module.differentiated:
        for node in device.nodes:
            if module.names.called(node) in _BUILTINS:
                yield Sighting(node, f"The derivative of wp.{module.names.called(node)} is zero.")
