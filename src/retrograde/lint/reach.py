"""Which functions of the device only serve kernels that are never differentiated."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence

from retrograde.lint.device import DeviceFunction, Role


def silent_functions(devices: Iterable[DeviceFunction]) -> frozenset[str]:
    """Names of functions that are called, but by no kernel of which an adjoint is made.

    Functions are told apart by their names alone, over all files: where two share one, the calls of both count.
    """
    everything = list(devices)
    called = {id(d): _called(d) for d in everything}
    callers = _callers(everything, called)
    live: set[int] = {
        id(d) for d in everything if d.differentiable and (d.role is not Role.FUNCTION or not callers[d.name])
    }
    names = {d.name for d in everything if id(d) in live}
    waiting = [d for d in everything if id(d) in live]
    by_name: dict[str, list[DeviceFunction]] = {}
    for device in everything:
        by_name.setdefault(device.name, []).append(device)
    while waiting:
        for name in called[id(waiting.pop())]:
            for device in by_name.get(name, ()):
                if id(device) not in live and device.role is Role.FUNCTION:
                    live.add(id(device))
                    names.add(name)
                    waiting.append(device)
    return frozenset(d.name for d in everything if d.role is Role.FUNCTION and d.name not in names)


def _callers(devices: Sequence[DeviceFunction], called: Mapping[int, set[str]]) -> Mapping[str, set[str]]:
    found: dict[str, set[str]] = {d.name: set() for d in devices}
    for device in devices:
        for name in called[id(device)]:
            if name in found and name != device.name:
                found[name].add(device.name)
    return found


def _called(device: DeviceFunction) -> set[str]:
    """Names that a definition mentions, by themselves or as attributes of a module."""
    plain = {n.id for n in device.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return plain | {n.attr for n in device.nodes if isinstance(n, ast.Attribute)}
