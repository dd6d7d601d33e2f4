"""The conditions of a process as the auditor needs them, whatever the program made of them."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import signal
import sys
import warnings
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

_FRAMES = 2000
_TIMERS = ("ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF")
_LIMITS = ("RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_DATA", "RLIMIT_FSIZE", "RLIMIT_NOFILE")


@contextmanager
def own_conditions() -> Generator[None]:
    """Let the auditor work in the program's process as in one of its own; afterwards all is as it was.

    What the program set for itself is set aside: errors and warnings for numbers that are not finite, the depth of
    recursion, timers, soft limits of memory, of processor time and of files, and the printing of launches.
    """
    with ExitStack() as stack, np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for set_aside in (_recursion, _timers, _limits, _printing):
            stack.callback(set_aside())
        yield


def _recursion() -> Callable[[], None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _depth() + _FRAMES))

    def restore() -> None:
        with contextlib.suppress(RecursionError):
            sys.setrecursionlimit(before)

    return restore


def _depth() -> int:
    depth, frame = 0, inspect.currentframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    return depth


def _timers() -> Callable[[], None]:
    timers = [getattr(signal, name) for name in _TIMERS if hasattr(signal, name)]
    before = [(timer, signal.setitimer(timer, 0.0)) for timer in timers]

    def restore() -> None:
        for timer, (left, interval) in before:
            if left:
                signal.setitimer(timer, left, interval)

    return restore


def _limits() -> Callable[[], None]:
    try:
        resource: Any = importlib.import_module("resource")
    except ImportError:  # not on this system
        return lambda: None
    before = [(n, resource.getrlimit(n)) for name in _LIMITS if (n := getattr(resource, name, None)) is not None]

    def set_all(soft: Callable[[int, int], int]) -> None:
        for number, (own, hard) in before:
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(number, (soft(own, hard), hard))

    set_all(lambda _own, hard: hard)
    return lambda: set_all(lambda own, _hard: own)


def _printing() -> Callable[[], None]:
    config: Any = getattr(sys.modules.get("warp"), "config", None)
    before = getattr(config, "print_launches", False)
    if before:
        config.print_launches = False

    def restore() -> None:
        if before:
            config.print_launches = before

    return restore
