"""Suspects where values come back from outside the recorded operations."""

from __future__ import annotations

from collections.abc import Iterator

from retrograde.causes.intervention import Suspect
from retrograde.gradients.ladder import Case
from retrograde.gradients.links import Link, Way
from retrograde.gradients.policy import Policy
from retrograde.trace.callsite import Key
from retrograde.trace.operations import Kind, Operation


def links_by_site(case: Case, way: Way) -> Iterator[tuple[Link, tuple[Link, ...]]]:
    """The first link of each call site where values come back in one way, and all of the site.

    Links are left out that take the place of a recorded function: that function is at fault, not the way.
    """
    groups: dict[Key, list[Link]] = {}
    for link in case.links.members if case.links is not None else ():
        if link.way is way and link.operation.index not in case.window.claimed:
            groups.setdefault(link.operation.site.key, []).append(link)
    for members in groups.values():
        yield members[0], tuple(members)


def suspect_of(case: Case, link: Link, code: str, message: str, fix: str, array: str | None) -> Suspect:
    """The suspect for one such site: cutting the link again must take away what it carries.

    With it goes what the tape does not know of a write from outside: that it ends the adjoint of what was there before.
    """
    key = link.operation.site.key

    def switch_off(policy: Policy) -> Policy:
        return policy.without(unlinked=policy.unlinked | {key}, uncleared=policy.uncleared | {key})

    read = last_read_before(case, link.operation)
    return Suspect(
        code=code,
        site=link.operation.site,
        order=link.operation.index,
        message=message,
        fix=fix,
        array=array,
        route=link.way.value,
        switch_off=switch_off,
        evidence={"read_line": read.site.line if read is not None else None, "values": int(link.tangents.shape[1])},
    )


def last_read_before(case: Case, operation: Operation) -> Operation | None:
    """The last host read of floating-point contents before an operation: where its values may have left."""
    reads = [
        o
        for o in case.window.operations
        if o.kind is Kind.HOST_READ and o.index < operation.index and any(a.ref.differentiable for a in o.accesses)
    ]
    return reads[-1] if reads else None


def is_link(case: Case, operation: Operation) -> bool:
    """Whether an operation is known to bring in values that depend on the parameter."""
    return case.links is not None and operation.index in case.links.by_index
