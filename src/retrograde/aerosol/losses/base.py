"""What a loss on size distributions offers: its value and its gradient, box by box."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from retrograde.aerosol._device import (
    Float64Matrix,
    RealMatrix,
    WarpArray,
    device_of,
    new_zeros,
    shape_of,
    to_device,
    to_host,
    type_of,
    wp,
)
from retrograde.aerosol.grids import SizeGrid
from retrograde.aerosol.states import SectionalState


@dataclass(frozen=True)
class Operation:
    """One launch, whose adjoint may be launched without a tape.

    Attributes:
        kernel: Device kernel.
        dim: Launch dimensions.
        inputs: Arguments read.
        outputs: Arrays written.
    """

    kernel: Any
    dim: int | list[int]
    inputs: list[Any]
    outputs: list[Any]

    def run(self, *, record: bool = True) -> None:
        """Launch, on the active tape if there is one and `record` is set."""
        device = device_of(self.outputs[0])
        wp.launch(self.kernel, self.dim, self.inputs, self.outputs, device=device, record_tape=record)

    def run_adjoint(self) -> None:
        """Launch the adjoint: gradients of the outputs into gradients of the inputs."""
        wp.launch(
            self.kernel,
            self.dim,
            self.inputs,
            self.outputs,
            adj_inputs=[_gradient(a) for a in self.inputs],
            adj_outputs=[_gradient(a) for a in self.outputs],
            device=device_of(self.outputs[0]),
            adjoint=True,
            record_tape=False,
        )


def _gradient(argument: Any) -> Any:
    return argument.grad if isinstance(argument, wp.array) else argument


class NumberState(Protocol):
    """A state that a loss reads: number concentrations on a device."""

    @property
    def number(self) -> WarpArray:
        """Number concentrations [m^-3], boxes leading."""
        ...


State = TypeVar("State", bound=NumberState, contravariant=True)


class StateLoss(ABC, Generic[State]):
    """A distance of states from what they should be, one number for every box.

    Called inside a `wp.Tape` block it records launches whose adjoints are written by hand where they
    are not linear; the gradient is also there without a tape. Everything is computed in float64, whatever the storage.
    """

    def __call__(self, state: State) -> WarpArray:
        """Loss of every box.

        Args:
            state: State on the loss's grid.

        Returns:
            Losses, float64, shape [boxes]; it carries a gradient if the state does.

        Raises:
            ValueError: The grid or the number of boxes differs.
        """
        self._check(state)
        operations, loss = self._chain(state.number)
        for operation in operations:
            operation.run()
        return loss

    def gradient(self, state: State) -> WarpArray:
        """Derivative of every box's loss to its numbers, float64, of their shape.

        Raises:
            ValueError: The grid or the number of boxes differs.
        """
        self._check(state)
        number: Any = to_device(to_host(state.number), device=device_of(state.number), requires_grad=True)
        operations, loss = self._chain(number)
        for operation in operations:
            operation.run(record=False)
        untyped_loss: Any = loss
        untyped_loss.grad.fill_(1.0)
        for operation in reversed(operations):
            operation.run_adjoint()
        return number.grad

    def _chain(self, number: WarpArray) -> tuple[list[Operation], WarpArray]:
        """Operations from the numbers, widened if need be, to the losses."""
        untyped: Any = number
        options: dict[str, Any] = {"device": device_of(number), "requires_grad": untyped.requires_grad}
        loss = new_zeros(shape_of(number)[0], **options)
        if type_of(number) is wp.float64:
            return self._operations(number, loss, options), loss
        wide = new_zeros(shape_of(number), **options)
        widening = Operation(widen, shape_of(number), [number], [wide])
        return [widening, *self._operations(wide, loss, options)], loss

    @abstractmethod
    def _operations(self, number: WarpArray, loss: WarpArray, options: dict[str, Any]) -> list[Operation]:
        """Launches from numbers to losses [boxes]; new arrays are made with `options`."""

    @abstractmethod
    def _check(self, state: State) -> None:
        """Raise a ValueError unless the state is on the loss's grid and of its number of boxes."""


class SizeDistributionLoss(StateLoss[SectionalState]):
    """A distance of sectional states from what they should be; numbers have shape [boxes, bins]."""

    @abstractmethod
    def _layout(self) -> tuple[SizeGrid, int]:
        """Grid of the states, and boxes of the target; one target serves any number of boxes."""

    def _check(self, state: SectionalState) -> None:
        grid, boxes = self._layout()
        if state.grid != grid:
            raise ValueError(f"state: its grid, {state.grid!r}, differs from the loss's, {grid!r}")
        if boxes not in (1, state.boxes):
            raise ValueError(f"state: expected {boxes} boxes as in the target, got {state.boxes}")


class TargetLoss(SizeDistributionLoss):
    """A distance from a target distribution on the same grid.

    Attributes:
        target: What the state should be; one box, or one for every box of the state.
    """

    target: SectionalState

    def _layout(self) -> tuple[SizeGrid, int]:
        return self.target.grid, self.target.boxes


@wp.kernel
def widen(number: RealMatrix, wide: Float64Matrix):
    """Convert to float64; launched over [boxes, bins]."""
    b, i = wp.tid()
    wide[b, i] = wp.float64(number[b, i])
