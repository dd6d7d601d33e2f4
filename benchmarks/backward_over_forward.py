"""Claim: the backward pass takes at most twice the time of the forward pass.

With every state stored; with the least memory (states restored from the square root of their number)
the figure is printed beside it.

    python -m benchmarks.backward_over_forward
"""

from __future__ import annotations

import sys
import time

import warp as wp
from benchmarks.problem import ours
from benchmarks.timing import take_turns, verdict

from retrograde.aerosol.processes import CoagulationCellAverage, CoagulationFixedPivot

LIMIT = 2.0


def main() -> int:
    """Print the ratio for both techniques and several numbers of boxes."""
    wp.config.log_level = wp.LOG_WARNING
    reached = True
    for scheme in (CoagulationFixedPivot, CoagulationCellAverage):
        for boxes in (1, 100, 1000):
            stored, restored = ours(boxes, scheme=scheme), ours(boxes, scheme=scheme, store_every=None)
            calls = {
                "forward": stored.forward,
                "backward": stored.backward,
                "forward again": restored.forward,
                "restored": restored.backward,
            }
            timings = take_turns(calls, clock=time.thread_time)
            ratio = timings.ratio("backward", "forward")
            reached &= ratio <= LIMIT
            least_memory = timings.ratio("restored", "forward again")
            print(f"{scheme.__name__}, {boxes} boxes: {ratio:.2f}, with the least memory {least_memory:.2f}")
    print(f"claim of {LIMIT:g}: {verdict(reached)}")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
