"""Types of expressions inside a kernel, found by having Warp generate code for it."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from retrograde.gradients.twins.compile import quietly
from retrograde.gradients.twins.rewrite import Edit, Rewrite, make_twin
from retrograde.gradients.twins.source import FunctionSource, KernelSource
from retrograde.trace.warp_api import context, wp

Node = tuple[FunctionSource, int]


def types_of(source: KernelSource, nodes: Iterable[Node]) -> dict[Node, tuple[Any, ...]]:
    """Types of expressions, given by the numbers of their nodes.

    Each expression is put into a call of a generic function that returns it. Warp notes for which types it makes
    such a function when it generates code; nothing is compiled.

    Args:
        source: The kernel.
        nodes: The expressions; of an expression that is stored to (`v[0] = ...`), the statement, and the name
            that is stored to is meant.

    Returns:
        The types of each: none where its code is never reached, several in generic functions.

    Raises:
        TwinError: The kernel cannot be made again.
        Exception: Warp cannot generate code for the kernel with these calls in it.
    """
    probes: dict[Node, Any] = {}
    rewrites: list[Rewrite] = []
    for count, node in enumerate(nodes):
        probes[node] = _probe(count)
        name = f"_type_{count}"
        rewrites.append(Rewrite("", node[0], 0, "", {node[1]: _asking(name)}, "", {name: probes[node]}))
    if not rewrites:
        return {}
    with quietly():
        kernel = make_twin(source, rewrites, lasting=False).kernel
        module = kernel.module
        block = module.options["block_dim"]
        options = module.resolve_options(wp.config, block_dim=block)
        context.ModuleBuilder(module, options | {"output_arch": None, "block_dim": block})
    return {node: _seen(function) for node, function in probes.items()}


def _probe(count: int) -> Any:
    def same(value: Any):
        return value

    return wp.Function(
        func=same, key=f"same_{count}", namespace="", module=wp.Module("types", None), value_func=None, scope_locals={}
    )


def _asking(name: str) -> Edit:
    def edit(node: Any) -> Any:
        if isinstance(node, ast.expr):
            return ast.Call(ast.Name(name, ast.Load()), [node], [])
        target: Any = node.targets[0] if isinstance(node, ast.Assign) else node.target
        while not isinstance(target, ast.Name):
            target = target.value
        return [ast.Expr(ast.Call(ast.Name(name, ast.Load()), [ast.Name(target.id, ast.Load())], [])), node]

    return edit


_WRITTEN_OUT = {float: wp.float32, int: wp.int32, bool: wp.bool}
"""What numbers written out are to Warp."""


def _seen(function: Any) -> tuple[Any, ...]:
    made = [f for f in function.user_overloads.values() if f.generic_parent is not None]
    kinds = (next(iter(f.input_types.values())) for f in made)
    return tuple(dict.fromkeys(_WRITTEN_OUT.get(kind, kind) for kind in kinds))
