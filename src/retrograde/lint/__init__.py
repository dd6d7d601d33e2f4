"""Patterns of faults in source files, found without running anything and without Warp."""
