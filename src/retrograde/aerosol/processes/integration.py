"""Memory of a simulation of so many boxes, and the launches that step them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol._device import WarpArray, new_zeros, shape_of, type_of, wp
from retrograde.aerosol.processes._cell_average import cell_average_functions
from retrograde.aerosol.processes._coefficients import coefficients
from retrograde.aerosol.processes._fixed_pivot import fixed_pivot_functions
from retrograde.aerosol.processes._heun import heun_functions
from retrograde.aerosol.processes._lanes import LaneBuffer, LaneTypes, choose_lanes, lane_buffer, lane_types
from retrograde.aerosol.processes._operators import boxwise_kernel_operators, shared_kernel_operators
from retrograde.aerosol.processes._packing import packing_kernels
from retrograde.aerosol.processes._pullback import pullback_function
from retrograde.aerosol.processes._semi_implicit import semi_implicit_functions
from retrograde.aerosol.processes._slots import RECORD_SLOTS, SCRATCH_SLOTS
from retrograde.aerosol.processes._stepping import TrajectoryKernels, trajectory_kernels
from retrograde.aerosol.processes._tape import active_tape
from retrograde.aerosol.processes.terms import Method, Scheme, Terms


@dataclass(frozen=True, eq=False)
class Plan:
    """Time grid and method of an integration.

    Attributes:
        intervals: Durations between output times [s], shape [times - 1].
        substeps: Steps in each interval.
        every: A state is stored at every so many steps; the others are restored in backward.
        method: How a step is taken.
    """

    intervals: NDArray[np.float64]
    substeps: int
    every: int
    method: Method

    @property
    def steps(self) -> int:
        """Number of steps in all."""
        return len(self.intervals) * self.substeps


_SCHEMES = {Method.HEUN: tuple(Scheme), Method.SEMI_IMPLICIT: (Scheme.FIXED_PIVOT,)}


@cache
def _trajectory_kernels(types: LaneTypes, scheme: Scheme, is_boxwise: bool, method: Method) -> TrajectoryKernels:
    operators = boxwise_kernel_operators(types) if is_boxwise else shared_kernel_operators(types)
    if method is Method.SEMI_IMPLICIT:
        return trajectory_kernels(types, semi_implicit_functions(types, operators))
    make_scheme = fixed_pivot_functions if scheme is Scheme.FIXED_PIVOT else cell_average_functions
    functions = make_scheme(types, operators)
    pullback = pullback_function(types, operators, functions)
    return trajectory_kernels(types, heun_functions(types, functions, pullback))


class Integration:
    """A simulation made ready for a number of boxes.

    All memory is allocated beforehand and every call launches a fixed sequence of kernels, so that
    the calls can be captured in a graph.

    Attributes:
        number: Number concentrations at all times [m^-3], shape [times, boxes, bins]. Its `grad`
            takes their cotangents.
        escaped_volume: Particle volume that has left the grid's top [m^3 m^-3], shape
            [times, boxes]. Its `grad` takes their cotangents.
        peak_rate: Largest rate at which a bin was emptied [s^-1], shape [boxes]. A step of Heun's
            method longer than its reciprocal could have made a number negative.
    """

    def __init__(
        self,
        terms: Terms,
        plan: Plan,
        boxes: int,
        *,
        dtype: Any = wp.float64,
        device: Any = None,
        lanes: int | None = None,
        like: Integration | None = None,
    ) -> None:
        """Allocate memory and make the launches ready.

        Args:
            terms: Tendency of the numbers.
            plan: Time grid and method.
            boxes: Number of boxes.
            dtype: Scalar type of the states.
            device: Warp device; the current default if None.
            lanes: Boxes in a group; chosen by their number if None.
            like: Another integration of the same terms, boxes, type and device, whose coefficients are shared.
        """
        if terms.boxes not in (None, boxes):
            raise ValueError(f"the processes are given for {terms.boxes} boxes, the state has {boxes}")
        self._device = wp.get_device(device)
        lanes = choose_lanes(boxes, self._device.is_cuda) if lanes is None else lanes
        self._types = lane_types(lanes, dtype)
        self._plan = plan
        self._boxes, self._bins, self._groups = boxes, terms.bins, -(-boxes // lanes)
        coagulation = terms.coagulation
        if coagulation is not None and coagulation.scheme not in _SCHEMES[plan.method]:
            raise ValueError(f"method: {plan.method.value} steps are not defined for the {coagulation.scheme.value}")
        scheme = Scheme.FIXED_PIVOT if coagulation is None else coagulation.scheme
        is_boxwise = coagulation is not None and coagulation.kernel.ndim == 3
        self._coefficients = (
            coefficients(terms, self._types, self._groups, plan.method, self._device)
            if like is None
            else like._coefficients
        )
        self._kernels = _trajectory_kernels(self._types, scheme, is_boxwise, plan.method)
        self._packing = packing_kernels(dtype)
        self._steps = wp.array(plan.intervals / plan.substeps, dtype=dtype, device=self._device)
        self._runs = 0
        self._allocate(dtype)
        self._make_commands()

    def _allocate(self, dtype: Any) -> None:
        times, rows = len(self._plan.intervals) + 1, self._bins + 1
        width = self._coefficients.blocks * self._types.rows + 1
        self._outputs = self._buffer(times, rows)
        self._cotangents = self._buffer(times, rows)
        self._stored = self._buffer(-(-self._plan.steps // self._plan.every), rows)
        self._stages = self._buffer(self._plan.steps if self._plan.every == 1 else 1, rows)
        self._scratch = self._buffer(SCRATCH_SLOTS, width)
        self._peaks = self._buffer(1, 1)
        records = (self._groups, self._plan.every, RECORD_SLOTS, width)
        self._records = wp.zeros(records, dtype=self._types.vector, device=self._device)
        shape = (times, self._boxes, self._bins)
        self._shape = shape
        self.number: WarpArray = self._zeros(shape, dtype, True)
        self.escaped_volume: WarpArray = self._zeros(shape[:2], dtype, True)
        self.peak_rate: WarpArray = self._zeros(shape[1:2], dtype, False)

    def _buffer(self, slots: int, rows: int) -> LaneBuffer:
        return lane_buffer(self._types, self._groups, slots, rows, self._device)

    def _zeros(self, shape: Sequence[int], dtype: Any, requires_grad: bool) -> WarpArray:
        return new_zeros(shape, dtype=dtype, device=self._device, requires_grad=requires_grad)

    def _command(self, kernel: Any, dim: int | Sequence[int], *inputs: Any) -> Any:
        """A launch made ready: repeating it costs little, and no tape sees it."""
        return wp.launch(kernel, dim=dim, inputs=list(inputs), device=self._device, record_cmd=True)

    def _make_commands(self) -> None:
        packing, plan, outputs, cotangents = self._packing, self._plan, self._outputs, self._cotangents
        number: Any = self.number
        escaped: Any = self.escaped_volume
        steps = (self._coefficients, self._steps, plan.substeps, plan.every)
        memory = (self._stored.vectors, self._stages.vectors, self._records, self._scratch.vectors)
        initial = (number.grad[0], outputs.scalars)
        self._pack_initial = self._command(packing.pack_initial, self._shape[1:], *initial)
        self._forward = [
            self._command(self._kernels.forward, self._groups, *steps, outputs.vectors, *memory, self._peaks.vectors),
            self._command(packing.unpack, self._shape, outputs.scalars, number, escaped),
            self._command(packing.unpack_peaks, self._boxes, self._peaks.scalars, self.peak_rate),
        ]
        self._backward = [
            self._command(packing.pack_cotangents, self._shape, number.grad, escaped.grad, cotangents.scalars),
            self._command(self._kernels.backward, self._groups, *steps, cotangents.vectors, *memory),
        ]
        self._add_first = self._command(packing.add_first, self._shape[1:], cotangents.scalars, number.grad[0])

    @property
    def plan(self) -> Plan:
        """Time grid and method."""
        return self._plan

    def run(self, number: WarpArray) -> None:
        """Step as `forward` does, and `record` it.

        Args:
            number: Initial number concentrations [m^-3], shape [boxes, bins].
        """
        self.forward(number)
        self.record(number)

    def record(self, number: WarpArray) -> None:
        """Record the last `forward` on the active tape, if there is one and `number` has a gradient.

        Args:
            number: The initial number concentrations of that run, shape [boxes, bins]. The tape's
                backward pass adds to their gradient.
        """
        tape = active_tape()
        initial: Any = number
        if tape is None or not initial.requires_grad:
            return
        run = self._runs

        def pull_back() -> None:
            if self._runs != run:
                raise RuntimeError(
                    "the integration has been run again since this run was recorded, and its states are "
                    "overwritten; prepare an integration for each run on a tape"
                )
            self.backward(initial.grad)

        tape.record_func(pull_back, [number, self.number, self.escaped_volume])

    def forward(self, number: WarpArray) -> None:
        """Step from the initial `number` [m^-3], shape [boxes, bins], through all times."""
        self._runs += 1
        self._pack_initial.set_param_at_index(0, self._checked("number", number))
        self._pack_initial.launch()
        for command in self._forward:
            command.launch()

    def backward(self, gradient: WarpArray) -> None:
        """Pull the cotangents in `number.grad` and `escaped_volume.grad` back to the start.

        Args:
            gradient: The cotangent of the initial numbers is added to it, shape [boxes, bins].
        """
        for command in self._backward:
            command.launch()
        self._add_first.set_param_at_index(1, self._checked("gradient", gradient))
        self._add_first.launch()

    def _checked(self, name: str, array: WarpArray) -> WarpArray:
        if tuple(shape_of(array)) != self._shape[1:] or type_of(array) is not self._types.real:
            raise ValueError(
                f"{name}: expected shape {list(self._shape[1:])} of {self._types.real.__name__}, "
                f"got {shape_of(array)} of {type_of(array).__name__}"
            )
        return array
