"""Objectives that jump, such as images with edges: their derivative between the jumps is what a gradient can be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.support.auditing import Auditor

from retrograde.gradients.differences import Derivative, differentiate, steps_for
from retrograde.gradients.jumps import fine, is_jumpy, smooth_outputs

_STEPS = steps_for(np.float32)
_N = 200


def _jumping(x: float, seed: int, count: int, drift: float) -> float:
    """A slope of 1, and small jumps between -1 and 1 that add another slope to it by and by."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(-1.0, 1.0, count)
    heights = rng.standard_normal(count) * 5.0 / np.sqrt(count) + 2.0 * drift / count
    return x + float(heights[places < x].sum())


def _noisy(x: float) -> float:
    return float(np.sin(3.0 * x) + 1e-5 * np.random.default_rng(abs(hash(x))).standard_normal())


_SMOOTH: dict[str, Callable[[float], float]] = {
    "smooth": lambda x: float(np.exp(2.0 * x)),
    "noisy": _noisy,
    "kinked": lambda x: abs(x) + x,
    "kinked nearby": lambda x: max(x - 0.01, 0.0) + x,
    "straight": lambda x: 3.0 * x,
    "constant": lambda x: 1.0,
    "one far jump": lambda x: x + float(x > 0.2),
}


@pytest.mark.parametrize("name", list(_SMOOTH))
def test_what_settles_does_not_jump(name: str) -> None:
    found = differentiate(lambda steps: [_SMOOTH[name](h) for h in steps], _STEPS)
    assert not found.jumps
    assert np.isfinite(found.error)


def _of_jumps(count: int, drift: float) -> list[Derivative]:
    return [
        differentiate(lambda steps, seed=seed: [_jumping(h, seed, count, drift) for h in steps], _STEPS)
        for seed in range(20)
    ]


@pytest.mark.parametrize("drift", [0.0, -30.0])
@pytest.mark.parametrize("count", [300, 3_000, 30_000])
def test_what_jumps_add_is_hardly_ever_taken_for_a_slope(count: int, drift: float) -> None:
    """A chance that no step can exclude remains."""
    false = [f for f in _of_jumps(count, drift) if f.error < 0.2 * abs(f.value) and not f.admits(1.0)]
    assert len(false) <= 1


def test_jumps_at_every_step_are_told() -> None:
    assert sum(found.jumps for found in _of_jumps(30_000, -30.0)) >= 8


def test_too_few_slopes_tell_nothing() -> None:
    assert not is_jumpy({1.0: 0.0, 0.5: 7.0, 0.25: -9.0}, 0.0)


def test_outputs_that_jump_are_told_from_those_that_do_not() -> None:
    steps = fine(_STEPS.first, 6)
    assert max(steps) < min(_STEPS.first)
    functions = [
        np.sin,
        np.exp,
        lambda h: h + (h > 0.001),
        lambda h: np.where(h > -0.0005, 3.0, 2.0),
        abs,
        lambda h: 0.0,
    ]
    table = {h: np.array([float(f(h)) for f in functions], np.float32).astype(float) for s in steps for h in (s, -s)}
    smooth = smooth_outputs(table, _STEPS.resolution)
    assert smooth.tolist() == [True, True, False, False, True, True]


_PROGRAM = """
import numpy as np
import warp as wp

N = {n}

@wp.kernel
def render(place: wp.array(dtype=wp.vec2), lights: wp.array(dtype=wp.vec2), count: int, image: wp.array2d(dtype=float)):
    i, j = wp.tid()
    d = wp.vec2((float(i) + 0.5) / float(N), (float(j) + 0.5) / float(N)) - place[0]
    color = float(0.0)
    if wp.dot(d, d) < 0.09:
        lit = float(0.0)
        for k in range({turns}):
            lit = lit + 0.4 + wp.dot(d, lights[k])
        color = (0.5 + d[0] - 2.0 * d[1] * d[1]) * lit
    image[i, j] = color

@wp.kernel
def miss(image: wp.array2d(dtype=float), target: wp.array2d(dtype=float), loss: wp.array(dtype=float)):
    i, j = wp.tid()
    d = image[i, j] - target[i, j]
    wp.atomic_add(loss, 0, d * d / 100.0)

wp.set_device("cpu")
lights = wp.array([[0.7, 0.2], [-0.3, 0.9]], dtype=wp.vec2)
target = wp.zeros((N, N), dtype=float)
wp.launch(render, dim=(N, N), inputs=[wp.array([[0.5, 0.52]], dtype=wp.vec2), lights, 2, target])
place = wp.array([[0.4213, 0.5571]], dtype=wp.vec2, requires_grad=True)
image = wp.zeros((N, N), dtype=float, requires_grad=True)
loss = wp.zeros(1, dtype=float, requires_grad=True)
tape = wp.Tape()
with tape:
    wp.launch(render, dim=(N, N), inputs=[place, lights, 2, image])
    wp.launch(miss, dim=(N, N), inputs=[image, target, loss])
tape.backward(loss)
place.assign(place.numpy() - np.float32(0.003) * place.grad.numpy())
"""


def _between_jumps() -> np.ndarray:
    """The derivative of the program's loss in double precision, with the pixels of the disc held where they are."""
    centres = (np.stack(np.meshgrid(np.arange(_N), np.arange(_N), indexing="ij"), -1) + 0.5) / _N
    at = np.array([0.4213, 0.5571])

    def image(place: np.ndarray, inside: np.ndarray) -> np.ndarray:
        d = centres - place
        color = (0.5 + d[..., 0] - 2.0 * d[..., 1] ** 2) * (0.8 + d @ np.array([0.4, 1.1]))
        return np.where(((centres - inside) ** 2).sum(-1) < 0.09, color, 0.0)

    target = image(np.array([0.5, 0.52]), np.array([0.5, 0.52]))

    def loss(place: np.ndarray) -> float:
        return float(((image(place, at) - target) ** 2).sum() / 100.0)

    return np.array([(loss(at + e) - loss(at - e)) / 2e-5 for e in 1e-5 * np.eye(2)])


@pytest.mark.programs
@pytest.mark.parametrize(("turns", "verdict"), [("count", "wrong"), ("2", "right")])
def test_a_gradient_is_judged_between_the_jumps(turns: str, verdict: str, tmp_path: Path, auditor: Auditor) -> None:
    program = tmp_path / "disc.py"
    program.write_text(_PROGRAM.format(n=_N, turns=turns), encoding="utf-8")
    document = auditor.audit(program)
    assert document["verdict"] == verdict, document["reason"]
    assert {cause["code"] for cause in document["causes"]} == ({"RG403"} if verdict == "wrong" else set())
    assert document["unexplained"] < 0.05
    (ladder,) = document["ladder"]
    np.testing.assert_allclose(ladder["ideal"]["values"], _between_jumps().reshape(-1), rtol=1e-4)
