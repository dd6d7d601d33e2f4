"""The auditor's verdict on programs that train through particle runs: the replay is right, the raw draw is named."""

from __future__ import annotations

import pytest

DESCENT = """

@wp.kernel
def exponentiate(logarithm: wp.array3d[wp.float64], masses: wp.array3d[wp.float64]):
    b, i, s = wp.tid()
    masses[b, i, s] = wp.float64(1.0e-18) * wp.exp(logarithm[b, i, s])


@wp.kernel
def compare(masses: wp.array3d[wp.float64], target: wp.array3d[wp.float64], total: wp.array[wp.float64]):
    b, i, s = wp.tid()
    d = (masses[b, i, s] - target[b, i, s]) / wp.float64(1.0e-18)
    wp.atomic_add(total, 0, d * d)


@wp.kernel
def descend(logarithm: wp.array3d[wp.float64], gradient: wp.array3d[wp.float64]):
    b, i, s = wp.tid()
    logarithm[b, i, s] = logarithm[b, i, s] - wp.float64(1.0e-3) * gradient[b, i, s]
"""

REPLAY = (
    """
import numpy as np
import warp as wp

from retrograde.aerosol import Environment
from retrograde.aerosol.particles import Condensation, ParticleSimulation, ParticleState, replay, replay_with_gas
from retrograde.aerosol.physics import BrownianKernel

wp.set_device("cpu")
rng = np.random.default_rng(4)
start = 1e-18 * np.exp(rng.normal(0.0, 0.5, (2, 6, 2)))
condensation = {condensation}
gas = np.full((2, 2), 1e-9)
simulation = ParticleSimulation(
    [0.0, 1200.0], kernel=BrownianKernel(), environment=Environment.uniform(1), condensation=condensation
)
volume = 1e-12
state = ParticleState.from_numpy(start, volume)
seen = simulation.run(state, seed=3, **({"gas": gas} if condensation else {}))
logarithm = wp.array(np.log(start / 1e-18) + rng.normal(0.0, 0.1, start.shape), dtype=wp.float64, requires_grad=True)
vapour = wp.array(gas, dtype=wp.float64)
"""
    + DESCENT
    + """

for _ in range(2):
    tape = wp.Tape()
    with tape:
        masses = wp.zeros(logarithm.shape, dtype=wp.float64, requires_grad=True)
        total = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        wp.launch(exponentiate, logarithm.shape, inputs=[logarithm], outputs=[masses])
        begin = ParticleState(masses, state.density, state.volume)
        if condensation:
            final = replay_with_gas(simulation, begin, vapour, seen.events)[0]
        else:
            final = replay(begin, seen.events)
        wp.launch(compare, masses.shape, inputs=[final.masses, seen.final.masses], outputs=[total])
    tape.backward(loss=total)
    wp.launch(descend, logarithm.shape, inputs=[logarithm, logarithm.grad])
    tape.zero()
    print("loss", total.numpy()[0])
"""
)

RAW = (
    """
import time

import numpy as np
import warp as wp

wp.set_device("cpu")
rng = np.random.default_rng()
start = np.exp(np.random.default_rng(4).normal(0.0, 0.5, (4, 12, 1)))
logarithm = wp.array(np.log(start), dtype=wp.float64, requires_grad=True)
target = wp.array(1e-18 * start, dtype=wp.float64)
"""
    + DESCENT
    + """

@wp.kernel
def coagulate(seed: int, masses: wp.array3d[wp.float64], after: wp.array3d[wp.float64]):
    b, i = wp.tid()
    state = wp.rand_init(seed, b * 64 + i)
    a = masses[b, 2 * i, 0]
    c = masses[b, 2 * i + 1, 0]
    merged = wp.float64(wp.randf(state)) < (a + c) / wp.float64(8.0e-18)
    after[b, 2 * i, 0] = a
    after[b, 2 * i + 1, 0] = c
    if merged:
        after[b, 2 * i, 0] = a + c
        after[b, 2 * i + 1, 0] = wp.float64(0.0)


for _ in range(3):
    seed = int(rng.integers(1 << 30))
    tape = wp.Tape()
    with tape:
        masses = wp.zeros(logarithm.shape, dtype=wp.float64, requires_grad=True)
        after = wp.zeros(logarithm.shape, dtype=wp.float64, requires_grad=True)
        total = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        wp.launch(exponentiate, logarithm.shape, inputs=[logarithm], outputs=[masses])
        wp.launch(coagulate, (4, 6), inputs=[seed, masses], outputs=[after])
        wp.launch(compare, masses.shape, inputs=[after, target], outputs=[total])
    tape.backward(loss=total)
    wp.launch(descend, logarithm.shape, inputs=[logarithm, logarithm.grad])
    tape.zero()
    print("loss", total.numpy()[0])
"""
)


@pytest.mark.programs
@pytest.mark.parametrize("condensation", ["None", "Condensation([8e-6, 5e-6], [0.1, 0.2], [2e-9, 0.0], substeps=1)"])
def test_auditor_finds_the_replay_of_events_right(auditor, condensation):
    document = auditor.audit(REPLAY.replace("{condensation}", condensation))
    assert document["verdict"] == "right", document


@pytest.mark.programs
def test_auditor_names_the_draws_of_a_raw_stochastic_program(auditor):
    document = auditor.audit(RAW)
    remarks = {remark["code"]: remark for remark in document["remarks"]}
    assert {"RG501", "RG504"} <= remarks.keys(), document
    assert "merged" in remarks["RG501"]["message"]
    assert all("estimator" in remark["fix"] for remark in remarks.values())
