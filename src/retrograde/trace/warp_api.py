"""Warp as the auditor sees it: dynamic. Its own annotations are partial, so they are set aside here, once."""

from __future__ import annotations

from typing import Any

import warp
from warp._src import context as _context
from warp._src import tape as _tape
from warp._src import torch as _torch
from warp._src import types as _types
from warp._src import utils as _utils

wp: Any = warp
context: Any = _context
tape: Any = _tape
torch_interop: Any = _torch
types: Any = _types
utils: Any = _utils
