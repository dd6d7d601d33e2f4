"""Patterns of programs and of kernels with counters, each wrong and right."""

from __future__ import annotations

import textwrap

import pytest

from retrograde.lint.catalogue import pattern_of, patterns
from retrograde.lint.module import parse_module
from retrograde.lint.run import lint_module

_HEAD = """
import numpy as np
import warp as wp

@wp.kernel
def step(a: wp.array(dtype=float), b: wp.array(dtype=float)):
    i = wp.tid()
    b[i] = a[i] * a[i]

@wp.kernel
def total(a: wp.array(dtype=float), loss: wp.array(dtype=float)):
    wp.atomic_add(loss, 0, a[wp.tid()])

@wp.kernel(enable_backward=False)
def forward_only(a: wp.array(dtype=float), b: wp.array(dtype=float)):
    i = wp.tid()
    b[i] = a[i]

x = wp.zeros(3, dtype=float, requires_grad=True)
y = wp.zeros(3, dtype=float, requires_grad=True)
z = wp.zeros(3, dtype=float, requires_grad=True)
loss = wp.zeros(1, dtype=float, requires_grad=True)
"""

_WRONG_AND_RIGHT = {
    "RG101": (
        """
with wp.Tape() as tape:
    for _ in range(9):
        wp.launch(step, 3, inputs=[x], outputs=[y])
        x, y = y, x  # here
    wp.launch(total, 3, inputs=[x, loss])
tape.backward(loss)
""",
        """
states = [wp.zeros(3, dtype=float, requires_grad=True) for _ in range(9)]
with wp.Tape() as tape:
    for i in range(8):
        wp.launch(step, 3, inputs=[states[i]], outputs=[states[i + 1]])
    wp.launch(total, 3, inputs=[states[8], loss])
tape.backward(loss)
""",
    ),
    "RG103": (
        """
with wp.Tape() as tape:
    wp.launch(step, 3, inputs=[x, y])
    wp.launch(total, 3, inputs=[y, loss])
x.assign(np.ones(3))  # here
tape.backward(loss)
""",
        """
with wp.Tape() as tape:
    wp.launch(step, 3, inputs=[x, y])
    wp.launch(total, 3, inputs=[y, loss])
tape.backward(loss)
x.assign(np.ones(3))
""",
    ),
    "RG201": (
        """
between = wp.zeros(3, dtype=float)  # here
with wp.Tape() as tape:
    wp.launch(step, 3, inputs=[x, between])
    wp.launch(total, 3, inputs=[between, loss])
tape.backward(loss)
""",
        """
between = wp.zeros(3, dtype=float)
between.requires_grad = True
with wp.Tape() as tape:
    wp.launch(step, 3, inputs=[x, between])
    wp.launch(total, 3, inputs=[between, loss])
tape.backward(loss)
""",
    ),
    "RG202": (
        """
with wp.Tape() as tape:
    wp.launch(forward_only, 3, inputs=[x, y])  # here
    wp.launch(total, 3, inputs=[y, loss])
tape.backward(loss)
""",
        """
wp.launch(forward_only, 3, inputs=[x, y])
with wp.Tape() as tape:
    wp.launch(total, 3, inputs=[y, loss])
tape.backward(loss)
""",
    ),
    "RG204": (
        """
with wp.Tape() as tape:
    wp.launch(step, 3, inputs=[x, y])
    largest = y.numpy().max()
    wp.launch(step, 3, inputs=[wp.full(3, largest, dtype=float), z])  # here
    wp.launch(total, 3, inputs=[z, loss])
tape.backward(loss)
""",
        """
with wp.Tape() as tape:
    wp.launch(step, 3, inputs=[x, y])
    print(y.numpy().max())
    wp.launch(total, 3, inputs=[y, loss])
tape.backward(loss)
""",
    ),
    "RG205": (
        """
command = wp.launch(step, 3, inputs=[x, y], record_cmd=True)
with wp.Tape() as tape:
    command.launch()  # here
    wp.launch(total, 3, inputs=[y, loss])
tape.backward(loss)
""",
        """
command = wp.launch(step, 3, inputs=[x, y], record_cmd=True)
command.launch()
with wp.Tape() as tape:
    wp.launch(total, 3, inputs=[y, loss])
tape.backward(loss)
""",
    ),
    "RG301": (
        """
for _ in range(9):
    with wp.Tape() as tape:
        wp.launch(total, 3, inputs=[x, loss])
    tape.backward(loss)  # here
    x.assign(x.numpy() - x.grad.numpy())
""",
        """
for _ in range(9):
    with wp.Tape() as tape:
        wp.launch(total, 3, inputs=[x, loss])
    tape.backward(loss)
    x.assign(x.numpy() - x.grad.numpy())
    x.grad.zero_()
""",
    ),
    "RG303": (
        """
with wp.Tape() as tape:
    wp.launch(total, 3, inputs=[x, loss])
tape.backward(loss)
gradient = x.grad.numpy()
tape.zero()
x.assign(x.numpy() - gradient)  # here
""",
        """
with wp.Tape() as tape:
    wp.launch(total, 3, inputs=[x, loss])
tape.backward(loss)
gradient = x.grad.numpy().copy()
tape.zero()
x.assign(x.numpy() - gradient)
""",
    ),
    "RG309": (
        """
with wp.Tape() as tape:
    for _ in range(9):
        y.zero_()  # here
        wp.launch(step, 3, inputs=[x, y])
        wp.launch(total, 3, inputs=[y, loss])
tape.backward(loss)
""",
        """
with wp.Tape() as tape:
    loss.zero_()
    wp.launch(total, 3, inputs=[x, loss])
tape.backward(loss)
""",
    ),
    "RG310": (
        """
tape = wp.Tape()
for _ in range(9):
    with tape:  # here
        wp.launch(total, 3, inputs=[x, loss])
    tape.backward(loss)
    tape.zero()
""",
        """
tape = wp.Tape()
for _ in range(9):
    tape.reset()
    with tape:
        wp.launch(total, 3, inputs=[x, loss])
    tape.backward(loss)
""",
    ),
    "RG406": (
        """
@wp.kernel
def gather(a: wp.array(dtype=float), count: wp.array(dtype=int), b: wp.array(dtype=float)):
    slot = wp.atomic_add(count, 0, 1)
    b[slot] = a[wp.tid()]  # here
""",
        """
@wp.func
def draw(count: wp.array(dtype=int), drawn: wp.array(dtype=int), i: int):
    slot = wp.atomic_add(count, 0, 1)
    drawn[i] = slot
    return slot

@wp.func_replay(draw)
def redraw(count: wp.array(dtype=int), drawn: wp.array(dtype=int), i: int):
    return drawn[i]

@wp.kernel
def gather(a: wp.array(dtype=float), count: wp.array(dtype=int), drawn: wp.array(dtype=int), b: wp.array(dtype=float)):
    i = wp.tid()
    b[draw(count, drawn, i)] = a[i]
""",
    ),
    "RG407": (
        """
@wp.func_native("return x * x;")
def square(x: float) -> float:  # here
    ...
""",
        """
@wp.func_native("return x * x;", adj_snippet="adj_x += 2.0f * x * adj_ret;")
def square(x: float) -> float:
    ...
""",
    ),
    "RG409": (
        """
@wp.func
def distance(v: wp.vec3):
    return wp.sqrt(wp.dot(v, v))  # here
""",
        """
@wp.func
def distance(v: wp.vec3):
    return wp.length(v) + wp.sqrt(wp.dot(v, v) + 1.0e-12)
""",
    ),
    "RG411": (
        """
@wp.kernel
def smooth(a: wp.array(dtype=float)):
    i = wp.tid()
    a[i] = 0.5 * a[i - 1]  # here
""",
        """
@wp.kernel
def smooth(a: wp.array(dtype=float), b: wp.array(dtype=float)):
    i = wp.tid()
    b[i] = 0.5 * a[i - 1]
""",
    ),
    "RG501": (
        """
@wp.func
def level(x: float):
    return wp.floor(x)  # here
""",
        """
@wp.func
def level(x: float):
    return wp.tanh(x)
""",
    ),
    "RG512": (
        """
@wp.kernel
def collect(a: wp.array(dtype=wp.float16), b: wp.array(dtype=wp.float16)):
    wp.atomic_add(b, 0, a[wp.tid()])  # here
""",
        """
@wp.kernel
def collect(a: wp.array(dtype=wp.float16), b: wp.array(dtype=float)):
    wp.atomic_add(b, 0, float(a[wp.tid()]))
""",
    ),
}


def _found(source: str, code: str) -> list[int]:
    pattern = pattern_of(code)
    assert pattern is not None
    suspicions, _ = lint_module(parse_module(source, "train.py"), [pattern])
    return [s.line for s in suspicions]


@pytest.mark.parametrize("code", _WRONG_AND_RIGHT)
def test_wrong_is_suspected_at_its_line(code: str) -> None:
    source = _HEAD + _WRONG_AND_RIGHT[code][0]
    line = next(n for n, text in enumerate(source.splitlines(), 1) if text.endswith("# here"))
    assert _found(source, code) == [line]


@pytest.mark.parametrize("code", _WRONG_AND_RIGHT)
def test_right_is_not(code: str) -> None:
    assert _found(_HEAD + _WRONG_AND_RIGHT[code][1], code) == []


@pytest.mark.parametrize("spelling", ["import warp", "import warp as w", "from warp import kernel, func, array, tid"])
def test_warp_is_known_by_any_name(spelling: str) -> None:
    prefix = {"import warp": "warp.", "import warp as w": "w."}.get(spelling, "")
    source = textwrap.dedent(
        f"""
        {spelling}

        @{prefix}kernel
        def scale(a: {prefix}array(dtype=float)):
            a[{prefix}tid()] *= 2.0
        """
    )
    assert _found(source, "RG401") == [6]


def test_kernels_that_are_not_differentiated_are_let_pass() -> None:
    body = "def scale(a: wp.array(dtype=float)):\n    a[wp.tid()] *= 2.0\n"
    assert _found(f"import warp as wp\n@wp.kernel\n{body}", "RG401") == [4]
    assert _found(f"import warp as wp\n@wp.kernel(enable_backward=False)\n{body}", "RG401") == []
    off = 'wp.set_module_options({"enable_backward": False})'
    assert _found(f"import warp as wp\n{off}\n@wp.kernel\n{body}", "RG401") == []


def test_integers_carry_no_gradient() -> None:
    source = "import warp as wp\n@wp.kernel\ndef scale(a: wp.array(dtype=wp.int32)):\n    a[wp.tid()] *= 2\n"
    assert _found(source, "RG401") == []


def test_every_pattern_is_the_source_half_of_a_known_cause_and_says_what_it_looks_for() -> None:
    from retrograde.causes.registry import find_cause

    for pattern in patterns():
        assert pattern.looks_for
        assert pattern.fix.endswith(".")
        cause = find_cause(pattern.code)
        assert cause is None or cause.name == pattern.name
