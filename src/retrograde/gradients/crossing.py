"""What a reverse sweep does where it meets a link: it takes the adjoint of the values that came from outside."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from retrograde.gradients.binding import run_forward
from retrograde.gradients.differences import differentiate, scale_of, steps_for
from retrograde.gradients.launch_test import LaunchState
from retrograde.gradients.links import Link, Links, Way, outside_refs
from retrograde.gradients.memory import Memory
from retrograde.gradients.policy import Policy
from retrograde.trace.extents import merge
from retrograde.trace.numbers import numbers_of, values_of, with_values
from retrograde.trace.operations import LaunchCall, Operation

Float = npt.NDArray[np.float64]


class Crossing:
    """The links of one sweep.

    Args:
        links: What was measured.
        policy: Which of them are cut.
    """

    def __init__(self, links: Links, policy: Policy) -> None:
        self._links = links
        self._policy = policy
        self._slopes = np.zeros(len(links.basis))
        self._carried: dict[int, list[Float]] = {}
        self._weights: Memory | None = None

    def before(self, operation: Operation, shadow: Memory) -> None:
        """The sweep is about to go back through an operation."""
        link = self._link(operation)
        if link is None:
            return
        if link.way is Way.NUMBER:
            self._weights = Memory(merge(a.ref.extent for a in operation.accesses))
            for block in self._weights.blocks:
                self._weights.write(block, shadow.read(block))
            return
        adjoint = np.concatenate([shadow.values(r).reshape(-1) for r in outside_refs(operation)])
        if link.copied is not None:
            self._carried.setdefault(link.copied.index, []).append(adjoint)
        else:
            self._slopes += link.tangents @ adjoint

    def after(self, operation: Operation, contents: Memory, shadow: Memory) -> None:
        """The sweep has gone back through an operation; contents are those before it."""
        link = self._link(operation)
        if link is not None and link.way is Way.NUMBER and self._weights is not None:
            self._slopes += link.tangents @ _adjoint_of_numbers(operation, contents, self._weights)
            self._weights = None
        for adjoint in self._carried.pop(operation.index, []):
            ref = operation.accesses[0].ref
            shadow.set_values(ref, shadow.values(ref) + adjoint.reshape(ref.full_shape))

    def gradient(self) -> Float:
        """The gradient of what passed through the links, flat."""
        return self._links.gradient(self._slopes)

    def _link(self, operation: Operation) -> Link | None:
        tapes = self._policy.tapes
        cut = operation.index in self._policy.omitted or operation.site.key in self._policy.unlinked
        if cut or (tapes is not None and operation.within not in tapes):
            return None
        return self._links.by_index.get(operation.index)


def _adjoint_of_numbers(operation: Operation, before: Memory, adjoints: Memory) -> Float:
    """The adjoint of the numbers that a launch was given by value, by differences of the launch."""
    state = LaunchState(operation, before)
    numbers = numbers_of(state.call)
    values = values_of(numbers)
    weights = [adjoints.values(f.ref) * f.written for f in state.fields]
    found = np.zeros(values.size)
    if not any(w.any() for w in weights):
        return found
    scale = scale_of(values)
    for element in range(values.size):

        def weighted(steps: Sequence[float], element: int = element) -> list[float]:
            moved = [values + h * scale * (np.arange(values.size) == element) for h in steps]
            return [_weighted(state, weights, with_values(state.call, numbers, m)) for m in moved]

        derivative = differentiate(weighted, steps_for(state.scalar), wanted=1e-5)
        found[element] = derivative.value / scale[element] if np.isfinite(derivative.value) else 0.0
    return found


def _weighted(state: LaunchState, weights: Sequence[Float], call: LaunchCall) -> float:
    state.work.copy_from(state.before)
    run_forward(call, state.work)
    return float(sum(np.vdot(w, state.work.values(f.ref)) for f, w in zip(state.fields, weights, strict=True)))
