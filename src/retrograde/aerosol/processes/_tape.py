"""Which tape records, if any."""

from __future__ import annotations

import importlib
from typing import Any

_CONTEXTS = ("warp._src.context", "warp.context")
"""Where Warp has kept its runtime, newest first."""


def active_tape() -> Any:
    """The tape whose `with` block is open, None outside of any."""
    for name in _CONTEXTS:
        try:
            context: Any = importlib.import_module(name)
        except ImportError:
            continue
        return None if context.runtime is None else context.runtime.tape
    raise ImportError(f"no Warp runtime in {' or '.join(_CONTEXTS)}: this version of Warp is not supported")
