"""First Debye function, the share of a curved wall that settling reaches."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol._device import Float64, wp

_NODES = 16
_SPLIT = 10.0
_TAIL_TERMS = 4

_nodes, _weights = np.polynomial.legendre.leggauss(_NODES)
_Vec16 = wp.types.vector(length=_NODES, dtype=wp.float64)
_X = wp.constant(_Vec16(*(0.5 * (_nodes + 1.0))))
_W = wp.constant(_Vec16(*(0.5 * _weights)))
_ZERO = wp.constant(wp.float64(0.0))
_ONE = wp.constant(wp.float64(1.0))
_SERIES_END = wp.constant(wp.float64(0.1))
_SPLIT_WP = wp.constant(wp.float64(_SPLIT))
_ZETA2 = wp.constant(wp.float64(np.pi**2 / 6.0))
_C1 = wp.constant(wp.float64(1.0 / 2.0))
_C2 = wp.constant(wp.float64(1.0 / 12.0))
_C4 = wp.constant(wp.float64(1.0 / 720.0))
_C6 = wp.constant(wp.float64(1.0 / 30240.0))


def debye1(x: Any) -> Any:
    """First Debye function [1] of x >= 0 [1]: (1/x) times the integral of t / (e^t - 1) from 0 to x.

    Below 10 by Gauss-Legendre quadrature, above by the series of the integral's tail; relative error
    below 1e-13.

    Source: Abramowitz and Stegun (1964), Handbook of Mathematical Functions, 27.1.
    """
    x = np.asarray(x, dtype=np.float64)
    small = np.minimum(x, _SPLIT)
    quadrature = _bose(0.5 * small[..., None] * (_nodes + 1.0)) @ (0.5 * _weights)
    large = np.maximum(x, _SPLIT)
    k = np.arange(1, _TAIL_TERMS + 1, dtype=np.float64)
    tail = (np.exp(-k * large[..., None]) * (large[..., None] / k + 1.0 / k**2)).sum(axis=-1)
    return np.where(x <= _SPLIT, quadrature, (np.pi**2 / 6.0 - tail) / large)


def _bose(t: NDArray[np.float64]) -> NDArray[np.float64]:
    """T / (e^t - 1), 1 at zero."""
    safe = np.where(t > 0.0, t, 1.0)
    return np.where(t > 0.0, safe / np.expm1(safe), 1.0)


@wp.func
def _bose_wp(t: Float64) -> Float64:
    if t < _SERIES_END:
        square = t * t
        return _ONE - t * _C1 + square * (_C2 - square * (_C4 - square * _C6))
    return t / (wp.exp(t) - _ONE)


@wp.func
def _quadrature_wp(x: Float64) -> Float64:
    total = _ZERO
    for i in range(16):
        total += _W[i] * _bose_wp(x * _X[i])
    return total


@wp.func
def debye1_wp(x: Float64) -> Float64:
    """Device twin of `debye1`."""
    if x <= _SPLIT_WP:
        return _quadrature_wp(x)
    tail = _ZERO
    for i in range(1, 5):
        k = wp.float64(i)
        tail += wp.exp(-k * x) * (x / k + _ONE / (k * k))
    return (_ZETA2 - tail) / x
