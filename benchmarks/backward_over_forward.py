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
from benchmarks.timing import medians, verdict

from retrograde.aerosol.processes import CoagulationCellAverage, CoagulationFixedPivot

LIMIT = 2.0


def main() -> int:
    """Print the ratio for both techniques and several numbers of boxes."""
    wp.config.quiet = True
    reached = True
    for scheme in (CoagulationFixedPivot, CoagulationCellAverage):
        for boxes in (1, 100, 1000):
            stored, restored = ours(boxes, scheme=scheme), ours(boxes, scheme=scheme, store_every=None)
            times = medians({"forward": stored.forward, "backward": stored.backward, "again": restored.forward,
                             "restored": restored.backward}, clock=time.thread_time)  # fmt: skip
            ratio = times["backward"] / times["forward"]
            reached &= ratio <= LIMIT
            print(f"{scheme.__name__}, {boxes} boxes: backward / forward {ratio:.2f}, "
                  f"with the least memory {times['restored'] / times['again']:.2f}")  # fmt: skip
    print(f"claim of {LIMIT:g}: {verdict(reached)}")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
