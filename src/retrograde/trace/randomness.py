"""Whether the host draws random numbers between two moments."""

from __future__ import annotations

import hashlib
import pickle
import random
from collections.abc import Iterator
from types import FrameType
from typing import Any, cast

import numpy as np

from retrograde.trace.callsite import is_user_file


def state_of_generators(frame: FrameType | None) -> bytes:
    """A digest of the state of all random generators within reach of a frame: Python's, NumPy's, and named ones."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(pickle.dumps(random.getstate()))
    digest.update(pickle.dumps(np.random.get_state()))  # noqa: NPY002 - the program's, not ours
    for generator in _generators(frame):
        digest.update(pickle.dumps(_state(generator)))
    return digest.digest()


def _generators(frame: FrameType | None) -> Iterator[Any]:
    found: dict[int, Any] = {}
    while frame is not None:
        if is_user_file(frame.f_code.co_filename):
            for value in [*frame.f_locals.values(), *frame.f_globals.values()]:
                found.update((id(g), g) for g in (value, *_attributes(value)) if _is_generator(g))
        frame = frame.f_back
    yield from found.values()


def _is_generator(value: Any) -> bool:
    return isinstance(value, np.random.Generator | np.random.RandomState | random.Random)


def _attributes(value: Any) -> list[Any]:
    """What an object of the program holds; nothing for modules and classes."""
    if isinstance(value, type) or hasattr(value, "__path__"):
        return []
    return list(cast("dict[str, Any]", getattr(value, "__dict__", {})).values())


def _state(generator: Any) -> Any:
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    return generator.getstate() if isinstance(generator, random.Random) else generator.get_state()
