"""Runs a program under Warp's own overwrite tracker: `python tracked.py PROGRAM`."""

from __future__ import annotations

import os
import runpy
import sys

from retrograde.stock.child import turn_tracker_on


def main() -> None:
    """Run the program named on the command line."""
    path = sys.argv[1]
    sys.argv = [path]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    turn_tracker_on()
    runpy.run_path(path, run_name="__main__")


if __name__ == "__main__":
    main()
