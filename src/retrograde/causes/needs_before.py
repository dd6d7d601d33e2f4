"""Launches whose adjoint needs contents from before the launch: suspects of RG102 and RG401."""

from __future__ import annotations

from dataclasses import dataclass

from retrograde.causes.intervention import Suspect
from retrograde.gradients.judge import Judgement
from retrograde.gradients.launch_test import rewritten_paths
from retrograde.gradients.policy import Moment, Policy, Treatment
from retrograde.trace.callsite import CallSite, Key
from retrograde.trace.operations import Access, Operation


@dataclass(frozen=True, eq=False)
class Need:
    """A call site whose launches need contents from before themselves.

    Attributes:
        operation: One of the launches.
        treatment: How its adjoint must be run.
        accesses: Arrays that the kernel reads and then overwrites.
        sites: Call sites of all launches of the kernel.
        names: What the program calls the arrays.
    """

    operation: Operation
    treatment: Treatment
    accesses: tuple[Access, ...]
    sites: frozenset[Key]
    names: str | None

    @property
    def kernel(self) -> str:
        """Name of the kernel."""
        assert self.operation.launch is not None
        return str(self.operation.launch.kernel.key)

    @property
    def fields(self) -> str:
        """The arguments, and their fields."""
        return ", ".join(".".join(a.path) for a in self.accesses)

    @property
    def multiplied(self) -> tuple[int, ...]:
        """Lines that multiply or divide in place, where these alone overwrite."""
        lines = {line for a in self.accesses for line in a.usage.multiplied}
        over = {line for a in self.accesses for line in a.usage.over}
        return tuple(sorted(lines)) if lines >= over else ()

    def suspect(self, code: str, message: str, fix: str) -> Suspect:
        """A suspect that is proven by giving the adjoint the contents from after the launch."""
        lines = self.multiplied or sorted({n for a in self.accesses for n in (a.usage.over or a.usage.lines)})
        site = self.operation.site
        if lines:
            assert self.operation.launch is not None
            site = CallSite(self.operation.launch.kernel.adj.filename, lines[0], self.kernel)

        def switch_off(policy: Policy) -> Policy:
            return policy.without(stale=policy.stale | self.sites, stale_own=policy.stale_own | self.sites)

        tested = f"Launched at line {self.operation.site.line}, its own derivative test was off by"
        return Suspect(
            code=code,
            site=site,
            order=self.operation.index,
            message=f"{message} {tested} {self.treatment.discrepancy:.2g}.",
            fix=fix,
            array=self.names,
            route="field of a struct" if any(len(a.path) > 1 for a in self.accesses) else "same array",
            switch_off=switch_off,
            evidence={
                "launch_line": self.operation.site.line,
                "launch_test": self.treatment.discrepancy,
                "proof": self.treatment.route,
            },
        )


def needs_before(judgement: Judgement) -> list[Need]:
    """Launches that need contents from before themselves, one a call site."""
    found: dict[Key, Need] = {}
    for operation in judgement.case.window.launches:
        treatment = judgement.case.treatments.get(operation.index)
        if treatment is not None and operation.site.key not in found and _needs_before(treatment):
            found[operation.site.key] = _need(judgement, operation, treatment)
    return list(found.values())


def _needs_before(treatment: Treatment) -> bool:
    if Moment.BEFORE in treatment.by_array.values():
        return True
    return treatment.hinges and not treatment.reasons


def _need(judgement: Judgement, operation: Operation, treatment: Treatment) -> Need:
    assert operation.launch is not None
    kernel, recording = operation.launch.kernel, judgement.case.recording
    paths = [p for p, m in treatment.by_array.items() if m is Moment.BEFORE] or rewritten_paths(operation)
    accesses = [a for a in operation.accesses if a.path in paths]
    if any(a.usage.over for a in accesses):
        accesses = [a for a in accesses if a.usage.over]
    launches = judgement.case.window.launches
    return Need(
        operation,
        treatment,
        tuple(accesses),
        frozenset(o.site.key for o in launches if o.launch is not None and o.launch.kernel is kernel),
        ", ".join(dict.fromkeys(recording.name(a.ref) for a in accesses)) or None,
    )
