"""RG501: an operation whose derivative is zero."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from retrograde.causes.base import Cause
from retrograde.causes.draws import decided_by_draws
from retrograde.causes.intervention import Suspect
from retrograde.gradients.cure import Cure
from retrograde.gradients.judge import Judgement, Opinion
from retrograde.gradients.ladder import Case
from retrograde.gradients.policy import Treatment
from retrograde.gradients.sweep import Sweep, Target
from retrograde.gradients.twins.flat import find_flat
from retrograde.gradients.twins.parameters import extent_of
from retrograde.gradients.twins.rewrite import Rewrite
from retrograde.gradients.twins.source import KernelSource, read_kernel
from retrograde.trace.callsite import CallSite
from retrograde.trace.operations import Operation

CAUSE = Cause(
    code="RG501",
    name="flat-operation",
    group="remarks",
    summary="The gradient is zero because an operation on the path is flat: rounding, a cast, a sign, a threshold.",
    finds=(
        "Gradients that are right and zero everywhere, and rounding, casts to integers and back, signs and choices "
        "between constants on the path. Shown by giving the operation a surrogate derivative (that of the identity, or "
        "of a logistic step): the gradient is then no longer zero. Also conditions in which a random draw and computed "
        "values decide together, as in acceptance and rejection: these are read from the source."
    ),
    why=(
        "The objective is a flight of stairs in the parameter: its derivative is zero almost everywhere, and that is "
        "what Warp returns. Training stands still, but no gradient is wrong."
    ),
    fix=(
        "Zero is the right derivative. Where training needs another one, choose a surrogate: a function with the "
        "operation's value and the derivative of something smooth. That is a choice of model, not a repair."
    ),
    example_wrong="""
q = wp.round(v[i] * 4.0) / 4.0
""",
    example_right="""
@wp.func
def rounded(x: float):
    return wp.round(x)


@wp.func_grad(rounded)
def straight_through(x: float, adj_ret: float):
    wp.adjoint[x] += adj_ret


q = rounded(v[i] * 4.0) / 4.0            # inside the kernel
""",
    known_problems=(
        "Branches that count (`if x > t: n += 1`) are not looked into. With a surrogate, differences and gradient "
        "disagree on purpose: an audit then reports RG404, which `--accept RG404` declares intended."
    ),
    references=(
        "https://nvidia.github.io/warp/stable/user_guide/differentiability.html#custom-gradient-functions",
        "Y. Bengio, N. Leonard, A. Courville: Estimating or propagating gradients through stochastic neurons, 2013, "
        "https://doi.org/10.48550/arXiv.1308.3432",
    ),
)


def remark(judgements: Sequence[Judgement]) -> list[Suspect]:
    """Flat operations that make a gradient zero, one a line."""
    found: dict[str, Suspect] = {}
    seen: set[str] = set()
    for judgement in judgements:
        case = judgement.case
        if judgement.opinion is Opinion.WRONG or case.life.name in seen or not _is_zero(case):
            continue
        seen.add(case.life.name)
        for operation, rewrite in _blocking(case):
            found.setdefault(rewrite.label, _suspect(case, operation, rewrite))
    for judgement in judgements:
        if judgement.opinion is not Opinion.WRONG:
            for site, order, text in decided_by_draws(judgement.case):
                found.setdefault(str(site), _decided(judgement.case, site, order, text))
    return list(found.values())


def _decided(case: Case, site: CallSite, order: int, text: str) -> Suspect:
    return Suspect(
        code=CAUSE.code,
        site=site,
        order=order,
        message=(
            f"Whether `{text}` holds is decided by a draw: how likely that is depends on computed values, but the "
            f"decision itself is flat, so the gradient of {case.life.name} leaves out how it changes what happens."
        ),
        fix=(
            "For the derivative of a mean, use an estimator: a score function, or a relaxation of the decision. That "
            "is a choice of model, not a repair."
        ),
        array=case.life.name,
        route="decided by a draw",
    )


def _is_zero(case: Case) -> bool:
    consumed = case.life.consumed
    return consumed is not None and not consumed.any() and not case.ideal.any()


def _blocking(case: Case) -> Iterator[tuple[Operation, Rewrite]]:
    """Operations without whose surrogates the gradient is zero; where there are several ways, those of any way."""
    flat = _flat(case)
    every = [r for _, _, rewrites in flat for r in rewrites]
    if not every or not _sweep(case, flat, every).any():
        return
    needed = [r for r in every if not _sweep(case, flat, [s for s in every if s is not r]).any()]
    chosen = needed or [r for r in every if _sweep(case, flat, [r]).any()]
    for operation, _, rewrites in flat:
        yield from ((operation, r) for r in rewrites if r in chosen)


def _flat(case: Case) -> list[tuple[Operation, KernelSource, list[Rewrite]]]:
    """The first launch of each kernel with flat operations."""
    found: dict[int, tuple[Operation, KernelSource, list[Rewrite]]] = {}
    looked_at: set[int] = set()
    for operation in case.window.launches:
        call = operation.launch
        if call is None or call.opaque or id(call.kernel) in looked_at:
            continue
        looked_at.add(id(call.kernel))
        try:
            source = read_kernel(call.kernel)
            rewrites = find_flat(source)
        except Exception:  # the kernel cannot be made again
            continue
        if rewrites:
            found[id(call.kernel)] = (operation, source, rewrites)
    return list(found.values())


def _sweep(
    case: Case, flat: Sequence[tuple[Operation, KernelSource, list[Rewrite]]], used: Sequence[Rewrite]
) -> npt.NDArray[np.float64]:
    """The gradient with some surrogates in place; zero where it cannot be had."""
    treatments = dict(case.treatments)
    for first, source, rewrites in flat:
        chosen = tuple(r for r in rewrites if r in used)
        if not chosen or first.launch is None:
            continue
        for operation in case.window.launches:
            if operation.launch is not None and operation.launch.kernel is first.launch.kernel:
                known = case.treatments.get(operation.index, Treatment())
                cure = Cure(source, chosen, known.by_array, len(extent_of(operation.launch)))
                treatments[operation.index] = Treatment(cure=cure)
    target = Target(case.life.ref, case.life.first.index)
    try:
        (found,) = Sweep(case.window, case.objective.seeds, treatments).run((target,))
    except Exception:
        return np.zeros(1)
    return np.nan_to_num(found)


def _suspect(case: Case, operation: Operation, rewrite: Rewrite) -> Suspect:
    return Suspect(
        code=CAUSE.code,
        site=CallSite(rewrite.source.file, rewrite.line, rewrite.source.name),
        order=operation.index,
        message=(
            f"{rewrite.subject} is flat: its derivative is zero wherever there is one, so the gradient by "
            f"{case.life.name} is zero, and rightly so. With a surrogate derivative in its place it would not be."
        ),
        fix=CAUSE.fix,
        array=case.life.name,
        route="flat operation",
        evidence={"launch_line": operation.site.line},
    )
