"""Claim: a whole audit of a program of 2 to 5 s takes at most three times the program's run, and 10 s.

Prints, for every program, the time of its plain run, of a run that is only recorded, and of a whole audit, each a
process of its own with Python's and Warp's start, kernel caches warm; and the ratios to the plain run.

    python benchmarks/auditor/overhead.py [ROUNDS]
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.auditor.processes import PROGRAMS, medians

_RATIO, _SECONDS = 3.0, 10.0
_EXPECTED = {"heat": "right", "heat_two_buffers": "wrong", "particles": "right", "wave": "wrong"}


def main(rounds: int) -> int:
    """Print the table; returns how many programs missed the claim."""
    missed = 0
    print(f"{'program':18} {'plain [s]':>9} {'recorded':>9} {'audit [s]':>9} {'audit':>7}  verdict")
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(PROGRAMS.glob("*.py")):
            output = Path(folder) / f"{path.stem}.json"
            ways = {
                "plain": [path],
                "recorded": [Path(__file__).parent / "recorded.py", path],
                "audit": ["-m", "retrograde", "audit", "--format", "json", "--output", output, path],
            }
            found = medians(ways, rounds)
            plain, recorded, audit = (found[name][0] for name in ways)
            verdict = json.loads(output.read_text(encoding="utf-8"))["verdict"] if output.exists() else "none"
            if found["recorded"][1].status != 0:
                print(found["recorded"][1].stderr[-400:], file=sys.stderr)
            reached = audit <= _RATIO * plain and audit <= _SECONDS and verdict == _EXPECTED[path.stem]
            missed += not reached
            print(
                f"{path.stem:18} {plain:9.2f} {recorded / plain:8.2f}x {audit:9.2f} {audit / plain:6.2f}x  "
                f"{verdict} ({'reached' if reached else 'MISSED'})",
                flush=True,
            )
    return missed


if __name__ == "__main__":
    sys.exit(min(main(int(sys.argv[1]) if len(sys.argv) > 1 else 3), 1))
