"""Why a launch's adjoint is wrong where no twin cures it: what can be told of it, with the launch differenced whole."""

from __future__ import annotations

from collections.abc import Callable

from retrograde.gradients.launch_test import LaunchState
from retrograde.gradients.twins.adjoint_free import find_opaque
from retrograde.gradients.twins.natives import find_natives
from retrograde.gradients.twins.order import in_reverse
from retrograde.gradients.twins.rewrite import Rewrite
from retrograde.gradients.twins.saturated import find_saturated
from retrograde.gradients.twins.situation import Situation


def find_reasons(state: LaunchState, situation: Situation) -> tuple[Rewrite, ...]:
    """Reasons, the surest first; empty where nothing is known.

    Args:
        state: The launch.
        situation: What is known of it.
    """
    finders: tuple[Callable[[], list[Rewrite]], ...] = (
        lambda: _race(state, situation),
        lambda: find_natives(situation),
        lambda: find_saturated(situation),
        lambda: find_opaque(situation),
    )
    for find in finders:
        try:
            found = find()
        except Exception:  # Warp refuses some source that would have to run
            continue
        if found:
            return tuple(found)
    return ()


def _race(state: LaunchState, situation: Situation) -> list[Rewrite]:
    """The launch in the opposite order of threads: it must leave the same."""
    if state.call.device != "cpu":
        return []
    twin = in_reverse(situation)
    if twin is None or state.run_twin(twin)[1]:
        return []
    kernel = situation.source.kernel
    shared = [a for a in state.operation.accesses if a.usage.load and a.usage.store]
    lines = sorted({line for a in shared for line in a.usage.lines})
    names = ", ".join(".".join(a.path) for a in shared)
    return [
        Rewrite(
            code="RG411",
            source=kernel,
            line=lines[0] if lines else kernel.tree.lineno,
            subject=f"Threads read elements of {names or 'an array'} that other threads write: run in the opposite "
            f"order, the launch leaves something else",
            edits={},
            advice=f"Read from one array and write to another{f' than {names}' if names else ''}.",
            patch=False,
        )
    ]
