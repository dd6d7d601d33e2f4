"""Whether the host draws random numbers between two moments."""

from __future__ import annotations

import hashlib
import pickle
import random
from collections.abc import Container, Iterator
from types import FrameType
from typing import Any, cast

import numpy as np

from retrograde.trace.callsite import is_user_file

_TYPED = 64


def state_of_generators(frame: FrameType | None, seeded: Container[str]) -> bytes:
    """A digest of the state of the unseeded random generators within reach of a frame.

    Args:
        frame: Where the program is.
        seeded: Which of the global generators, "python" and "numpy", the program has seeded.
    """
    digest = hashlib.blake2b(digest_size=16)
    if "python" not in seeded:
        digest.update(pickle.dumps(random.getstate()))
    if "numpy" not in seeded:
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
    """Whether a value is a generator that got its seed from the system: a sequence of more bits than anyone types."""
    if not isinstance(value, np.random.Generator):
        return False
    entropy: Any = getattr(value.bit_generator.seed_seq, "entropy", None)
    return isinstance(entropy, int) and entropy.bit_length() > _TYPED


def _attributes(value: Any) -> list[Any]:
    """What an object of the program holds; nothing for modules and classes."""
    if isinstance(value, type) or hasattr(value, "__path__"):
        return []
    return list(cast("dict[str, Any]", getattr(value, "__dict__", {})).values())


def _state(generator: Any) -> Any:
    return generator.bit_generator.state
