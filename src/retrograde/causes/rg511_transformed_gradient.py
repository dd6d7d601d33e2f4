"""RG511: the gradient is changed on purpose between backward and step."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect, gap, resolution
from retrograde.gradients.judge import Judgement, Opinion
from retrograde.gradients.ladder import Case
from retrograde.gradients.memory import gradient_values
from retrograde.trace.callsite import CallSite
from retrograde.trace.operations import Kind, Operation

CAUSE = Cause(
    code="RG511",
    name="transformed-gradient",
    group="remarks",
    summary="The gradient is clipped, decayed or replaced on purpose between backward and step; it is right before.",
    finds=(
        "Operations that change a gradient buffer between `backward()` and the step; and steps that follow the "
        "gradient but for its largest elements (clipping), but for its length (clipping or normalising by the norm), "
        "or together with the parameter itself (weight decay). Shown by the numbers of buffers and steps."
    ),
    why=(
        "What the optimizer gets is then another vector than the derivative, as intended. Compared with differences it "
        "looks wrong, and a clip that is always active hides how large the gradient is."
    ),
    fix="None needed; compare the gradient with differences before it is transformed.",
    example_wrong="x.assign(x.numpy() - rate * np.clip(x.grad.numpy(), -1.0, 1.0))",
    example_right="x.assign(x.numpy() - rate * x.grad.numpy())",
    known_problems=(
        "Momentum and adaptive steps are how optimizers work, and are not reported; a clip that holds every "
        "element, in each iteration, looks like one of them."
    ),
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html",),
)

Float = npt.NDArray[np.float64]
_SAME = 1e-3


def remark(judgements: Sequence[Judgement]) -> list[Suspect]:
    """Transformed gradients, one a parameter."""
    found: dict[str, Suspect] = {}
    by_name: dict[str, list[Case]] = {}
    for judgement in judgements:
        if judgement.opinion is Opinion.RIGHT:
            by_name.setdefault(judgement.case.life.name, []).append(judgement.case)
    for name, cases in by_name.items():
        suspect = next((s for c in cases if (s := _in_buffer(c)) is not None), None) or _in_steps(cases)
        if suspect is not None:
            found[name] = suspect
    return list(found.values())


# -- in the buffer -------------------------------------------------------------------------------------


def _in_buffer(case: Case) -> Suspect | None:
    """An operation that changed the gradient after backward, seen by a later reading of it."""
    life = case.life
    gradient = life.ref.gradient_extent
    if gradient is None or life.consumed is None:
        return None
    changer: Operation | None = None
    for operation in case.recording.operations[life.last + 1 :]:
        if operation.kind is Kind.BACKWARD:
            break
        read = operation.gradients.get(gradient) if operation.kind is not Kind.HOST_WRITE else None
        if changer is not None and read is not None:
            values = gradient_values(read, life.ref)
            if values.any() and gap(values, life.consumed) > resolution(case):
                what = _described(life.consumed, values)
                return _suspect(case, changer.site, changer.index, what, "in the gradient buffer")
        if any(a.usage.writes and a.ref.extent.overlaps(gradient) for a in operation.accesses):
            cleared = operation.kind in (Kind.CLEAR, Kind.FILL)
            changer = None if cleared or (operation.data is not None and not operation.data.any()) else operation
    return None


def _described(before: Float, after: Float) -> str:
    finite = np.isfinite(before)
    if not np.all(finite) and np.all(np.isfinite(after)):
        return "non-finite elements are replaced"
    factor = float(np.vdot(before, after) / max(float(np.vdot(before, before)), 1e-300))
    if gap(after, factor * before) <= _SAME * float(np.linalg.norm(after)):
        return f"it is scaled by {factor:.4g}"
    changed = int(np.sum(~np.isclose(before, after, rtol=1e-5, atol=0.0)))
    return f"{changed} of {before.size} elements are changed"


# -- in the step ---------------------------------------------------------------------------------------


def _in_steps(cases: Sequence[Case]) -> Suspect | None:
    """What the steps from one iteration to the next are, if not along the gradient."""
    steps = [
        (one, one.life.consumed, other.contents - one.contents)
        for one, other in pairwise(cases)
        if other.life.iteration == one.life.iteration + 1 and one.life.consumed is not None
    ]
    usable = [(c, g, m) for c, g, m in steps if g.any() and m.any() and np.all(np.isfinite(g))]
    for case, gradient, moved in usable:
        what = None if _along(gradient, moved) is not None else _clipped(gradient, moved)
        if what is not None:
            return _of_step(case, what)
    return _decayed(usable) or _by_norm(usable)


def _along(gradient: Float, moved: Float) -> float | None:
    """The factor between gradient and step, None where they are not parallel."""
    factor = float(np.vdot(gradient, moved) / np.vdot(gradient, gradient))
    return factor if np.linalg.norm(moved - factor * gradient) <= _SAME * np.linalg.norm(moved) else None


def _clipped(gradient: Float, moved: Float) -> str | None:
    """Whether the largest elements of a step are cut to one size and the others follow the gradient."""
    sizes, steps = np.abs(gradient).reshape(-1), np.abs(moved).reshape(-1)
    limit = steps.max()
    cut = steps >= (1.0 - _SAME) * limit
    free = ~cut & (sizes > 0.0)
    if np.sum(free) < 2 or np.any(gradient * moved > 0.0):
        return None
    rates = steps[free] / sizes[free]
    rate = float(np.median(rates))
    follows = np.all(np.abs(rates - rate) <= _SAME * rate)
    if (
        not follows
        or np.any(sizes[cut] * rate < limit * (1.0 - _SAME))
        or np.all(sizes[cut] * rate < limit * (1.0 + _SAME))
    ):
        return None
    return f"{int(cut.sum())} of {cut.size} elements are clipped to {limit / rate:.4g}"


def _decayed(steps: Sequence[tuple[Case, Float, Float]]) -> Suspect | None:
    """Whether steps are the gradient and one share of the parameter."""
    shares = [_decay(g, m, case.contents) for case, g, m in steps if _along(g, m) is None]
    known = [s for s in shares if s is not None]
    if len(known) < 2 or len(known) < len(shares) or max(known) - min(known) > 0.02 * max(known):
        return None
    what = f"the parameter decays along with it, by {known[0]:.3g} of its size in each step"
    return _of_step(steps[0][0], what)


def _decay(gradient: Float, moved: Float, contents: Float) -> float | None:
    """The share of a parameter by which a step makes it smaller besides following the gradient, if it is that."""
    if gradient.size < 3:
        return None
    design = np.stack([gradient.reshape(-1), contents.reshape(-1)], axis=1)
    (rate, decay), *_ = np.linalg.lstsq(design, moved.reshape(-1), rcond=None)
    left = np.linalg.norm(design @ np.array([rate, decay]) - moved.reshape(-1))
    if left > _SAME * np.linalg.norm(moved) or rate >= 0.0 or decay >= 0.0:
        return None
    return float(-decay)


def _by_norm(steps: Sequence[tuple[Case, Float, Float]]) -> Suspect | None:
    """Whether steps have one length while their gradients, which they follow, have not."""
    for (case, g, m), (_, g_next, m_next) in pairwise(steps):
        if _along(g, m) is None or _along(g_next, m_next) is None or g.size < 2:
            continue
        lengths = float(np.linalg.norm(m)), float(np.linalg.norm(m_next))
        sizes = float(np.linalg.norm(g)), float(np.linalg.norm(g_next))
        if abs(lengths[0] - lengths[1]) <= 1e-4 * lengths[0] and abs(sizes[0] - sizes[1]) > 0.02 * sizes[0]:
            return _of_step(case, "it is scaled to one length in each iteration")
    return None


def _of_step(case: Case, what: str) -> Suspect:
    life = case.life
    operation = life.update or (life.readings[-1].operation if life.readings else life.backwards[-1])
    return _suspect(case, operation.site, operation.index, what, "between gradient and step")


def _suspect(case: Case, site: CallSite, order: int, what: str, route: str) -> Suspect:
    name = case.life.name
    return Suspect(
        code=CAUSE.code,
        site=site,
        order=order,
        message=f"The gradient of {name} is right, and is transformed on its way to the step: {what}.",
        fix=CAUSE.fix,
        array=name,
        route=route,
    )
