"""RG201: an array between parameter and loss has no gradient buffer."""

from __future__ import annotations

from collections.abc import Iterator

from retrograde.causes.accesses import Accesses
from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.gradients.judge import Judgement
from retrograde.gradients.ladder import Case
from retrograde.gradients.policy import Policy
from retrograde.gradients.segments import carried_by_segments, severed_in_forward
from retrograde.trace.arguments import StructRef
from retrograde.trace.arrays import root_of
from retrograde.trace.callsite import Key
from retrograde.trace.extents import Extent
from retrograde.trace.operations import BY_HAND, Access, Kind, Operation

CAUSE = Cause(
    code="RG201",
    name="missing-requires-grad",
    group="chain",
    summary="An array on the path from parameter to loss has no gradient buffer.",
    finds=(
        "Floating-point arrays without `requires_grad`, in structs too, that one operation writes and a later one "
        "reads. Proven by giving the array a gradient buffer in the sweep: the gradient must change."
    ),
    why=(
        "Adjoints travel through `.grad` buffers. An array without one swallows what should pass through it: "
        "gradients beyond it are exactly zero, or lack that path's share. `wp.zeros` and `wp.array` default to "
        "`requires_grad=False`. A struct keeps the array as it was when the field was set: a flag set later is not "
        "seen."
    ),
    fix="Allocate the array with `requires_grad=True` (before it is put into a struct).",
    example_wrong="flow = wp.zeros(n, dtype=float)",
    example_right="flow = wp.zeros(n, dtype=float, requires_grad=True)",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Arrays without a gradient buffer that something writes and something else reads."""
    case = judgement.case
    groups: dict[Key | int, list[tuple[Operation, Access, str]]] = {}
    for operation, access, route in _between(case):
        root = root_of(access.ref.array)
        site = case.recording.sites.get(id(root))
        key = site.key if site is not None else id(root)
        groups.setdefault(key, []).append((operation, access, route))
    return [_suspect(case, members) for members in groups.values()]


def _between(case: Case) -> Iterator[tuple[Operation, Access, str]]:
    """Accesses without a gradient buffer to arrays that an operation writes and a later one reads.

    A read of the parameter itself counts too: a struct may hold it as it was before it had a buffer.
    """
    accesses = [(o, a) for o in case.window.operations if o.kind in (Kind.LAUNCH, Kind.COPY) for a in o.accesses]
    by_memory = Accesses(case.window.blocks)
    for operation, access in accesses:
        by_memory.add(operation, access)
    by_hand, made_good = _given_by_hand(case), carried_by_segments(case)
    on_tapes = {id(root_of(a.ref.array)) for o, a in accesses if o.within is not None}
    for operation, access in accesses:
        route = _blind_route(operation, access)
        if route is None or _is_given(access, by_hand):
            continue
        if operation.index in made_good and id(root_of(access.ref.array)) not in on_tapes:
            continue
        case.clock.check()
        if _is_passed_on(operation, access, by_memory) or _is_parameter(case, access):
            yield operation, access, route


def _given_by_hand(case: Case) -> tuple[frozenset[int], list[Extent]]:
    """Arrays whose adjoints the program hands over itself: seeds by identity, those of adjoint launches by memory.

    A seed does not reach views of its array that were made before.
    """
    passes = [o for o in case.window.operations if o.backward is not None]
    seeds = [s for o in passes if o.backward is not None for s in o.backward.seeds if s.explicit]
    launched = [a.ref.extent for o in passes for a in o.accesses if a.path == BY_HAND]
    return frozenset(id(s.ref.array) for s in seeds), launched


def _is_given(access: Access, by_hand: tuple[frozenset[int], list[Extent]]) -> bool:
    seeds, launched = by_hand
    return id(access.ref.array) in seeds or any(e.overlaps(access.ref.extent) for e in launched)


def _is_passed_on(operation: Operation, access: Access, accesses: Accesses) -> bool:
    for other, second in accesses.of(access.ref.extent):
        if access.usage.writes and second.usage.load and other.index > operation.index:
            return True
        if (access.usage.load or access.usage.accumulate) and second.usage.writes and other.index < operation.index:
            return True
    return False


def _is_parameter(case: Case, access: Access) -> bool:
    return access.usage.load and access.ref.extent.overlaps(case.life.ref.extent)


def _blind_route(operation: Operation, access: Access) -> str | None:
    """How an access lacks a gradient: None where it does not."""
    if not access.ref.differentiable:
        return None
    call = operation.launch
    argument = call.arguments[access.position] if call is not None else None
    if isinstance(argument, StructRef):
        if access.ref.gradient is None:
            return "field of a struct"
        if argument.packed.get(access.path[1:], 1) == 0:
            return "flag set after the struct took the array"
        return None
    return "allocation" if access.ref.gradient is None else None


def _suspect(case: Case, members: list[tuple[Operation, Access, str]]) -> Suspect:
    operation, access, route = members[0]
    identities = frozenset((id(a.ref.array), len(a.path) > 1) for _, a, _ in members)
    severed = severed_in_forward(case, [(o, a) for o, a, _ in members])
    root = root_of(access.ref.array)
    name = case.recording.names.get(id(root), case.recording.name(access.ref))
    site = case.recording.sites.get(id(root), operation.site)

    def switch_off(policy: Policy) -> Policy:
        return policy.without(blind=policy.blind | identities, severed=policy.severed | severed)

    return Suspect(
        code=CAUSE.code,
        site=site,
        order=operation.index,
        message=(
            f"{name} has no gradient buffer{' in the struct' if 'struct' in route else ''}, so nothing passes back "
            f"through the {operation.label} at line {operation.site.line}."
        ),
        fix=f"Allocate {name} with requires_grad=True.",
        array=name,
        route=route,
        switch_off=switch_off,
        evidence={"reader_line": operation.site.line},
    )
