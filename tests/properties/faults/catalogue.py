"""Plants one fault in a right program.

Each fault has a list of places; a plant is the program with the fault at one of them, and the mark at the line that
the user must change. Whether the gradient really changes is for the caller to find out, by running it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from tests.properties import ir
from tests.properties.faults.bookkeeping import (
    cleared_early,
    counted_twice,
    not_cleared,
    orphaned,
    read_early,
    reset_on_tape,
    tape_kept,
    truncated,
    unrecorded_clear,
    wrong_seed,
)
from tests.properties.faults.chain import (
    backward_disabled,
    by_value,
    loss_off_tape,
    missing_flag,
    through_host,
    unrecorded,
)
from tests.properties.faults.contents import overwritten_after_tape, overwritten_in_kernel, overwritten_input
from tests.properties.faults.horizon import broken_checkpoint
from tests.properties.faults.kernels import (
    component_assigned_twice,
    custom_adjoint_assigns,
    custom_adjoint_value,
    dynamic_loop,
    in_place_product,
    native_function,
    own_array,
    singular_point,
    unselected_branch,
    wrong_adjoint,
)
from tests.properties.generator import generate
from tests.properties.workbench import Wishes, merge

_ATTEMPTS = 40


@dataclass(frozen=True)
class Plant:
    """A program with a fault.

    Attributes:
        cause: The fault's code.
        route: What was done, in words.
        program: The program, marked.
    """

    cause: str
    route: str
    program: ir.Program


@dataclass(frozen=True)
class Fault:
    """What a program must have for a fault, and the places where it may be planted."""

    wishes: Wishes
    places: Callable[[ir.Program, np.random.Generator], Iterator[tuple[str, ir.Program]]]


def plants(cause: str, seed: int) -> Iterator[Plant]:
    """Plants of one cause, of one seed, in random order, over programs until none is left to try.

    Raises:
        KeyError: The cause cannot be planted.
    """
    fault = FAULTS[cause]
    for attempt in range(_ATTEMPTS):
        program = generate(seed + 1_000_003 * attempt, fault.wishes)
        rng = np.random.default_rng([seed, attempt, int(cause[2:])])
        found = list(fault.places(program, rng))
        for k in rng.permutation(len(found)):
            route, planted = found[k]
            yield Plant(cause, route, planted)


def pairs(first: str, second: str, seed: int) -> Iterator[tuple[Plant, Plant, Plant]]:
    """Programs with a fault of one cause, with one of bookkeeping, and with both.

    Raises:
        KeyError: A cause cannot be planted.
    """
    wishes = merge(FAULTS[first].wishes, FAULTS[second].wishes)
    for attempt in range(_ATTEMPTS):
        program = generate(seed + 1_000_003 * attempt, wishes)
        rng = np.random.default_rng([seed, attempt, int(first[2:]), int(second[2:])])
        found = list(FAULTS[first].places(program, rng))
        alone: dict[str, ir.Program] = {}
        for other, planted in FAULTS[second].places(program, rng):
            alone.setdefault(other, planted)
        for k in rng.permutation(len(found)):
            route, planted = found[k]
            for other, both in FAULTS[second].places(planted, rng):
                if other in alone:
                    yield (
                        Plant(first, route, planted),
                        Plant(second, other, alone[other]),
                        Plant(second, f"{route}, {other}", both),
                    )


FAULTS: dict[str, Fault] = {
    "RG101": Fault(Wishes(), overwritten_input),
    "RG102": Fault(Wishes(), overwritten_in_kernel),
    "RG103": Fault(Wishes(), overwritten_after_tape),
    "RG201": Fault(Wishes(), missing_flag),
    "RG202": Fault(Wishes(), backward_disabled),
    "RG203": Fault(Wishes(), loss_off_tape),
    "RG204": Fault(Wishes(), through_host),
    "RG205": Fault(Wishes(), unrecorded),
    "RG206": Fault(Wishes(), wrong_adjoint),
    "RG207": Fault(Wishes(), by_value),
    "RG301": Fault(Wishes(persistent=True, fresh=True), not_cleared),
    "RG302": Fault(Wishes(persistent=True, fresh=True, host_update=True), read_early),
    "RG303": Fault(Wishes(), cleared_early),
    "RG304": Fault(Wishes(persistent=True), counted_twice),
    "RG305": Fault(Wishes(mean=True), wrong_seed),
    "RG306": Fault(Wishes(segments=True), broken_checkpoint),
    "RG307": Fault(Wishes(single_tape=True), truncated),
    "RG308": Fault(Wishes(single_tape=True), reset_on_tape),
    "RG309": Fault(Wishes(scratch=True), unrecorded_clear),
    "RG310": Fault(Wishes(persistent=True), tape_kept),
    "RG312": Fault(Wishes(persistent=True), orphaned),
    "RG401": Fault(Wishes(), in_place_product),
    "RG402": Fault(Wishes(), component_assigned_twice),
    "RG403": Fault(Wishes(), dynamic_loop),
    "RG404": Fault(Wishes(), custom_adjoint_value),
    "RG405": Fault(Wishes(), custom_adjoint_assigns),
    "RG407": Fault(Wishes(), native_function),
    "RG408": Fault(Wishes(), unselected_branch),
    "RG409": Fault(Wishes(), singular_point),
    "RG410": Fault(Wishes(), own_array),
}
"""The causes that can be planted."""
