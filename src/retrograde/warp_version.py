"""Which Warp is needed, and what to say of another one. Imports no Warp by itself."""

from __future__ import annotations

import importlib
import re
from typing import Any

OLDEST = "1.14"
"""The oldest version of Warp that can be observed."""


def is_of_warp(error: Exception) -> bool:
    """Whether an error of an import, or of an attribute, is about Warp."""
    if isinstance(error, ImportError):
        return (error.name or "").partition(".")[0] == "warp"
    owner = getattr(error, "obj", None)
    module = getattr(owner, "__module__", None) or getattr(owner, "__name__", "")
    return str(module).partition(".")[0] == "warp"


def unsuitable(error: Exception) -> str:
    """Why an audit is impossible with the Warp that is installed.

    Args:
        error: What went wrong when it was looked at.
    """
    try:
        warp: Any = importlib.import_module("warp")
    except ImportError as absent:
        return f"The audit needs Warp {OLDEST} or later, which cannot be imported: {absent}."
    version = str(getattr(getattr(warp, "config", None), "version", getattr(warp, "__version__", "")))
    if _numbers(version) < _numbers(OLDEST):
        return f"The audit needs Warp {OLDEST} or later; {version} is installed."
    return f"The installed Warp {version} lacks something that the audit observes: {error}."


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", version)[:2])
