"""Every loss: value and gradient against an independent reference, empty bins, equal distributions, storage."""

import numpy as np
import pytest
import warp as wp
from tests.aerosol.losses import reference as ref

from retrograde.aerosol import SectionalState, SizeGrid
from retrograde.aerosol.losses import (
    CramerLoss,
    L2Loss,
    MomentLoss,
    PoissonLoss,
    Wasserstein1Loss,
    Wasserstein2Loss,
)

GRID = SizeGrid.geometric(1e-8, 1e-6, bins_per_decade=12)
OTHER_GRID = SizeGrid.from_volumes([1.0, 2.0])
BOXES, BINS = 3, GRID.bins
RNG = np.random.default_rng(3)
NUMBER = RNG.lognormal(sigma=1.5, size=(BOXES, BINS)) * 1e9
TARGET = RNG.lognormal(sigma=1.5, size=(BOXES, BINS)) * 1e9
TARGET[0, 3:6] = 0.0
TARGET[1, :2] = 0.0
TARGET[2, -3:] = 0.0
COUNTS = RNG.poisson(5.0, size=(BOXES, 7)).astype(float)
COUNTS[0, 2] = 0.0
RESPONSE = np.abs(RNG.normal(size=(7, BINS))) * 1e-10
BACKGROUND = RNG.uniform(0.0, 0.5, size=7)
X = np.log(GRID.diameter_edges).astype(np.longdouble)
WIDTHS = GRID.ln_widths.astype(np.longdouble)
VOLUME = TARGET @ GRID.volumes


def state(number=NUMBER, **options) -> SectionalState:
    return SectionalState.from_numpy(number, GRID, **options)


LOSSES = {
    "number": (
        MomentLoss.number(GRID, TARGET.sum(axis=1), 1e9),
        lambda n, b: ref.moment(n, GRID.volumes, 0, TARGET[b].sum(), 1e9),
    ),
    "volume": (
        MomentLoss.volume(GRID, VOLUME, 1e-10),
        lambda n, b: ref.moment(n, GRID.volumes, 1, VOLUME[b], 1e-10),
    ),
    "l2": (L2Loss(state(TARGET), 1e9), lambda n, b: ref.l2(n, TARGET[b], WIDTHS, 1e9)),
    "cramer": (CramerLoss(state(TARGET), 1e9), lambda n, b: ref.cramer(n, TARGET[b], X, 1e9)),
    "cramer of shapes": (CramerLoss(state(TARGET)), lambda n, b: ref.cramer(n, TARGET[b], X)),
    "w1": (Wasserstein1Loss(state(TARGET)), lambda n, b: ref.wasserstein1(n, TARGET[b], X)),
    "w2": (Wasserstein2Loss(state(TARGET)), lambda n, b: ref.wasserstein2(n, TARGET[b], X)),
    "poisson": (
        PoissonLoss(GRID, COUNTS, RESPONSE, BACKGROUND),
        lambda n, b: ref.poisson(n, COUNTS[b], RESPONSE, BACKGROUND),
    ),
}
SHAPES = {"cramer of shapes": CramerLoss, "w1": Wasserstein1Loss, "w2": Wasserstein2Loss}
every_loss = pytest.mark.parametrize("name", LOSSES)
every_shape = pytest.mark.parametrize("name", SHAPES)


def by_tape(loss, start: SectionalState, seed: np.ndarray | None = None) -> np.ndarray:
    tape = wp.Tape()
    with tape:
        value = loss(start)
    weights = np.ones(start.boxes) if seed is None else seed
    tape.backward(grads={value: wp.array(weights, dtype=wp.float64)})
    return start.number.grad.numpy().copy()


@every_loss
def test_value_is_the_references(name):
    loss, reference = LOSSES[name]
    expected = [float(reference(NUMBER[b].astype(np.longdouble), b)) for b in range(BOXES)]
    np.testing.assert_allclose(loss(state()).numpy(), expected, rtol=1e-12)


@every_loss
def test_gradient_of_every_element_is_that_of_differences(name):
    loss, reference = LOSSES[name]
    found = by_tape(loss, state(requires_grad=True))
    for b in range(BOXES):
        expected, error = ref.gradient(lambda n, box=b: reference(n, box), NUMBER[b])
        assert (np.abs(found[b] - expected) <= 1e-7 * np.abs(expected) + error).all()


@every_loss
def test_gradient_without_a_tape_is_that_of_the_tape(name):
    loss, _ = LOSSES[name]
    assert np.array_equal(loss.gradient(state()).numpy(), by_tape(loss, state(requires_grad=True)))


@every_loss
def test_gradient_goes_with_the_seed_of_each_box(name):
    loss, _ = LOSSES[name]
    seed = np.array([2.0, 0.0, -3.0])
    weighted = by_tape(loss, state(requires_grad=True), seed)
    np.testing.assert_allclose(weighted, seed[:, None] * loss.gradient(state()).numpy(), rtol=1e-14)


@every_loss
def test_loss_of_a_slice_reaches_the_array_it_was_cut_from(name):
    loss, _ = LOSSES[name]
    series = wp.array(np.stack([NUMBER, 2 * NUMBER]), dtype=wp.float64, requires_grad=True)
    tape = wp.Tape()
    with tape:
        value = loss(SectionalState(series[0], GRID))
    tape.backward(grads={value: wp.ones(BOXES, dtype=wp.float64)})
    expected = np.stack([loss.gradient(state()).numpy(), np.zeros_like(NUMBER)])
    np.testing.assert_allclose(series.grad.numpy(), expected, rtol=1e-14)


@every_loss
def test_float32_storage_costs_its_rounding_only(name):
    loss, _ = LOSSES[name]
    single = state(dtype=wp.float32, requires_grad=True)
    np.testing.assert_allclose(loss(single).numpy(), loss(state()).numpy(), rtol=1e-5)
    gradient, exact = by_tape(loss, single), loss.gradient(state()).numpy()
    np.testing.assert_allclose(gradient, exact, atol=1e-5 * np.abs(exact).max())


@every_loss
def test_states_with_empty_bins_have_finite_values_and_gradients(name):
    number = NUMBER.copy()
    number[0, :] = 0.0
    number[1, 4:9] = 0.0
    number[2, :-1] = 0.0
    loss, _ = LOSSES[name]
    assert np.isfinite(loss(state(number)).numpy()).all()
    assert np.isfinite(by_tape(loss, state(number, requires_grad=True))).all()


@every_loss
def test_gradient_in_empty_bins_is_the_one_sided_derivative(name):
    number = NUMBER.copy()
    empty = {0: [0, 1, 10, 11, 24], 1: [4, 5, 6, 7], 2: [0, 12, 22, 23, 24]}
    for b, bins in empty.items():
        number[b, bins] = 0.0
    loss, reference = LOSSES[name]
    found = loss.gradient(state(number)).numpy()
    for b, bins in empty.items():
        scale = np.abs(found[b]).max()
        for i in bins:
            expected = ref.forward_difference(lambda n, box=b: reference(n, box), number[b], i, step=1e2)
            assert found[b, i] == pytest.approx(expected, rel=1e-6, abs=1e-7 * scale)


DISTANCES = [lambda t: L2Loss(t, 1e9), lambda t: CramerLoss(t, 1e9), CramerLoss, Wasserstein1Loss, Wasserstein2Loss]


@pytest.mark.parametrize("make", DISTANCES)
def test_equal_distributions_have_no_loss_and_no_slope(make):
    target = np.stack([TARGET[0], NUMBER[1], NUMBER[2]])
    loss = make(state(target))
    assert np.array_equal(loss(state(target)).numpy(), np.zeros(BOXES))
    assert np.array_equal(by_tape(loss, state(target, requires_grad=True)), np.zeros_like(target))


@pytest.mark.parametrize(("make", "power"), [(Wasserstein1Loss, 1), (Wasserstein2Loss, 2)])
def test_number_outside_a_reached_target_costs_its_way(make, power):
    """At the target: no slope where it has number; outside, the mean over the bin of the way to it, to the power."""
    target = TARGET[2:3].copy()
    target[0, :4] = 0.0
    slope = make(state(target)).gradient(state(target)).numpy()[0] * target.sum()
    inside = np.flatnonzero(target[0] > 0)
    np.testing.assert_allclose(slope[inside], 0.0, atol=1e-14)
    width = float(GRID.ln_widths[0])
    for i in np.flatnonzero(target[0] == 0):
        bins_away = max(inside[0] - i, i - inside[-1])
        way = {1: bins_away - 0.5, 2: bins_away**2 - bins_away + 1 / 3}[power] * width**power
        assert slope[i] == pytest.approx(way, rel=1e-10)


@every_shape
def test_shape_losses_do_not_see_the_total(name):
    loss = LOSSES[name][0]
    np.testing.assert_allclose(loss(state(7.3 * NUMBER)).numpy(), loss(state()).numpy(), rtol=1e-12)
    slope_along_itself = (loss.gradient(state()).numpy() * NUMBER).sum(axis=1)
    np.testing.assert_allclose(slope_along_itself, 0.0, atol=1e-12)


@every_shape
def test_an_empty_state_counts_as_lying_at_the_upper_end(name):
    """That is half a bin beyond number in the last bin, so it costs more, and at most that more."""
    loss = LOSSES[name][0]
    nothing, last = np.zeros_like(NUMBER), np.zeros_like(NUMBER)
    last[:, -1] = 1.0
    empty, at_the_end = loss(state(nothing)).numpy(), loss(state(last)).numpy()
    assert (empty > at_the_end).all()
    assert (empty < at_the_end * 1.2).all()
    assert np.array_equal(loss.gradient(state(nothing)).numpy(), nothing)


@pytest.mark.parametrize("shift", [1, 2, 7])
def test_distances_of_a_shifted_distribution_are_known(shift):
    """Moved by whole bins: W1 is the way, W2^2 its square; of a single bin, Cramer's is (k - 1/3) widths."""
    width = float(GRID.ln_widths[0])
    start, moved = np.zeros((1, BINS)), np.zeros((1, BINS))
    start[0, 3:12] = RNG.lognormal(size=9)
    moved[0, 3 + shift : 12 + shift] = start[0, 3:12]
    assert Wasserstein1Loss(state(start))(state(moved)).numpy()[0] == pytest.approx(shift * width, rel=1e-12)
    assert Wasserstein2Loss(state(start))(state(moved)).numpy()[0] == pytest.approx((shift * width) ** 2, rel=1e-12)
    one, other = np.eye(BINS)[4:5], np.eye(BINS)[4 + shift : 5 + shift]
    assert CramerLoss(state(one))(state(other)).numpy()[0] == pytest.approx((shift - 1 / 3) * width, rel=1e-12)


def test_transport_gradient_supports_the_distance_from_below_at_kinks():
    """W2^2 is convex on distributions of one total, so a right gradient lies below it, at empty bins too."""
    target, number = TARGET[:1], TARGET[:1].copy()
    number[0, 10] = 0.0
    number *= target.sum() / number.sum()
    loss = Wasserstein2Loss(state(target))
    for base in (target, number):
        value, slope = loss(state(base)).numpy()[0], loss.gradient(state(base)).numpy()[0]
        for _ in range(50):
            other = RNG.lognormal(sigma=2.0, size=BINS) * (RNG.random(BINS) < 0.7)
            other = base[0] + RNG.choice([1e-3, 0.1, 1.0]) * (other * base.sum() / other.sum() - base[0])
            assert loss(state(other)).numpy()[0] >= value + slope @ (other - base[0]) - 1e-12


@every_loss
def test_stock_overwrite_tracker_is_clean(name, capfd):
    loss, _ = LOSSES[name]
    wp.config.verify_autograd_array_access = True
    try:
        gradient = by_tape(loss, state(requires_grad=True))
    finally:
        wp.config.verify_autograd_array_access = False
    printed = "".join(capfd.readouterr())
    assert "overwrit" not in printed.lower()
    np.testing.assert_allclose(gradient, loss.gradient(state()).numpy(), rtol=1e-12)


def test_one_target_serves_many_boxes():
    loss = Wasserstein2Loss(state(TARGET[:1]))
    many = Wasserstein2Loss(state(np.repeat(TARGET[:1], BOXES, axis=0)))
    assert np.array_equal(loss(state()).numpy(), many(state()).numpy())
    assert np.array_equal(loss.gradient(state()).numpy(), many.gradient(state()).numpy())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MomentLoss.number(GRID, [-1.0], 1.0), r"target \[m\^-3\]"),
        (lambda: MomentLoss.volume(GRID, [1.0], 0.0), r"scale \[m\^0\]"),
        (lambda: L2Loss(state(), 0.0), r"scale \[m\^-3\]"),
        (lambda: CramerLoss(state(), -1.0), r"scale \[m\^-3\]"),
        (lambda: Wasserstein1Loss(state(np.zeros(BINS))), r"target \[m\^-3\]: box 0 .* empty"),
        (lambda: L2Loss(SectionalState(wp.full((1, BINS), -1.0, dtype=wp.float64), GRID), 1.0), "negative"),
        (lambda: L2Loss(state(TARGET[:2]), 1.0)(state()), "expected 2 boxes"),
        (
            lambda: L2Loss(state(), 1.0)(SectionalState.from_numpy(np.ones(2), SizeGrid.from_volumes([1.0, 2.0]))),
            "grid",
        ),
        (lambda: PoissonLoss(GRID, COUNTS, RESPONSE[:, :-1]), r"response \[m\^3\]"),
        (lambda: PoissonLoss(GRID, COUNTS[:, :-1], RESPONSE), r"counts \[1\]"),
        (lambda: PoissonLoss(GRID, -COUNTS, RESPONSE), r"counts \[1\].*negative"),
        (lambda: PoissonLoss(GRID, COUNTS, RESPONSE, BACKGROUND[:-1]), r"background \[1\]"),
        (lambda: PoissonLoss(GRID, COUNTS, RESPONSE, floor=0.0), r"floor \[1\]"),
    ],
)
def test_bad_input_is_refused_naming_field_and_unit(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@every_loss
def test_loss_and_backward_pass_can_be_captured_in_a_graph(name):
    """Replayed on other numbers, the graph gives their loss and gradient."""
    loss, _ = LOSSES[name]
    start = state(requires_grad=True)
    by_tape(loss, start)
    seed = wp.ones(BOXES, dtype=wp.float64)
    with wp.ScopedCapture() as capture:
        tape = wp.Tape()
        with tape:
            value = loss(start)
        tape.backward(grads={value: seed})
    other = 0.5 * NUMBER + 1e8
    start.number.assign(other)
    start.number.grad.zero_()
    wp.capture_launch(capture.graph)
    assert np.array_equal(value.numpy(), loss(state(other)).numpy())
    assert np.array_equal(start.number.grad.numpy(), loss.gradient(state(other)).numpy())
