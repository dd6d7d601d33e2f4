"""What the process promises box by box: reproducible, nothing dropped, bounds held, odd input taken."""

from __future__ import annotations

import numpy as np
import pytest
import warp as wp
from tests.aerosol.particles.means import assert_mean

from retrograde.aerosol import Environment, SizeGrid
from retrograde.aerosol.exact.finite import constant_counts
from retrograde.aerosol.particles import ParticleSimulation, ParticleState, Record
from retrograde.aerosol.particles._classes import size_classes
from retrograde.aerosol.particles._philox import philox_wp
from retrograde.aerosol.physics import (
    AdditiveKernel,
    BrownianKernel,
    ConstantKernel,
    ConstantLoss,
    EddyDiffusionBox,
    EddyDiffusionSphere,
    PowerLawLoss,
    TableKernel,
    TableLoss,
    fuchs_kernel,
)

N0, V0, RHO = 1e12, 1e-21, 1000.0
AIR = Environment.uniform(1)


def exponential(boxes: int, particles: int, seed: int = 0) -> ParticleState:
    masses = np.random.default_rng(seed).exponential(V0 * RHO, (boxes, particles, 2))
    return ParticleState.from_numpy(masses, particles / N0, density=[1000.0, 1800.0])


@wp.kernel
def _draw(counters: wp.array2d[wp.uint32], keys: wp.array[wp.uint64], out: wp.array2d[wp.uint32]):
    i = wp.tid()
    words = philox_wp(counters[i, 0], counters[i, 1], counters[i, 2], counters[i, 3], keys[i])
    for j in range(4):
        out[i, j] = words[j]


def test_random_numbers_are_those_of_philox():
    """Known answers of Random123, Salmon et al. (2011)."""
    counters = [[0] * 4, [0xFFFFFFFF] * 4, [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344]]
    keys = [0, 0xFFFFFFFFFFFFFFFF, 0x299F31D0A4093822]
    out = wp.zeros((3, 4), dtype=wp.uint32)
    inputs = [
        wp.array(np.array(counters, np.uint32), dtype=wp.uint32),
        wp.array(np.array(keys, np.uint64), dtype=wp.uint64),
    ]
    wp.launch(_draw, 3, inputs, [out])
    assert out.numpy().tolist() == [
        [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8],
        [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD],
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ]


@pytest.mark.parametrize("kernel", [BrownianKernel(), AdditiveKernel(1.0 / N0 / V0)])
def test_a_box_is_the_same_in_every_batch(kernel):
    """Bit for bit, whatever its neighbours are and whatever is recorded."""
    state = exponential(6, 200)
    simulation = ParticleSimulation([0.0, 0.5, 1.0], kernel=kernel, environment=AIR, dilution=0.3)
    together = simulation.run(state, seed=5, record=Record.PROPOSALS).final.numpy()
    few = ParticleState.from_numpy(state.numpy()[2:4], state.volume[2:4], density=state.density)
    apart = simulation.run(few, seed=5, record=Record.NOTHING, first_box=2).final.numpy()
    assert np.array_equal(together[2:4], apart)
    assert not np.array_equal(together[2:4], simulation.run(few, seed=6, first_box=2).final.numpy())


def test_a_full_store_grows_and_the_run_goes_on_as_if_it_had_not_been_full():
    """With bounds 20 times too large there are far more proposals than slots."""
    state = exponential(3, 150)
    kernel = AdditiveKernel(1.0 / N0 / V0)
    simulation = ParticleSimulation([0.0, 1.0, 2.0], kernel=kernel, margin=20.0, dilution=0.1)
    times = simulation.run(state, seed=2, record=Record.PROPOSALS)
    assert (times.events.counts > 2 * state.slots).all()
    plain = simulation.run(state, seed=2, record=Record.NOTHING)
    assert np.array_equal(times.final.numpy(), plain.final.numpy())
    assert plain.events is None
    removed = [len(times.events.mergers(b)[0]) + len(times.events.losses(b)[0]) for b in range(3)]
    assert np.array_equal(removed, state.counts() - times.final.counts())


def test_a_rate_above_its_bound_is_seen_and_the_interval_run_again():
    """Bounds planted a tenth too low are raised, and the mean is that of the true rates."""
    kernel = ConstantKernel(1.0 / N0)
    state = ParticleState.from_numpy(np.full((8000, 100, 1), V0 * RHO), 100 / N0)
    low = ParticleSimulation([0.0, 1.0], kernel=kernel, margin=0.9).run(state, seed=3)
    right = ParticleSimulation([0.0, 1.0], kernel=kernel).run(state, seed=3)
    assert low.raised_bounds > 0
    assert right.raised_bounds == 0
    assert_mean(low.final.counts().astype(float), float(constant_counts(100, 0.01)), power=2e-3)


def test_bounds_of_brownian_coagulation_hold_everywhere_in_their_classes():
    simulation = ParticleSimulation([0.0, 1.0], kernel=BrownianKernel(), environment=AIR)
    classes = size_classes(simulation.laws(1), 1e-27, 1e-16, 1.0)
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, len(classes.edges) - 1, (2, 200_000))
    low, ratio = classes.edges[:-1], classes.edges[1:] / classes.edges[:-1]
    diameters = [np.cbrt(6 / np.pi * low[c] * ratio[c] ** rng.uniform(size=c.size)) for c in (a, b)]
    assert (fuchs_kernel(*diameters, 298.15, 101325.0, 1000.0) <= classes.pairs[0, a, b]).all()


LAWS = [
    ConstantLoss(0.5),
    PowerLawLoss(0.2, 0.3, -1.5),
    EddyDiffusionSphere(0.5, 1e-4),
    EddyDiffusionBox(0.5, 1e-4, 2e-4, 3e-4),
    TableLoss(np.array([1e-8, 5e-8, 2e-7, 1e-6]), np.array([2.0, 0.3, 0.6, 0.1])),
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_every_law_of_loss_thins_every_size_at_its_own_rate(law):
    grid = SizeGrid.from_diameters(np.array([2e-8, 8e-8, 4e-7]))
    each = 60_000
    volumes = np.repeat(grid.volumes, each)[np.newaxis, :, np.newaxis]
    state = ParticleState.from_numpy(volumes * RHO, 1e-6)
    rates = law.rates_numpy(grid, AIR)[0] + 0.2
    time = 0.7 / rates.mean()
    final = ParticleSimulation([0.0, time], loss=law, environment=AIR, dilution=0.2).run(state, seed=4).final
    left = (final.particle_volumes()[0].reshape(3, each) > 0).sum(axis=1)
    expected = np.exp(-rates * time)
    scores = (left - each * expected) / np.sqrt(each * expected * (1 - expected))
    assert np.abs(scores).max() < 3.5


def test_odd_boxes_are_taken_as_they_are():
    """An empty box, one particle, equal particles, and slots that are empty from the start, side by side."""
    masses = np.zeros((5, 4, 1))
    masses[1, 2] = masses[2, :] = masses[3, 0] = masses[3, 3] = V0 * RHO
    masses[4] = V0 * RHO * np.array([1.0, 1e-6, 1e6, 0.0])[:, np.newaxis]
    state = ParticleState.from_numpy(masses, 4 / N0)
    run = ParticleSimulation([0.0, 1e9], kernel=BrownianKernel(), environment=AIR).run(state, seed=1)
    assert run.final.counts().tolist() == [0, 1, 1, 1, 1]
    np.testing.assert_allclose(run.final.moment(1.0), state.moment(1.0), rtol=1e-12)
    assert [len(run.events.mergers(b)[0]) for b in range(5)] == [0, 0, 3, 1, 2]
    gone = ParticleSimulation([0.0, 1e9], dilution=1.0).run(state, seed=1)
    assert gone.final.counts().tolist() == [0] * 5
    nothing = ParticleState.from_numpy(np.zeros((2, 3, 1)), 1.0)
    assert ParticleSimulation([0.0, 1.0], dilution=1.0).run(nothing, seed=0).final.counts().tolist() == [0, 0]
    still = ParticleSimulation([0.0, 1.0]).run(state, seed=1)
    assert np.array_equal(still.final.numpy(), state.numpy())


def test_many_times_give_the_same_law_as_two_and_keep_what_came_before():
    state = exponential(200, 100)
    kernel = ConstantKernel(1.0 / N0)
    many = ParticleSimulation(np.linspace(0.0, 1.0, 21), kernel=kernel).run(state, seed=8)
    counts = np.array([s.counts() for s in many.states])
    assert (np.diff(counts, axis=0) <= 0).all()
    assert np.array_equal(many.states[0].numpy(), state.numpy())
    assert np.array_equal(many.events.ends[-1], counts[0] - counts[-1])
    error = counts[-1].std(ddof=1) / np.sqrt(200)
    assert abs(counts[-1].mean() - constant_counts(100, 0.01)) < 3 * error


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"times": [0.0]}, "times"),
        ({"times": [0.0, 0.0]}, "times"),
        ({"times": [0.0, np.nan]}, "times"),
        ({"kernel": BrownianKernel()}, "environment: kernel depends on temperature"),
        ({"loss": EddyDiffusionSphere(1.0, 1.0)}, "environment: loss depends on temperature"),
        ({"kernel": TableKernel(np.ones((2, 2)))}, "grid: a kernel given as a table"),
        ({"dilution": -1.0}, "dilution"),
        ({"dilution": np.inf}, "dilution"),
        ({"margin": 0.0}, "margin"),
    ],
)
def test_bad_fields_are_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        ParticleSimulation(**{"times": [0.0, 1.0], **fields})


def test_bad_states_and_runs_are_refused():
    with pytest.raises(ValueError, match=r"expected shape \[boxes, particles, species\], got \[3\]"):
        ParticleState.from_numpy(np.ones(3), 1.0)
    with pytest.raises(ValueError, match="is negative"):
        ParticleState.from_numpy(-np.ones((1, 2, 1)), 1.0)
    with pytest.raises(ValueError, match="is not finite"):
        ParticleState.from_numpy(np.full((1, 2, 1), np.nan), 1.0)
    with pytest.raises(ValueError, match=r"volume \[m\^3\]: expected 1 finite positive"):
        ParticleState.from_numpy(np.ones((1, 2, 1)), 0.0)
    with pytest.raises(ValueError, match=r"volume \[m\^3\]: expected a number or shape \[1\], got \[2\]"):
        ParticleState.from_numpy(np.ones((1, 2, 1)), [1.0, 2.0])
    with pytest.raises(ValueError, match="density"):
        ParticleState.from_numpy(np.ones((1, 2, 1)), 1.0, density=0.0)
    state = exponential(2, 3)
    with pytest.raises(ValueError, match=r"dilution .* is for 3 boxes, the state has 2"):
        ParticleSimulation([0.0, 1.0], dilution=[1.0, 1.0, 1.0]).run(state, seed=0)
    with pytest.raises(ValueError, match="environment: is for 3 boxes, the state has 2"):
        ParticleSimulation([0.0, 1.0], environment=Environment.uniform(3)).run(state, seed=0)
    with pytest.raises(ValueError, match="seed"):
        ParticleSimulation([0.0, 1.0]).run(state, seed=-1)
    with pytest.raises(ValueError, match="first_box"):
        ParticleSimulation([0.0, 1.0]).run(state, seed=1, first_box=2**32 - 1)
    wide = ParticleState.from_numpy(np.array([[[1e-90], [1.0]]]), 1.0)
    with pytest.raises(ValueError, match="more than size classes can span"):
        ParticleSimulation([0.0, 1.0], dilution=1.0).run(wide, seed=1)


def test_boxes_may_differ_in_air_and_dilution():
    state = ParticleState.from_numpy(np.full((2, 3000, 1), V0 * RHO), 1e-9)
    air = Environment(np.array([250.0, 350.0]), np.array([5e4, 1e5]))
    final = ParticleSimulation([0.0, 1.0], kernel=BrownianKernel(), environment=air, dilution=[0.1, 1.0])
    counts = final.run(state, seed=1).final.counts() / 3000
    np.testing.assert_allclose(counts, np.exp([-0.1, -1.0]), atol=0.04)


def test_doubling_keeps_the_concentration():
    state = exponential(3, 10)
    twice = state.doubled()
    assert twice.slots == 20
    np.testing.assert_allclose(twice.total_number(), state.total_number())
    np.testing.assert_allclose(twice.species_mass(), state.species_mass())


def test_states_are_summed_as_they_are():
    masses = np.zeros((1, 3, 2))
    masses[0, 0] = [1e-18, 0.0]
    masses[0, 2] = [1e-18, 3e-18]
    state = ParticleState.from_numpy(masses, 2e-6, density=[1000.0, 1500.0])
    assert state.counts().tolist() == [2]
    np.testing.assert_allclose(state.total_number(), [1e6])
    np.testing.assert_allclose(state.species_mass(), [[1e-12, 1.5e-12]])
    np.testing.assert_allclose(state.particle_volumes(), [[1e-21, 0.0, 3e-21]])
    np.testing.assert_allclose(state.moment(2.0), [5e-36])
    np.testing.assert_allclose(state.concentration(), [[5e5, 0.0, 5e5]])
    grid = SizeGrid.from_ratio(1e-21, 3.0, 2)
    np.testing.assert_allclose(state.bin_numbers(grid), [[5e5, 5e5]])
    np.testing.assert_allclose(state.bin_volumes(grid), [[5e-16, 1.5e-15]])
    np.testing.assert_allclose(state.sectional(grid).total_number(), [1e6])
    entropy = -4 / 5 * (0.25 * np.log(0.25) + 0.75 * np.log(0.75))
    bulk = -(0.4 * np.log(0.4) + 0.6 * np.log(0.6))
    np.testing.assert_allclose(state.mixing_state_index(), [np.expm1(entropy) / np.expm1(bulk)])
