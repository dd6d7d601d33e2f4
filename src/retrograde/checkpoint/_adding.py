"""Adds one array to another, without a trace on any tape."""
# pyright: basic, reportInvalidTypeForm=false

from typing import Any

import warp as wp


@wp.kernel(enable_backward=False)
def add_to(to: wp.array(dtype=Any), more: wp.array(dtype=Any)):
    """Add `more` to `to`, element by element."""
    i = wp.tid()
    to[i] = to[i] + more[i]
