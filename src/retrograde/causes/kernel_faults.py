"""Suspects of the causes inside kernels: what the twin of a kernel whose adjoint is wrong is without."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from retrograde.causes.intervention import Suspect
from retrograde.gradients.cure import Cure
from retrograde.gradients.judge import Judgement
from retrograde.gradients.ladder import RISKY
from retrograde.gradients.policy import IDEAL, Moment, Policy, Treatment
from retrograde.gradients.twins.patch import patch_of
from retrograde.gradients.twins.rewrite import Rewrite
from retrograde.gradients.twins.source import Role
from retrograde.trace.callsite import CallSite
from retrograde.trace.operations import Operation


def cured(judgement: Judgement, code: str) -> list[Suspect]:
    """Suspects of a cause: its rewrites among those that launches cannot do without.

    Put back, each makes the sweep run a twin with all rewrites but that one, or the kernel itself where it is the only
    one.
    """
    return [suspect for suspect, _, _ in cured_with(judgement, code)]


def cured_with(judgement: Judgement, code: str) -> list[tuple[Suspect, Operation, Rewrite]]:
    """The same suspects, each with the first launch and the rewrite that prove it."""
    found: dict[str, tuple[Suspect, Operation, Rewrite]] = {}
    for operation, treatment, rewrite in _rewrites(judgement):
        if rewrite.code == code and rewrite.label not in found:
            suspect = _survivable(judgement, _suspect(operation, treatment, rewrite))
            found[rewrite.label] = (suspect, operation, rewrite)
    return list(found.values())


def differenced(judgement: Judgement, code: str) -> list[Suspect]:
    """Suspects of a cause: reasons of launches that are differenced whole; put back is the kernel's own adjoint."""
    found: dict[str, Suspect] = {}
    for operation in judgement.case.window.launches:
        treatment = judgement.case.treatments.get(operation.index)
        for reason in treatment.reasons if treatment is not None else ():
            if reason.code == code and reason.label not in found and treatment is not None:
                found[reason.label] = _reasoned(operation, treatment, reason)
    return list(found.values())


def _reasoned(operation: Operation, treatment: Treatment, reason: Rewrite) -> Suspect:
    assert operation.launch is not None
    key = operation.launch.kernel.key

    def switch_off(policy: Policy) -> Policy:
        return policy.without(plain_adjoint=policy.plain_adjoint | {key})

    return Suspect(
        code=reason.code,
        site=CallSite(reason.source.file, reason.line, reason.source.name),
        order=operation.index,
        message=(
            f"{reason.subject}. Tested alone, the adjoint of kernel {key}, launched at line {operation.site.line}, is "
            f"{_off(treatment)}."
        ),
        fix=reason.advice,
        route="launch test",
        switch_off=switch_off,
        evidence={"launch_line": operation.site.line, "launch_test": treatment.discrepancy, **reason.evidence},
    )


def _off(treatment: Treatment) -> str:
    finite = np.isfinite(treatment.discrepancy)
    return f"off by {treatment.discrepancy:.2g} of the size of its terms" if finite else "not finite"


def _survivable(judgement: Judgement, suspect: Suspect) -> Suspect:
    """A suspect whose fault cannot be put back because the sweep does not survive it, proven by its repair alone."""
    case = judgement.case
    if suspect.code != RISKY or suspect.switch_off is None:
        return suspect
    if np.all(np.isfinite(case.sweep(suspect.switch_off(IDEAL), used_seeds=True))):
        return suspect
    return replace(suspect, switch_off=None, repaired=case.sweep(IDEAL, used_seeds=True))


def _rewrites(judgement: Judgement) -> Iterator[tuple[Operation, Treatment, Rewrite]]:
    for operation in judgement.case.window.launches:
        treatment = judgement.case.treatments.get(operation.index)
        if treatment is not None and isinstance(treatment.cure, Cure):
            for rewrite in treatment.cure.rewrites:
                yield operation, treatment, rewrite


def _suspect(operation: Operation, treatment: Treatment, rewrite: Rewrite) -> Suspect:
    label = rewrite.label
    call = operation.launch
    assert call is not None

    def switch_off(policy: Policy) -> Policy:
        return policy.without(faults=policy.faults | {label})

    assert isinstance(treatment.cure, Cure)
    in_place = Moment.BEFORE in treatment.cure.moments.values()
    patch = "" if in_place else patch_of([rewrite])
    kernel = call.kernel.key
    where = f" in {rewrite.source.name}" if rewrite.source.role is Role.FUNCTION else ""
    return Suspect(
        code=rewrite.code,
        site=CallSite(rewrite.source.file, rewrite.line, rewrite.source.name, ((os.fspath(label), rewrite.line, -1),)),
        order=operation.index,
        message=(
            f"{rewrite.subject}{where}. Tested alone, the adjoint of kernel {kernel}, launched at line "
            f"{operation.site.line}, is {_off(treatment)}; a twin of the kernel without this fault passes."
        ),
        fix=rewrite.advice + ("\n" + patch if patch else ""),
        route="twin of the kernel",
        switch_off=switch_off,
        evidence={"launch_line": operation.site.line, "launch_test": treatment.discrepancy, **rewrite.evidence},
    )
