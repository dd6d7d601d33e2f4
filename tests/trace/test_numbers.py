"""Numbers handed to launches by value: read as the kernel gets them, and replaced."""

from __future__ import annotations

import numpy as np
import warp as wp
from tests.trace.recording import record

from retrograde.gradients.binding import run_forward
from retrograde.gradients.memory import Memory
from retrograde.trace.numbers import numbers_of, values_of, with_values
from retrograde.trace.operations import LaunchCall


@wp.struct
class Inner:
    offset: wp.float64


@wp.struct
class Settings:
    count: int
    gain: float
    out: wp.array(dtype=float)
    axis: wp.vec2
    inner: Inner


@wp.kernel
def use(s: Settings, scale: wp.float64, matrix: wp.mat22, times: int):
    total = scale * wp.float64(times) + s.inner.offset
    s.out[0] = float(total) + s.gain
    s.out[1] = s.axis[0] + 10.0 * s.axis[1]
    s.out[2] = matrix[0, 1] + 10.0 * matrix[1, 0]


def _launch() -> tuple[LaunchCall, wp.array]:
    out = wp.zeros(3, dtype=float, device="cpu")
    settings = Settings()
    settings.count, settings.gain, settings.axis, settings.out = 7, 0.25, wp.vec2(1.0, 2.0), out
    settings.inner.offset = wp.float64(0.5)
    matrix = wp.mat22(0.0, 3.0, 4.0, 0.0)
    recording = record(lambda: wp.launch(use, 1, [settings, 1.5, matrix, 3], device="cpu"))
    (call,) = (o.launch for o in recording.operations if o.launch is not None)
    return call, out


def test_numbers_are_found_alone_and_in_structs() -> None:
    call, _ = _launch()
    found = {n.label: n.values.tolist() for n in numbers_of(call)}
    assert found == {
        "s.gain": [0.25],
        "s.axis": [1.0, 2.0],
        "s.inner.offset": [0.5],
        "scale": [1.5],
        "matrix": [0.0, 3.0, 4.0, 0.0],
    }


def test_a_launch_runs_with_other_numbers() -> None:
    call, out = _launch()
    numbers = numbers_of(call)
    values = values_of(numbers)
    memory = Memory.covering(r for a in call.arguments for r in getattr(a, "arrays", {}).values())
    run_forward(with_values(call, numbers, values + 1.0), memory)
    (ref,) = call.arguments[0].arrays.values()
    np.testing.assert_allclose(memory.values(ref), [2.5 * 3.0 + 1.5 + 1.25, 2.0 + 30.0, 4.0 + 50.0])
    np.testing.assert_allclose(out.numpy(), [1.5 * 3.0 + 0.5 + 0.25, 21.0, 43.0])
