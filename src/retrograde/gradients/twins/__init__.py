"""Kernels generated from the user's source with something changed, put in place of the original."""
