"""Claim: time grows in proportion to boxes and to steps, forward and gradient.

Time per box and step from 320 to 10,240 boxes, and from 50 to 800 steps: the largest over the
smallest stays below 1.5.

    python -m benchmarks.cost_is_linear
"""

from __future__ import annotations

import sys
import time

import warp as wp
from benchmarks.problem import Ours, ours
from benchmarks.timing import take_turns, verdict

LIMIT = 1.5


def spread(name: str, cases: dict[int, tuple[Ours, int]]) -> bool:
    """Print time per box and step over the cases, forward and gradient."""
    functions = {}
    for key, (case, _) in cases.items():
        functions |= {f"{key} forward": case.forward, f"{key} gradient": case.gradient}
    timings = take_turns(functions, seconds=20.0, clock=time.thread_time)
    reached = True
    for what in ("forward", "gradient"):
        each = {key: timings.median(f"{key} {what}") / work for key, (_, work) in cases.items()}
        ratio = max(each.values()) / min(each.values())
        reached &= ratio <= LIMIT
        listed = ", ".join(f"{key}: {1e9 * value:.0f}" for key, value in each.items())
        print(f"{what}, ns per box and step by {name}: {listed}; largest over smallest {ratio:.2f}")
    return reached


def main() -> int:
    """By boxes, then by steps."""
    wp.config.log_level = wp.LOG_WARNING
    by_boxes = {boxes: (ours(boxes, 50), 50 * boxes) for boxes in (320, 1280, 5120, 10_240)}
    by_steps = {steps: (ours(320, steps), 320 * steps) for steps in (50, 200, 800)}
    reached = spread("boxes", by_boxes) & spread("steps", by_steps)
    print(f"claim of {LIMIT:g}: {verdict(reached)}")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
