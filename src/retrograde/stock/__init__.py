"""Warp's own checks, run on a program to set their words beside an audit's."""
