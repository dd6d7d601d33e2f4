"""Losses on what is left in a box: functions of its particles and of how many each one stands for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol._checks import check_positive

Floats = NDArray[np.float64]


class ParticleLoss(ABC):
    """A function of a box's particles, whose mean over boxes is differentiated."""

    @abstractmethod
    def value(self, presence: Floats, volumes: Floats) -> Floats:
        """Value of every box.

        Args:
            presence: How much of a particle is in every slot [1]: 1 or 0, or between in relaxed programs,
                shape [boxes, slots].
            volumes: Volume of the particle in every slot [m^3], shape [boxes, slots].

        Returns:
            Values, shape [boxes].
        """

    @abstractmethod
    def gradient(self, presence: Floats, volumes: Floats) -> tuple[Floats, Floats]:
        """Derivatives to presence and volumes, each of shape [boxes, slots]; zero to volumes of absent particles."""


@dataclass(frozen=True)
class ParticleMoment(ParticleLoss):
    """Sum over the particles of (volume / scale)^order.

    Attributes:
        order: Power of the volume [1]; 0 counts particles.
        scale: Volume that counts as one [m^3].
    """

    order: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        check_positive("scale", self.scale, "m^3")

    def value(self, presence: Floats, volumes: Floats) -> Floats:
        """Sum of presence times power, shape [boxes]."""
        return (presence * self._power(volumes)).sum(axis=1)

    def gradient(self, presence: Floats, volumes: Floats) -> tuple[Floats, Floats]:
        """The powers, and presence times their derivatives."""
        power = self._power(volumes)
        safe = np.where(volumes > 0.0, volumes, 1.0)
        return power, presence * self.order * power / safe

    def _power(self, volumes: Floats) -> Floats:
        if self.order == 0.0:
            return np.ones_like(volumes)
        some = volumes > 0.0
        return np.where(some, (np.where(some, volumes, 1.0) / self.scale) ** self.order, 0.0)


@dataclass(frozen=True)
class SquaredDeviation(ParticleLoss):
    """((of - target) / scale)^2.

    Attributes:
        of: A function of the particles.
        target: What it should be.
        scale: Deviation that counts as one.
    """

    of: ParticleLoss
    target: float
    scale: float = 1.0

    def __post_init__(self) -> None:
        check_positive("scale", self.scale, "1")

    def value(self, presence: Floats, volumes: Floats) -> Floats:
        """The squared deviation, shape [boxes]."""
        return ((self.of.value(presence, volumes) - self.target) / self.scale) ** 2

    def gradient(self, presence: Floats, volumes: Floats) -> tuple[Floats, Floats]:
        """Twice the deviation times the derivatives of `of`."""
        outer = 2.0 * (self.of.value(presence, volumes) - self.target) / self.scale**2
        by_presence, by_volumes = self.of.gradient(presence, volumes)
        return outer[:, np.newaxis] * by_presence, outer[:, np.newaxis] * by_volumes
