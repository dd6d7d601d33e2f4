"""Kernels without a backward pass on a tape."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from retrograde.lint.host import host_scopes
from retrograde.lint.module import SourceModule
from retrograde.lint.suspicion import Sighting

CODE, NAME = "RG202", "backward-disabled"
FIX = "Leave `enable_backward` on for kernels that a tape records."


def find(module: SourceModule) -> Iterator[Sighting]:
    """Launches inside a recording block of kernels that are compiled without an adjoint."""
    for scope in host_scopes(module):
        for block in scope.blocks:
            for launch in scope.launches(block.node.body):
                device = module.named(launch.kernel.id) if isinstance(launch.kernel, ast.Name) else None
                if device is not None and not device.differentiable:
                    yield Sighting(
                        launch.node, f"{device.name} is compiled with enable_backward=False: no gradient passes it."
                    )
