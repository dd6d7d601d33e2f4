from __future__ import annotations

import numpy as np
import pytest
import warp as wp
from tests.gradients import kernels
from tests.gradients.programs import PROGRAMS, N, Program, doubles, named
from tests.gradients.sweeping import Opened, open_program
from tests.trace.recording import record

from retrograde.gradients.policy import IDEAL
from retrograde.gradients.sweep import SeedTerm, Sweep, Target
from retrograde.gradients.window import Window
from retrograde.trace.operations import Kind

_NEVER_RIGHT_ON_A_TAPE = {
    "ping_pong", "struct_state", "overlapping_slices", "second_pointer", "cleared_scratch", "overwritten_in_kernel",
    "several_tapes", "retained", "multiplied_in_place", "wrong_adjoint", "indexed", "tiles", "transposed", "vectors",
}  # fmt: skip


def _error(found: np.ndarray, exact: np.ndarray) -> float:
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_ideal_gradient_is_the_exact_one(program: Program) -> None:
    opened = open_program(program)
    assert _error(opened.sweep(), program.gradient()) < 1e-7


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_warps_own_gradient_is_wrong_just_where_it_is_said_to_be(program: Program) -> None:
    opened = open_program(program)
    assert (_error(opened.taped(), program.gradient()) > 1e-5) == (program.name in _NEVER_RIGHT_ON_A_TAPE)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_a_sweep_leaves_the_program_and_its_gradients_alone(program: Program) -> None:
    opened = open_program(program)
    arrays = {a.ref.pointer: a.ref.array for o in opened.recording.operations for a in o.accesses}
    kept = {pointer: array.numpy().copy() for pointer, array in arrays.items() if isinstance(array, wp.array)}
    taped = opened.taped().copy()
    first, second = opened.sweep(), opened.sweep()
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(opened.taped(), taped)
    for pointer, contents in kept.items():
        np.testing.assert_array_equal(arrays[pointer].numpy(), contents)


def _sites(opened: Opened, kernel: str) -> frozenset[tuple[str, int, int]]:
    return frozenset(o.site.key for o in opened.operations(kernel))


def _matches_warp(opened: Opened, found: np.ndarray) -> None:
    np.testing.assert_allclose(found, opened.taped(), rtol=1e-11, atol=1e-13)
    assert _error(found, opened.program.gradient()) > 1e-5


def test_stale_contents_bring_back_warps_number() -> None:
    opened = open_program(named("ping_pong"))
    _matches_warp(opened, opened.sweep(IDEAL.without(stale=_sites(opened, "advance"))))


@pytest.mark.parametrize(("name", "kernel"), [("overwritten_in_kernel", "wear"), ("overlapping_slices", "cubed")])
def test_stale_contents_of_the_launch_itself_bring_back_warps_number(name: str, kernel: str) -> None:
    opened = open_program(named(name))
    sites = _sites(opened, kernel)
    _matches_warp(opened, opened.sweep(IDEAL.without(stale=sites, stale_own=sites)))


def test_a_blind_second_pointer_brings_back_warps_number() -> None:
    opened = open_program(named("second_pointer"))
    writer = opened.operations("cubed")[-1]
    alias = next(a.ref for a in writer.accesses if a.usage.writes)
    policy = IDEAL.without(blind=frozenset({(id(alias.array), False)}), stale=frozenset({writer.site.key}))
    _matches_warp(opened, opened.sweep(policy))


def test_blind_fields_of_a_struct_cut_the_gradient_as_warp_does() -> None:
    opened = open_program(named("struct_state"))
    arrays = {id(a.ref.array) for o in opened.operations("leapfrog") for a in o.accesses}
    blind = frozenset((array, in_struct) for array in arrays for in_struct in (False, True))
    found = opened.sweep(IDEAL.without(blind=blind))
    np.testing.assert_array_equal(found, opened.taped())
    assert not found.any()


def test_an_unrecorded_clear_brings_back_warps_number() -> None:
    opened = open_program(named("cleared_scratch"))
    clears = frozenset(o.site.key for o in opened.recording.operations if o.kind is Kind.FILL)
    stale = clears | _sites(opened, "gather_force")
    with_contents = opened.sweep(IDEAL.without(uncleared=clears))
    _matches_warp(opened, opened.sweep(IDEAL.without(uncleared=clears, stale=stale)))
    assert _error(with_contents, opened.sweep()) > 1e-3, "the clear alone is a fault too"


def test_one_tape_alone_brings_back_warps_number() -> None:
    opened = open_program(named("several_tapes"))
    assert opened.backward.tape is not None
    alone = IDEAL.without(tapes=frozenset({opened.backward.tape}), skipped=_sites(opened, "advance"))
    _matches_warp(opened, opened.sweep(alone))


@pytest.mark.parametrize(("name", "kernel"), [("wrong_adjoint", "wrongly_squared")])
def test_the_kernels_own_adjoint_brings_back_warps_number(name: str, kernel: str) -> None:
    opened = open_program(named(name))
    _matches_warp(opened, opened.sweep(IDEAL.without(plain_adjoint=frozenset({kernel}))))


def test_gradients_left_in_buffers_bring_back_warps_number() -> None:
    x = doubles(named("ping_pong").start)
    before: list[np.ndarray] = []

    def program() -> None:
        y, loss = doubles(), doubles(shape=1)
        z = wp.zeros(6, dtype=wp.float64, device="cpu", requires_grad=True, retain_grad=True)
        tape = wp.Tape()
        with tape:
            wp.launch(kernels.cubed, N, [x, y], device="cpu")
            wp.launch(kernels.advance, N, [y, z], device="cpu")
            wp.launch(kernels.squared, N, [z, loss], device="cpu")
        tape.backward(loss)
        before.append(x.grad.numpy().copy())
        loss.grad.zero_()
        tape.backward(loss)

    recording = record(program)
    last = next(o for o in reversed(recording.operations) if o.kind is Kind.BACKWARD)
    assert last.backward is not None
    assert last.backward.loss is not None
    assert last.backward.reused
    opened = Opened(named("ping_pong"), x, recording)
    window = Window(recording, opened.first, last.index, opened.ref)
    sweep = Sweep(window, (SeedTerm(last.index, last.backward.loss, np.ones(1)),), {})
    target = (Target(opened.ref, opened.first),)
    np.testing.assert_allclose(sweep.run(target)[0], before[0], rtol=1e-11)
    np.testing.assert_allclose(
        sweep.run(target, IDEAL.without(leftovers=frozenset({last.index})))[0], x.grad.numpy() - before[0], rtol=1e-11
    )


def test_a_policy_that_concerns_nothing_here_changes_nothing() -> None:
    opened = open_program(named("clones_and_assignments"))
    elsewhere = frozenset({("another.py", 1, 1)})
    policy = IDEAL.without(stale=elsewhere, stale_own=elsewhere, uncleared=elsewhere, skipped=elsewhere)
    np.testing.assert_array_equal(opened.sweep(policy), opened.sweep())


def test_half_precision_flows_through_a_shadow_of_its_own_type() -> None:
    start = np.array([0.5, -1.0, 2.0, 0.25], dtype=np.float16)
    x = wp.array(start, dtype=wp.float16, device="cpu", requires_grad=True)

    def program() -> None:
        loss = wp.zeros(1, dtype=wp.float16, device="cpu", requires_grad=True)
        tape = wp.Tape()
        with tape:
            wp.launch(kernels.half_squared, 4, [x, loss], device="cpu")
        tape.backward(loss)

    opened = Opened(named("ping_pong"), x, record(program))
    np.testing.assert_array_equal(opened.sweep(), 2.0 * start.astype(np.float64))
