"""Trajectory kernels: many steps of any method in one launch, forward and reverse."""

# Kernel annotations are Warp types made at run time, which no static checker can follow.
# pyright: reportInvalidTypeForm=false, reportUnknownParameterType=false
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from dataclasses import dataclass
from typing import Any

from retrograde.aerosol._device import wp
from retrograde.aerosol.processes._lanes import CONTRACTED, LaneTypes
from retrograde.aerosol.processes._operators import coefficient_struct
from retrograde.aerosol.processes._slots import COTANGENT, INTERMEDIATE, STATE


@dataclass(frozen=True)
class StepFunctions:
    """Warp functions of a time-stepping method on one group's record `r` and scratch slots `w`.

    Attributes:
        step: `(c, g, h, r, w, result)` fills the record of a step of `h` seconds from its slot
            `STATE` and writes the state after it; returns the largest rate at which a bin is
            emptied [s^-1].
        linearise: `(c, g, h, r, w)` fills the record alone.
        relinearise: `(c, g, h, r, w)` fills what the slots `STATE` and `INTERMEDIATE` leave open.
        step_back: `(c, g, h, r, w)` replaces the slot `COTANGENT`, the cotangent of the state
            after the step, by that of the state before it.
    """

    step: Any
    linearise: Any
    relinearise: Any
    step_back: Any


@dataclass(frozen=True)
class TrajectoryKernels:
    """Kernels over groups of boxes that go through a time grid, with `substeps` steps an interval.

    A state is stored at every `every`-th step. Backward restores the records of the steps between
    two stored states from the first of them: memory is one state for every `every` steps, and one
    record for each of `every` steps. Where every step is stored, so is its intermediate state.

    Attributes:
        forward: From slot 0 of the outputs to all others.
        backward: From cotangents of all outputs to that of slot 0, in place.
    """

    forward: Any
    backward: Any


def trajectory_kernels(types: LaneTypes, functions: StepFunctions) -> TrajectoryKernels:
    """Kernels that step with the given method."""
    return TrajectoryKernels(forward=_forward_kernel(types, functions), backward=_backward_kernel(types, functions))


def _forward_kernel(types: LaneTypes, functions: StepFunctions) -> Any:
    coefficients = coefficient_struct(types)
    vector = types.vector
    step = functions.step

    @wp.kernel(enable_backward=False, module="unique", module_options=CONTRACTED)
    def forward(
        c: coefficients,
        steps: wp.array(dtype=types.real),
        substeps: int,
        every: int,
        outputs: wp.array(dtype=vector, ndim=3),
        stored: wp.array(dtype=vector, ndim=3),
        stages: wp.array(dtype=vector, ndim=3),
        records: wp.array(dtype=vector, ndim=4),
        scratch: wp.array(dtype=vector, ndim=3),
        peaks: wp.array(dtype=vector, ndim=3),
    ):
        g = wp.tid()
        w = scratch[g]
        r = records[g, 0]
        now = r[STATE]
        peak = vector()
        for row in range(c.bins + 1):
            now[row] = outputs[g, 0, row]
        for interval in range(steps.shape[0]):
            for substep in range(substeps):
                index = interval * substeps + substep
                if index % every == 0:
                    for row in range(c.bins + 1):
                        stored[g, index // every, row] = now[row]
                peak = wp.max(peak, step(c, g, steps[interval], r, w, now))
                if every == 1:
                    for row in range(c.bins + 1):
                        stages[g, index, row] = r[INTERMEDIATE, row]
            for row in range(c.bins + 1):
                outputs[g, interval + 1, row] = now[row]
        peaks[g, 0, 0] = peak

    return forward


def _backward_kernel(types: LaneTypes, functions: StepFunctions) -> Any:
    coefficients = coefficient_struct(types)
    vector = types.vector
    step = functions.step
    linearise = functions.linearise
    relinearise = functions.relinearise
    step_back = functions.step_back

    @wp.kernel(enable_backward=False, module="unique", module_options=CONTRACTED)
    def backward(
        c: coefficients,
        steps: wp.array(dtype=types.real),
        substeps: int,
        every: int,
        cotangents: wp.array(dtype=vector, ndim=3),
        stored: wp.array(dtype=vector, ndim=3),
        stages: wp.array(dtype=vector, ndim=3),
        records: wp.array(dtype=vector, ndim=4),
        scratch: wp.array(dtype=vector, ndim=3),
    ):
        g = wp.tid()
        w = scratch[g]
        count = steps.shape[0] * substeps
        for row in range(c.bins + 1):
            w[COTANGENT, row] = cotangents[g, steps.shape[0], row]
        for back in range(stored.shape[1]):
            chunk = stored.shape[1] - 1 - back
            first = chunk * every
            last = wp.min(every, count - first) - 1
            for row in range(c.bins + 1):
                records[g, 0, STATE, row] = stored[g, chunk, row]
            for i in range(last):
                h = steps[(first + i) // substeps]
                step(c, g, h, records[g, i], w, records[g, i + 1, STATE])
            h_last = steps[(first + last) // substeps]
            if every == 1:
                for row in range(c.bins + 1):
                    records[g, 0, INTERMEDIATE, row] = stages[g, chunk, row]
                relinearise(c, g, h_last, records[g, 0], w)
            else:
                linearise(c, g, h_last, records[g, last], w)
            for i in range(last + 1):
                index = first + last - i
                interval = index // substeps
                step_back(c, g, steps[interval], records[g, last - i], w)
                if index == interval * substeps:
                    for row in range(c.bins + 1):
                        w[COTANGENT, row] = w[COTANGENT, row] + cotangents[g, interval, row]
        for row in range(c.bins + 1):
            cotangents[g, 0, row] = w[COTANGENT, row]

    return backward
