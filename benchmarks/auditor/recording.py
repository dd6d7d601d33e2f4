"""Claim: recording costs little where nothing is overwritten, and a copy where everything is.

On a million particles for fifty steps: at most 1.5 times the program's own time where every step has arrays of its
own, at most 4 times where all steps write to the same ones; and memory for at most 1.2 times what they overwrite.

    python benchmarks/auditor/recording.py [ROUNDS]
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.auditor.processes import medians

HERE = Path(__file__).parent
PROGRAM = HERE / "million" / "particles.py"
_MOST = {"kept": 1.5, "overwritten": 4.0}
_MEMORY = 1.2
OVERWRITTEN = 50 * 2 * 12 * 1_000_000


def peak(stderr: str) -> int:
    """The largest memory that a run had [byte]."""
    found = re.search(r"^peak (\d+)$", stderr, re.MULTILINE)
    assert found is not None, stderr
    return int(found.group(1))


def main(rounds: int) -> int:
    """Print the table; returns how many claims were missed."""
    missed = 0
    print(f"{'states':12} {'plain [s]':>9} {'recorded':>9} {'memory beyond it [GB]':>22}")
    for states, most in _MOST.items():
        found = medians({"plain": [PROGRAM, states], "recorded": [HERE / "recorded.py", PROGRAM, states]}, rounds)
        (plain, quiet), (recorded, watched) = found["plain"], found["recorded"]
        more = peak(watched.stderr) - peak(quiet.stderr)
        reached = recorded <= most * plain and (states == "kept" or more <= _MEMORY * OVERWRITTEN)
        missed += not reached
        print(
            f"{states:12} {plain:9.2f} {recorded / plain:8.2f}x {more / 1e9:22.2f}  "
            f"(at most {most}x: {'reached' if reached else 'MISSED'})",
            flush=True,
        )
    print(f"The second program overwrites {OVERWRITTEN / 1e9:.2f} GB.")
    return missed


if __name__ == "__main__":
    sys.exit(min(main(int(sys.argv[1]) if len(sys.argv) > 1 else 3), 1))
