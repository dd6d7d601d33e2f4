"""RG307: one objective, several tapes, and state carried between them outside any tape."""

from __future__ import annotations

from retrograde.causes.base import Cause
from retrograde.causes.intervention import Suspect
from retrograde.causes.off_tape import backward_tapes, on_other_tapes
from retrograde.gradients.judge import Judgement
from retrograde.gradients.policy import Policy
from retrograde.gradients.segments import is_split

CAUSE = Cause(
    code="RG307",
    name="truncated-horizon",
    group="bookkeeping",
    summary="The objective spans several tapes, and backward knows only one of them at a time.",
    finds=(
        "State that one tape computes and another reads, while `backward` runs on each alone or on the last only. "
        "Proven by one sweep over the whole horizon: the gradient must change."
    ),
    why=(
        "With a tape per step, the state that a step starts from is a constant to its tape. Each window's gradient is "
        "right, and differences over a window agree; the gradient of the objective that is reported, over all steps, "
        "is another one."
    ),
    fix="Record all steps on one tape, each step's state in an array of its own.",
    example_wrong="""
for step in range(steps):
    tape = wp.Tape()
    with tape:
        wp.launch(advance, dim=n, inputs=[state, control], outputs=[following])
    state = following
tape.backward(loss)                      # the last step only
""",
    example_right="""
tape = wp.Tape()
with tape:
    for step in range(steps):
        wp.launch(advance, dim=n, inputs=[states[step], control], outputs=[states[step + 1]])
tape.backward(loss)
""",
    known_problems="Truncated back-propagation through time does this on purpose.",
    references=("https://nvidia.github.io/warp/stable/user_guide/differentiability.html",),
)


def find(judgement: Judgement) -> list[Suspect]:
    """Tapes on the path that the backward passes leave out."""
    case = judgement.case
    others = on_other_tapes(case)
    if not others or is_split(case):
        return []
    tapes = backward_tapes(case)
    last = case.life.backwards[-1]

    def switch_off(policy: Policy) -> Policy:
        return policy.without(tapes=tapes)

    count = len({o.tape for o in others} | tapes)
    return [
        Suspect(
            code=CAUSE.code,
            site=last.site,
            order=others[0].index,
            message=(
                f"The objective depends on {case.life.name} through {count} tapes; backward goes through each alone, "
                f"so what the {others[0].label} at line {others[0].site.line} passes on to the next tape is lost."
            ),
            fix="Open one tape around all steps and run backward on it once.",
            array=case.life.name,
            route=f"{count} tapes",
            switch_off=switch_off,
            evidence={"tapes": count, "first_lost_line": others[0].site.line},
        )
    ]
