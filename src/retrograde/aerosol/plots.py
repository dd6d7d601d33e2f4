"""Figures of sectional simulations and of their gradients, on axes of Matplotlib."""

# Matplotlib's annotations leave keyword arguments unknown.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from retrograde.aerosol._device import shape_of, to_host
from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.simulation import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NANOMETRES = 1e9
_PER_CUBIC_CENTIMETRE = 1e-6


def plot_spectra(axes: Axes, trajectory: Trajectory, *, box: int = 0, indices: Sequence[int] | None = None) -> None:
    """Draw the size spectrum dN/dlnD of one box at several times.

    Args:
        axes: Axes to draw on.
        trajectory: A simulation's states.
        box: Which box.
        indices: Which times; the first, the last and up to three between them by default.

    Raises:
        ValueError: There is no such box.
    """
    _check_box(trajectory, box)
    last = len(trajectory.times) - 1
    chosen = np.unique(np.linspace(0, last, 5).round().astype(int)) if indices is None else indices
    for shade, index in zip(np.linspace(0.85, 0.0, len(chosen)), chosen, strict=True):
        spectrum = trajectory.state(int(index)).spectrum()[box] * _PER_CUBIC_CENTIMETRE
        label = _duration(float(trajectory.times[index] - trajectory.times[0]))
        _line(axes, trajectory.grid, spectrum, color=str(shade), label=label)
    _size_axis(axes)
    axes.set_ylabel("dN/dlnD / cm$^{-3}$")
    axes.legend(frameon=False)


def plot_sensitivity(axes: Axes, grid: SizeGrid, gradient: ArrayLike, *, label: str | None = None) -> None:
    """Draw the derivative of a loss with respect to the initial spectrum, by size.

    The derivative is shown for a relative change of every bin's number where the caller has
    multiplied it by the number, and for an added particle otherwise.

    Args:
        axes: Axes to draw on.
        grid: Size bins.
        gradient: Derivative with respect to each bin's number, shape [bins].
        label: Name of the line in the legend.

    Raises:
        ValueError: The gradient's shape is not that of the grid.
    """
    values = np.asarray(gradient, dtype=np.float64)
    if values.shape != (grid.bins,):
        raise ValueError(f"gradient: expected shape [bins] with {grid.bins} bins, got {list(values.shape)}")
    axes.axhline(0.0, color="0.8", linewidth=0.8)
    _line(axes, grid, values, label=label)
    _size_axis(axes)
    axes.set_ylabel("derivative of the loss")
    if label is not None:
        axes.legend(frameon=False)


def plot_totals(axes: Axes, trajectory: Trajectory, *, box: int = 0) -> None:
    """Draw number and volume of one box over time, each relative to its start.

    Args:
        axes: Axes to draw on.
        trajectory: A simulation's states.
        box: Which box.

    Raises:
        ValueError: There is no such box, or it holds nothing at the start.
    """
    _check_box(trajectory, box)
    number = to_host(trajectory.number)[:, box]
    totals = {"number": number.sum(axis=1), "volume": number @ trajectory.grid.volumes}
    for name, values in totals.items():
        if values[0] <= 0.0:
            raise ValueError(f"trajectory: box {box} holds no particles at the start")
        axes.plot((trajectory.times - trajectory.times[0]) / 60.0, values / values[0], label=name)
    axes.set_xlabel("time / min")
    axes.set_ylabel("share of the start")
    axes.set_ylim(bottom=0.0)
    axes.legend(frameon=False)


def _line(axes: Axes, grid: SizeGrid, values: Any, **style: Any) -> None:
    axes.stairs(values, grid.diameter_edges * _NANOMETRES, baseline=None, **style)


def _size_axis(axes: Axes) -> None:
    axes.set_xscale("log")
    axes.set_xlabel("diameter / nm")


def _duration(seconds: float) -> str:
    return f"{seconds / 60.0:.3g} min"


def _check_box(trajectory: Trajectory, box: int) -> None:
    boxes = shape_of(trajectory.number)[1]
    if not 0 <= box < boxes:
        raise ValueError(f"box: expected 0 to {boxes - 1}, got {box}")
