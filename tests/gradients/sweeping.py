"""Recordings of programs, opened for sweeps and replays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import warp as wp
from tests.gradients.programs import Float, Program
from tests.trace.recording import record

from retrograde.gradients.ladder import find_treatments
from retrograde.gradients.policy import IDEAL, Policy, Treatment
from retrograde.gradients.sweep import SeedTerm, Sweep, Target
from retrograde.gradients.window import Window
from retrograde.trace.arrays import ArrayRef, describe
from retrograde.trace.operations import Kind, Operation, Recording


@dataclass(eq=False)
class Opened:
    """A recorded run of a program.

    Attributes:
        program: The program.
        parameter: The parameter it ran on.
        recording: What it did.
    """

    program: Program
    parameter: wp.array
    recording: Recording

    @cached_property
    def ref(self) -> ArrayRef:
        found = describe(self.parameter)
        assert found is not None
        return found

    @cached_property
    def first(self) -> int:
        """Index of the operation that first reads the parameter."""
        reading = (
            o.index
            for o in self.recording.operations
            if any(a.usage.load and a.ref.extent.overlaps(self.ref.extent) for a in o.accesses)
        )
        return next(reading)

    @cached_property
    def backward(self) -> Operation:
        return next(o for o in self.recording.operations if o.kind is Kind.BACKWARD)

    @cached_property
    def window(self) -> Window:
        return Window(self.recording, self.first, self.backward.index, self.ref)

    @cached_property
    def treatments(self) -> dict[int, Treatment]:
        return find_treatments(self.window, np.random.default_rng(0), every=True)

    @property
    def seeds(self) -> tuple[SeedTerm, ...]:
        call = self.backward.backward
        assert call is not None
        assert call.loss is not None
        return (SeedTerm(self.backward.index, call.loss, np.ones(call.loss.full_shape)),)

    def sweep(self, policy: Policy = IDEAL) -> Float:
        """The parameter's gradient under a policy."""
        sweep = Sweep(self.window, self.seeds, self.treatments)
        return sweep.run((Target(self.ref, self.first),), policy)[0]

    def taped(self) -> Float:
        """What Warp's own tape left."""
        return np.asarray(self.parameter.grad.numpy(), dtype=np.float64)

    def operations(self, kernel: str) -> list[Operation]:
        """Launches of a kernel."""
        return [o for o in self.recording.operations if o.launch is not None and o.launch.kernel.key == kernel]


@cache
def open_program(program: Program) -> Opened:
    """One recorded run of a program; sweeps and replays leave it as it is."""
    parameter = wp.array(program.start, dtype=program.dtype, device="cpu", requires_grad=True)
    with wp.ScopedDevice("cpu"):
        recording = record(lambda: program.run(parameter))
    return Opened(program, parameter, recording)
