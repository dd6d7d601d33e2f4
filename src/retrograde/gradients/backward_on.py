"""Twins with a backward pass of kernels that were built without one."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from retrograde.gradients.twins.compile import compile_twin, quietly
from retrograde.gradients.twins.source import read_kernel
from retrograde.trace.operations import LaunchCall
from retrograde.trace.warp_api import wp

_OPTION = "enable_backward"


def has_adjoint(call: LaunchCall) -> bool:
    """Whether a kernel was built with its backward pass."""
    for options in (call.kernel.options, call.kernel.module.options):
        enabled = options.get(_OPTION)
        if enabled is not None:
            return bool(enabled)
    return bool(wp.config.enable_backward)


def with_backward(call: LaunchCall) -> Any:
    """The kernel of a launch itself where it has a backward pass, else its twin; None where none can be built."""
    return call.kernel if has_adjoint(call) else _twin(call.kernel, call.device)


@lru_cache(maxsize=256)
def _twin(kernel: Any, device: str) -> Any:
    """The same source as a kernel of a module of its own; None where it cannot be built with a backward pass."""
    try:
        twin = compile_twin(read_kernel(kernel), {})
        with quietly():
            twin.module.load(wp.get_device(device))
    except Exception:
        return None
    return twin
