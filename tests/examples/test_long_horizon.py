"""The fluid of `examples/long_horizon.py`: its gradient is that of one tape over all steps."""

from __future__ import annotations

import numpy as np
import warp as wp

from examples import long_horizon as story


def test_the_gradient_is_that_of_the_whole_tape() -> None:
    steps = 12
    ours = [story.field(), story.field()]
    loss, report = story.gradient(*ours, steps)
    whole = [story.field(), story.field()]
    x = np.linspace(0.0, 1.0, story.SIZE, endpoint=False)
    blob = np.exp(-80.0 * ((x[:, None] - 0.3) ** 2 + (x[None, :] - 0.4) ** 2))
    wanted = wp.array(np.exp(-80.0 * ((x[:, None] - 0.5) ** 2 + (x[None, :] - 0.5) ** 2)), dtype=float)
    states = [story.Fluid() for _ in range(steps + 1)]
    for state in states:
        state.vx, state.vy, state.pressure, state.smoke = (story.field() for _ in range(4))
    states[0].vx, states[0].vy, states[0].smoke = whole[0], whole[1], story.field(blob)
    total = wp.zeros(1, dtype=float, requires_grad=True)
    with wp.Tape() as tape:
        for n in range(steps):
            story.step(n, states[n], states[n + 1])
        wp.launch(story.misfit, (story.SIZE, story.SIZE), inputs=[states[-1].smoke, wanted, total])
    tape.backward(total)
    assert loss == float(total.numpy()[0])
    assert report.recomputation > 1.0
    for found, expected in zip(ours, whole, strict=True):
        assert expected.grad.numpy().any()
        np.testing.assert_array_equal(found.grad.numpy(), expected.grad.numpy())
