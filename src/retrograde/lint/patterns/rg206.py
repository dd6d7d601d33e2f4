"""Built-ins that have a derivative and no adjoint."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from retrograde.lint.device import Sort
from retrograde.lint.module import SourceModule
from retrograde.lint.suspicion import Sighting

CODE, NAME = "RG206", "adjoint-free-builtin"
FIX = "Write the operation with built-ins that have adjoints, or give it one with `@wp.func_grad`."
_BUILTINS = (
    "frac",
    "atomic_exch",
    "atomic_cas",
    "mesh_eval_face_normal",
    "mesh_get_point",
    "mesh_get_velocity",
    "volume_lookup_f",
    "volume_lookup_v",
    "dense_chol",
    "dense_subs",
    "tile_sort",
    "tile_min",
    "tile_max",
    "tile_reduce",
    "tile_scan_inclusive",
    "tile_scan_exclusive",
    "tile_cholesky_solve",
    "tile_upper_solve",
)


def find(module: SourceModule) -> Iterator[Sighting]:
    """Calls of built-ins whose value depends smoothly on their arguments, and through which Warp sends no gradient."""
    for device in module.differentiated:
        for node in device.nodes:
            name = module.names.called(node)
            if name not in _BUILTINS or not isinstance(node, ast.Call):
                continue
            if name.startswith("atomic_") and not (node.args and device.sort_of(node.args[0]) is Sort.ARRAY):
                continue  # a lock or a counter
            yield Sighting(node, f"wp.{name} has no adjoint in Warp: no gradient passes it.")
