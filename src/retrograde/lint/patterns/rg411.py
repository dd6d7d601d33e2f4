"""Neighbours that other threads write."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from retrograde.lint.device import DeviceFunction, Role
from retrograde.lint.module import SourceModule
from retrograde.lint.suspicion import Sighting
from retrograde.lint.tree import walk

CODE, NAME = "RG411", "thread-race"
FIX = "Write to another array than the one that is read."


def find(module: SourceModule) -> Iterator[Sighting]:
    """A kernel that stores to its own element of an array and reads a neighbour's."""
    for device in module.differentiated:
        if device.role is not Role.KERNEL:
            continue
        threads = _thread_indices(module, device)
        elements = [(n, e) for n in device.nodes if (e := device.element(n)) is not None]
        stored = {
            (ast.unparse(array), _text(indices))
            for node, (array, indices) in elements
            if isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Store)
            and all(isinstance(i, ast.Name) and i.id in threads for i in indices)
        }
        for node, (array, indices) in elements:
            if not (isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)):
                continue
            own = [_own(i, threads) for i in indices]
            if any(o is None for o in own) or not any(isinstance(i, ast.BinOp) for i in indices):
                continue
            if (ast.unparse(array), ", ".join(str(o) for o in own)) in stored:
                yield Sighting(
                    node,
                    f"`{ast.unparse(node)}` is another thread's element of an array that this kernel writes: "
                    "what is read depends on the order of the threads.",
                )
                break


def _thread_indices(module: SourceModule, device: DeviceFunction) -> set[str]:
    found: set[str] = set()
    for node in device.nodes:
        if isinstance(node, ast.Assign) and module.names.called(node.value) == "tid":
            found |= {n.id for t in node.targets for n in walk(t) if isinstance(n, ast.Name)}
    return found


def _text(indices: tuple[ast.expr, ...]) -> str:
    return ", ".join(ast.unparse(i) for i in indices)


def _own(index: ast.expr, threads: set[str]) -> str | None:
    """The thread index of `i`, `i + 1`, `i - 1`."""
    if (
        isinstance(index, ast.BinOp)
        and isinstance(index.op, ast.Add | ast.Sub)
        and isinstance(index.right, ast.Constant)
    ):
        index = index.left
    return index.id if isinstance(index, ast.Name) and index.id in threads else None
