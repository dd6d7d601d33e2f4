"""What exchanges with the gas have in common: vapours, the gas on a device, and runs made ready."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from retrograde.aerosol._device import WarpArray, to_device
from retrograde.aerosol.composition.grid import CompositionGrid
from retrograde.aerosol.composition.vapours import Vapour
from retrograde.aerosol.states import check_concentrations


class PreparedExchange(ABC):
    """An exchange made ready for a grid and a number of boxes.

    Attributes:
        emptied: Boxes in which a particle has lost all that it held of a vapour, shape [boxes].
        exhausted: Boxes in which particles have taken up all gas, shape [boxes].
    """

    emptied: WarpArray
    exhausted: WarpArray

    @abstractmethod
    def advance(self, number: WarpArray, gas: WarpArray, duration: float) -> tuple[WarpArray, WarpArray]:
        """Number and gas after a duration, in new memory; recorded on the active tape if they carry gradients.

        Args:
            number: Number concentrations [m^-3], shape [boxes, rows, fractions].
            gas: Concentration of the vapours [kg m^-3], shape [boxes, vapours].
            duration: How long [s].
        """


class GasExchange(ABC):
    """Exchange of vapours between particles and gas.

    Attributes:
        vapours: What is exchanged.
    """

    vapours: tuple[Vapour, ...]

    @abstractmethod
    def prepare(self, grid: CompositionGrid, boxes: int, device: Any = None) -> PreparedExchange:
        """The exchange for runs of so many boxes on a grid.

        Raises:
            ValueError: It does not fit the grid or the number of boxes.
        """

    def gas(
        self, concentration: ArrayLike, boxes: int, *, device: Any = None, requires_grad: bool = False
    ) -> WarpArray:
        """Gas on the device [kg m^-3], shape [boxes, vapours], from that shape or from [vapours].

        Raises:
            ValueError: Another shape, or a value that is negative or not finite.
        """
        values = np.asarray(concentration, dtype=np.float64)
        shape = (boxes, len(self.vapours))
        if values.shape not in (shape, shape[1:]):
            expected = f"{list(shape)} or {list(shape[1:])}"
            raise ValueError(f"gas [kg m^-3]: expected shape {expected}, got {list(values.shape)}")
        check_concentrations("gas", values, "[kg m^-3]")
        return to_device(np.broadcast_to(values, shape), device=device, requires_grad=requires_grad)

    def _check_vapours(self) -> None:
        object.__setattr__(self, "vapours", tuple(self.vapours))
        names = [v.species for v in self.vapours]
        if not names or len(set(names)) != len(names):
            raise ValueError(f"vapours: expected at least one, and no species twice, got {names}")
