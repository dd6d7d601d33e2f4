"""RG404: a custom adjoint is not the derivative of its function."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.causes.kernel_faults import cured_with
from retrograde.causes.recorded_functions import recorded_functions
from retrograde.gradients.cure import situation_of
from retrograde.gradients.judge import Judgement
from retrograde.gradients.launch_test import LaunchState, LaunchVerdict
from retrograde.gradients.twins.alone import Comparison, compare_alone
from retrograde.gradients.twins.rewrite import Rewrite
from retrograde.trace.operations import Operation

CAUSE = Cause(
    code="RG404",
    name="custom-adjoint-value",
    group="kernels",
    summary="A custom adjoint is not the derivative of its function.",
    finds=(
        "Functions with `@wp.func_grad`, `@wp.func_replay` or an `adj_snippet` in kernels whose launch fails its own "
        "derivative test. Proven by a twin without the custom adjoint, which Warp differentiates itself, or in which "
        "native code has an adjoint made of its own differences: it must pass the test, and the custom adjoint put "
        "back must change the gradient. The function is also compared alone with differences, "
        "at the values that ran, argument by argument: an argument without adjoint, a factor, a sign, or a branch. "
        "Functions of `Tape.record_func` are compared with differences of the work that they stand for, by running "
        "the program again; proven by following that work in their place."
    ),
    why=(
        "Warp takes a custom adjoint at its word. A factor forgotten, an argument left out, a change of the function "
        "that its adjoint did not follow gives a plausible wrong gradient."
    ),
    fix="Correct the custom adjoint, or leave it out: Warp differentiates most functions itself.",
    example_wrong="""
@wp.func
def push(depth: float, stiff: float):
    return 0.5 * stiff * depth * depth


@wp.func_grad(push)
def adj_push(depth: float, stiff: float, adj_ret: float):
    wp.adjoint[depth] += stiff * depth * adj_ret          # nothing for stiff
""",
    example_right="""
@wp.func_grad(push)
def adj_push(depth: float, stiff: float, adj_ret: float):
    wp.adjoint[depth] += stiff * depth * adj_ret
    wp.adjoint[stiff] += 0.5 * depth * depth * adj_ret
""",
    known_problems=(
        "A custom adjoint may differ from the derivative on purpose (a straight-through estimator, clipped gradients): "
        "declare that with `--accept RG404`. A recorded function is run again when the program is over: what it reads "
        "of objects that have changed since is then of a later time."
    ),
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html#custom-gradient-functions",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Custom adjoints, replays and snippets that launches cannot do with, and recorded functions that are wrong."""
    inside = [_with_arguments(judgement, s, o, r) for s, o, r in cured_with(judgement, CAUSE.code)]
    return inside + recorded_functions(judgement)


def _with_arguments(judgement: Judgement, suspect: Suspect, operation: Operation, rewrite: Rewrite) -> Suspect:
    """The suspect with what is wrong for each argument of the function, where that can be told."""
    wrong = [c for c in _compare(judgement, operation, rewrite) if c.verdict]
    if not wrong:
        return suspect
    words = "; ".join(f"for {c.argument} it {c.verdict}" for c in wrong)
    subject, _, rest = suspect.message.partition(". ")
    evidence = {f"wrong_{c.argument}": f"{c.wrong} of {c.values} values" for c in wrong}
    return replace(
        suspect,
        message=f"{subject}, compared alone with differences: {words}. {rest}",
        fix=f"Correct the adjoint of {', '.join(c.argument for c in wrong)} in {rewrite.source.name}, or leave it out.",
        evidence={**suspect.evidence, **evidence},
    )


def _compare(judgement: Judgement, operation: Operation, rewrite: Rewrite) -> tuple[Comparison, ...]:
    state = LaunchState(operation, judgement.case.window.contents_before(operation.index))
    situation = situation_of(state, LaunchVerdict(False, 0.0, 0.0), np.random.default_rng(0))
    pieces = situation.source.functions if situation is not None else ()
    owner = rewrite.source.owner
    piece = next(
        (p for p in pieces if owner is p.owner or (p.gradient is not None and owner is p.gradient.owner)), None
    )
    if situation is None or piece is None:
        return ()
    try:
        return compare_alone(situation, piece)
    except Exception:  # Warp refuses some source that would have to run
        return ()
