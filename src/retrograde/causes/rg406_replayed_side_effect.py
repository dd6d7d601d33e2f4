"""RG406: backward replays an atomic counter, and indices change."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.causes.kernel_faults import cured
from retrograde.gradients.judge import Judgement

CAUSE = Cause(
    code="RG406",
    name="replayed-side-effect",
    group="kernels",
    summary="A kernel takes an index from an atomic counter, and backward does not get the same index again.",
    finds=(
        "Calls that count and return an index, in kernels whose launch fails its own derivative test. Proven by a twin "
        "that keeps the indices of the forward pass and replays them: it must pass the test, and the counter put back "
        "must change the gradient."
    ),
    why=(
        "Backward repeats the arithmetic of the forward pass. A function that counts, called again, counts on; an "
        "atomic built-in in the kernel itself is not repeated, and its result is whatever a fresh variable holds. So "
        "gradients are read from other elements than those that were written."
    ),
    fix=(
        "Put the counting into a function, store the index it returned, and give it a `@wp.func_replay` that returns "
        "the stored one; or compute the index from the thread."
    ),
    example_wrong="""
@wp.func
def take(counter: wp.array(dtype=int)):
    return wp.atomic_add(counter, 0, 1)
""",
    example_right="""
@wp.func
def take(counter: wp.array(dtype=int), taken: wp.array(dtype=int), i: int):
    slot = wp.atomic_add(counter, 0, 1)
    taken[i] = slot
    return slot


@wp.func_replay(take)
def replay_take(counter: wp.array(dtype=int), taken: wp.array(dtype=int), i: int):
    return taken[i]
""",
    known_problems="A function that counts is taken to be called at one place at most once a thread.",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html#custom-gradient-functions",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Counters that launches cannot do with."""
    return cured(judgement, CAUSE.code)
