"""Losses once more, by other means and in extended precision, for one box on the host."""

import numpy as np
import pytest

Real = np.longdouble

if np.finfo(Real).eps > 1e-18:
    pytest.skip("the reference needs an extended long double", allow_module_level=True)


def moment(number, volumes, order, target, scale):
    return ((number @ volumes.astype(Real) ** Real(order) - target) / scale) ** 2


def l2(number, target, widths, scale):
    return (((number / widths - target / widths) / scale) ** 2 * widths).sum()


def cumulative(number, divisor):
    return np.concatenate([np.zeros(1, Real), np.cumsum(number)]) / divisor


def _pieces(f, g, x):
    """Ends of the pieces on which F - G is linear and of one sign: (length, d at low end, d at high end)."""
    for i in range(len(x) - 1):
        low, high, width = f[i] - g[i], f[i + 1] - g[i + 1], x[i + 1] - x[i]
        if low * high < 0:
            cut = width * low / (low - high)
            yield cut, low, Real(0)
            yield width - cut, Real(0), high
        else:
            yield width, low, high


def cramer(number, target, x, scale=None):
    f = cumulative(number, scale or number.sum())
    g = cumulative(target, scale or target.sum())
    return sum(w * (a * a + a * b + b * b) / 3 for w, a, b in _pieces(f, g, x))


def wasserstein1(number, target, x):
    f, g = cumulative(number, number.sum()), cumulative(target, target.sum())
    return sum(w * abs(a + b) / 2 for w, a, b in _pieces(f, g, x))


def quantile(u, f, x, side):
    """Position at level u, from the lower (`right` continuous) or upper side of a gap."""
    i = np.clip(np.searchsorted(f, u, side=side) - 1, 0, len(x) - 2)
    gap = f[i + 1] - f[i]
    return np.where(gap > 0, x[i] + (x[i + 1] - x[i]) * (u - f[i]) / np.where(gap > 0, gap, 1), x[i])


def wasserstein2(number, target, x):
    """Integral over levels of the squared difference of quantiles, by Simpson's rule on each linear piece."""
    f, g = cumulative(number, number.sum()), cumulative(target, target.sum())
    f[-1] = g[-1] = 1
    u = np.unique(np.concatenate([f, g]))
    middle = (u[:-1] + u[1:]) / 2
    d_low = quantile(u[:-1], f, x, "right") - quantile(u[:-1], g, x, "right")
    d_mid = quantile(middle, f, x, "right") - quantile(middle, g, x, "right")
    d_high = 2 * d_mid - d_low
    return (np.diff(u) * (d_low**2 + 4 * d_mid**2 + d_high**2) / 6).sum()


def poisson(number, counts, response, background):
    expected = background + response.astype(Real) @ number
    positive = counts > 0
    log_term = np.where(positive, counts * np.log(np.where(positive, counts, 1) / expected), 0)
    return (2 * (expected - counts + log_term)).sum()


def gradient(function, number, relative_step=1e-5):
    """Fourth-order central differences in every element, which must be positive, and their rounding error."""
    number = number.astype(Real)
    result, error = np.empty(len(number)), np.empty(len(number))
    for i in range(len(number)):
        h = number[i] * Real(relative_step)
        f = [function(number + k * h * (np.arange(len(number)) == i)) for k in (-2, -1, 1, 2)]
        result[i] = float((f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h))
        error[i] = float(len(number) * np.finfo(Real).eps * max(abs(x) for x in f) / h)
    return result, error


def forward_difference(function, number, i, step):
    """Second-order one-sided difference in an element that may be zero."""
    number = number.astype(Real)
    unit = np.arange(len(number)) == i
    f0, f1, f2 = (function(number + k * Real(step) * unit) for k in (0, 1, 2))
    return float((4 * f1 - f2 - 3 * f0) / (2 * Real(step)))
