"""Runs a program under Warp's own overwrite tracker: `python tracked.py PROGRAM`."""

from __future__ import annotations

import os
import runpy
import sys

import warp as wp


def main() -> None:
    """Run the program named on the command line."""
    path = sys.argv[1]
    sys.argv = [path]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    wp.config.verify_autograd_array_access = True
    runpy.run_path(path, run_name="__main__")


if __name__ == "__main__":
    main()
