"""Functions that twins call in place of built-ins: text compiled for given types, with their own adjoints."""

from __future__ import annotations

import hashlib
import linecache
from collections.abc import Mapping
from typing import Any

from retrograde.gradients.twins.parameters import KEPT, NOTES, THREAD
from retrograde.trace.warp_api import wp


def define(
    name: str,
    text: str,
    types: Mapping[str, Any],
    returned: Any,
    further: tuple[str, ...] = (),
    known: Mapping[str, Any] | None = None,
) -> Any:
    """A Warp function from text.

    Args:
        name: Its name.
        text: Definitions, without annotations, of `name`, and where wanted of `adj_name` and `replay_name`; Warp is
            known to them as `_wp`.
        types: Types of its own arguments, in order.
        returned: Type of what it returns.
        further: Which of `THREAD`, `NOTES` and `KEPT` follow them.
        known: Further names that the text uses.
    """
    array = wp.array(dtype=wp.float64, ndim=2)
    kinds = dict(types) | {n: {THREAD: wp.int32, NOTES: array, KEPT: array}[n] for n in further}
    file = f"<{name} {hashlib.sha256(f'{text} {kinds} {returned}'.encode()).hexdigest()[:12]}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    scope: dict[str, Any] = {"_wp": wp, "__name__": "twin_functions", **(known or {})}
    exec(compile(text, file, "exec"), scope)
    scope[name].__annotations__ = dict(kinds)
    function = wp.Function(
        func=scope[name], key=name, namespace="", module=wp.Module("twins", None), value_func=None, scope_locals={}
    )
    if (adjoint := scope.get(f"adj_{name}")) is not None:
        adjoint.__annotations__ = dict(kinds) | {"adj_ret": returned}
        wp.func_grad(function)(adjoint)
    if (replay := scope.get(f"replay_{name}")) is not None:
        replay.__annotations__ = dict(kinds)
        wp.func_replay(function)(replay)
    return function
