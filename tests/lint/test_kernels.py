"""What lint says of kernels, held against what their adjoints do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import warp as wp
from tests.lint import kernels

from retrograde.lint.catalogue import patterns
from retrograde.lint.module import read_module
from retrograde.lint.run import lint_module

_FILE = Path(kernels.__file__)
_START = np.array([0.3, 0.9, 0.7, 0.3])
_SINGLE = [k for k in vars(kernels).values() if isinstance(k, wp.Kernel)]


def _value(kernel: wp.Kernel, contents: np.ndarray) -> tuple[float, np.ndarray]:
    x = wp.array(contents, dtype=wp.float64, requires_grad=True, device="cpu")
    y = wp.zeros(1, dtype=wp.float64, requires_grad=True, device="cpu")
    with wp.Tape() as tape:
        wp.launch(kernel, dim=1, inputs=[x], outputs=[y], device="cpu")
    value = float(y.numpy()[0])
    tape.backward(grads={y: wp.ones(1, dtype=wp.float64, device="cpu")})
    return value, x.grad.numpy().copy()


def _is_right(kernel: wp.Kernel) -> bool:
    """Whether the adjoint is a derivative of the kernel, of one side where the other does not exist."""
    _, gradient = _value(kernel, _START)
    step = 1e-6
    for i, direction in enumerate(np.eye(4)):
        middle = _value(kernel, _START)[0]
        sides = [(_value(kernel, _START + s * step * direction)[0] - middle) / (s * step) for s in (1.0, -1.0)]
        if not np.isfinite(gradient[i]) or min(abs(gradient[i] - side) for side in sides) > 1e-4:
            return False
    return True


@pytest.fixture(scope="module")
def suspected() -> set[str]:
    """Names of the kernels and functions that lint speaks of."""
    module = read_module(_FILE)
    found, _ = lint_module(module, patterns())
    named: set[str] = set()
    for suspicion in found:
        named |= {d.name for d in module.devices if d.node.lineno <= suspicion.line <= (d.node.end_lineno or 0)}
    return named


@pytest.mark.parametrize("kernel", _SINGLE, ids=lambda k: k.key)
def test_kernels_are_suspected_if_their_adjoint_is_wrong(kernel: wp.Kernel, suspected: set[str]) -> None:
    about = {kernel.key, *(f"adj_{name}" for name in _functions_of(kernel))}
    assert bool(about & suspected) == (not _is_right(kernel))


def _functions_of(kernel: wp.Kernel) -> list[str]:
    return [name for name in ("half_adjoint", "assigned_adjoint") if name in kernel.adj.source]
