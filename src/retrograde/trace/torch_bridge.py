"""What PyTorch does with Warp's memory, and with parameters that reach Warp through it.

Memory that both share is watched: what torch writes there is a write of the host. A parameter of an optimizer lives
in torch. Its first read is taken to be the making of the optimizer, then each step; its backward pass is torch's, from
the tensor that the program calls `backward` on; its gradient is what the optimizer finds in `.grad`. Torch may move
that `.grad` from one iteration to the next, so its contents are kept in a mirror of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import numpy as np

from retrograde.trace.arrays import ArrayRef, describe
from retrograde.trace.callsite import is_user_file, name_of, user_frame
from retrograde.trace.extents import Bytes, Extent, read_bytes, write_bytes
from retrograde.trace.operations import SHARED, TORCH, Access, Kind, Seed
from retrograde.trace.passes import value_of
from retrograde.trace.recorder import LOAD, STORE, Pending, Recorder
from retrograde.trace.warp_api import wp


@dataclass(eq=False)
class Leaf:
    """A parameter of an optimizer.

    Attributes:
        tensor: The parameter.
        array: A Warp array over its memory, whose gradient is the mirror.
        mirror: Contents of `tensor.grad`.
        places: Where `tensor.grad` was when a backward pass of torch began, by the ordinal of the pass.
        ready: Whether torch's backward pass reached it since the last step.
    """

    tensor: Any
    array: Any
    mirror: Any
    places: dict[int, int] = field(default_factory=dict[int, int])
    ready: bool = False

    @property
    def ref(self) -> ArrayRef:
        """Description of the parameter."""
        found = describe(self.array)
        assert found is not None
        return found

    @property
    def gradient(self) -> ArrayRef:
        """Description of the mirror."""
        found = describe(self.mirror)
        assert found is not None
        return found


class TorchBridge:
    """Tells a recorder of what torch does.

    Args:
        recorder: The recorder.
        from_torch: Warp's conversion, unobserved.
    """

    def __init__(self, recorder: Recorder, from_torch: Callable[..., Any]) -> None:
        self.recorder = recorder
        self._from_torch = from_torch
        self._leaves: dict[int, Leaf] = {}
        self._known: list[Extent] = []
        self._steps: list[list[tuple[Leaf, Pending]]] = []
        self._absent: set[int] = set()
        self._before: dict[int, Bytes] = {}

    # -- shared memory -----------------------------------------------------------------------------

    def taken(self, array: Any, tensor: Any) -> None:
        """Warp has taken a tensor; what is in it is new only if its memory is."""
        ref = describe(array)
        if ref is None:
            return
        if any(e.contains(ref.extent) for e in self._known):
            self.recorder.learn([array])
            self.recorder.sites[id(array)] = self.recorder.here()
            return
        self._known.append(ref.extent)
        self.recorder.created(array, True, tensor)

    def given(self, pending: Pending, tensor: Any) -> None:
        """Torch has been given an array, and may write to it."""
        ref = pending.accesses[0].ref
        self._known.append(ref.extent)
        data = None if self.recorder.probe is not None else read_bytes(ref.extent)
        self.recorder.commit(pending, data, route=SHARED)
        if ref.device == "cpu":
            self.recorder.watches.add(ref, tensor)

    # -- optimizers --------------------------------------------------------------------------------

    def made(self, optimizer: Any) -> None:
        """An optimizer has been made: its parameters are used from here on."""
        frame = user_frame()
        leaves = [leaf for p in _parameters(optimizer) if (leaf := self._leaf(p, frame)) is not None]
        self._used(leaves)

    def before_step(self, optimizer: Any) -> None:
        """An optimizer is about to read the gradients and to write the parameters."""
        self.recorder.stepping = True
        written: list[tuple[Leaf, Pending]] = []
        for tensor in _parameters(optimizer):
            leaf = self._leaf(tensor, user_frame())
            if leaf is None or tensor.grad is None:
                continue
            self._read(leaf)
            written.append((leaf, self.recorder.begin(Kind.HOST_WRITE, [Access(leaf.ref, STORE)])))
        self._steps.append(written)

    def before_evaluations(self) -> None:
        """An optimizer is about to step with a function that evaluates the loss, and reads nothing before that.

        Between two evaluations it does what it does in a step: it reads the gradients and writes the parameters.
        """
        self._steps.append([])

    def after_step(self) -> None:
        """An optimizer has written the parameters, which are used from here on."""
        if not self._steps:
            return
        for _, pending in (written := self._steps.pop()):
            self.recorder.commit_write(pending)
        self.recorder.stepping = bool(self._steps)
        for leaf, _ in written:
            leaf.ready = False
        if written:
            self._used([leaf for leaf, _ in written])

    def _used(self, leaves: Iterable[Leaf]) -> None:
        accesses = [Access(leaf.ref, LOAD, i) for i, leaf in enumerate(leaves)]
        if accesses:
            self.recorder.commit(self.recorder.begin(Kind.TORCH, accesses, TORCH))

    def _read(self, leaf: Leaf) -> None:
        """The gradient that a step uses: the one that torch's or Warp's backward pass left, unless it was cleared.

        What was clipped or scaled on its way consumed what it was before.
        """
        if not leaf.ready:
            gradient = self._from_torch(leaf.tensor.grad.detach(), requires_grad=False)
            pending = self.recorder.host_read(gradient)
            if pending is not None:
                self.recorder.commit(pending, None)
            return
        if not np.any(_bytes(leaf.tensor.grad)) and np.any(read_bytes(leaf.gradient.extent)):
            pending = self.recorder.begin(Kind.CLEAR, [Access(leaf.gradient, STORE)])
            self._reflect(leaf)
            self.recorder.commit(pending)
        self.recorder.commit(self.recorder.begin(Kind.HOST_READ, [Access(leaf.gradient, LOAD)]))

    def _leaf(self, tensor: Any, frame: FrameType | None) -> Leaf | None:
        leaf = self._leaves.get(id(tensor))
        if leaf is not None and leaf.ref.pointer == tensor.data_ptr():
            return leaf
        if not (tensor.requires_grad and tensor.is_contiguous() and tensor.is_floating_point() and tensor.numel()):
            return None
        name = None if leaf is None else self.recorder.names.by_array.get(id(leaf.array))
        flat = tensor.detach() if 0 < tensor.dim() <= 4 else tensor.detach().reshape(-1)
        array = self._from_torch(flat, requires_grad=False)
        mirror = wp.zeros_like(array, requires_grad=False)
        array.grad = mirror
        leaf = Leaf(tensor, array, mirror)
        self._leaves[id(tensor)] = leaf
        self._known.append(leaf.ref.extent)
        self.recorder.names.by_array[id(array)] = name or _name(tensor, frame) or f"parameter {len(self._leaves)}"
        self.recorder.learn([array])
        return leaf

    # -- backward passes ---------------------------------------------------------------------------

    def begin_backward(self, roots: Any, gradients: Any) -> tuple[Pending, dict[str, Any]] | None:
        """Torch is about to run backward from some tensors."""
        tensors = [roots] if _is_tensor(roots) else list(roots)
        weights = [None] * len(tensors) if gradients is None else gradients
        weights = [weights] if _is_tensor(weights) else list(weights)
        frame = user_frame()
        refs = [self._root(t, frame) for t in tensors]
        if any(r is None for r in refs) or len(weights) != len(refs):
            self.recorder.notes.append("A backward pass of torch whose root Warp cannot describe.")
            return None
        known = [r for r in refs if r is not None]
        loss = known[0] if len(known) == 1 and weights[0] is None else None
        pending = self.recorder.begin(
            Kind.BACKWARD, [Access(r, LOAD, i, ("loss",)) for i, r in enumerate(known)], TORCH
        )
        seeds = () if loss is not None else tuple(_seed(r, w) for r, w in zip(known, weights, strict=True))
        for leaf in self._leaves.values():
            if leaf.tensor.grad is not None:
                leaf.places[pending.ordinal] = leaf.tensor.grad.data_ptr()
        self._absent = {key for key, leaf in self._leaves.items() if leaf.tensor.grad is None}
        self._before = {key: _bytes_or_zeros(leaf).copy() for key, leaf in self._leaves.items()}
        if self.recorder.probe is not None:
            self.recorder.probe.read_terms(pending.ordinal, loss, seeds)
            return pending, {}
        return pending, {"loss": loss, "seeds": seeds, "value": value_of(loss, seeds)}

    def end_backward(self, pending: Pending, details: dict[str, Any]) -> None:
        """Torch has run backward."""
        for key, before in self._before.items():
            leaf = self._leaves[key]
            if leaf.tensor.grad is not None:
                changed = key in self._absent or not np.array_equal(_bytes(leaf.tensor.grad), before)
                leaf.ready = leaf.ready or changed
            self._reflect(leaf)
        if self.recorder.probe is None:
            before = {self._leaves[key].gradient.extent: data for key, data in self._before.items()}
            leftovers = {e: data for e, data in before.items() if data.any()}
            details |= {"tape": TORCH, "reused": False, "before": before, "leftovers": leftovers}
        self.recorder.end_of_backward(pending, [leaf.gradient.extent for leaf in self._leaves.values()], details)

    def _reflect(self, leaf: Leaf) -> None:
        write_bytes(leaf.gradient.extent, _bytes_or_zeros(leaf))

    def _root(self, tensor: Any, frame: FrameType | None) -> ArrayRef | None:
        flat = tensor.detach()
        flat = flat if 0 < flat.dim() <= 4 else flat.reshape(-1)
        array = self._from_torch(flat, requires_grad=False)
        name = _name(tensor, frame)
        self.recorder.names.by_array[id(array)] = name or "the tensor that torch runs backward from"
        return describe(array)

    def places(self) -> dict[int, dict[int, int]]:
        """Where gradients of torch's parameters were at the beginning of a pass, by the address of their mirror."""
        return {leaf.gradient.pointer: dict(leaf.places) for leaf in self._leaves.values()}


def _parameters(optimizer: Any) -> list[Any]:
    return [p for group in optimizer.param_groups for p in group["params"]]


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "data_ptr") and hasattr(value, "detach")


def _bytes(tensor: Any) -> Bytes:
    return np.ascontiguousarray(tensor.detach().cpu().numpy()).reshape(-1).view(np.uint8)


def _bytes_or_zeros(leaf: Leaf) -> Bytes:
    if leaf.tensor.grad is None:
        return np.zeros(leaf.gradient.extent.size, dtype=np.uint8)
    return _bytes(leaf.tensor.grad)


def _seed(ref: ArrayRef, weights: Any) -> Seed:
    if weights is None:
        scalar = np.dtype(ref.scalar if ref.scalar is not None else np.float32)
        return Seed(ref, np.ones(ref.full_shape, dtype=scalar).reshape(-1).view(np.uint8), explicit=True)
    return Seed(ref, _bytes(weights).copy(), explicit=True)


def _name(tensor: Any, frame: FrameType | None) -> str | None:
    """What the program calls a tensor: a variable, an item, an attribute, a parameter of a module."""
    found = name_of(tensor, frame)
    while found is None and frame is not None:
        if is_user_file(frame.f_code.co_filename):
            for name, value in [*frame.f_locals.items(), *frame.f_globals.items()]:
                named = getattr(value, "named_parameters", None)
                if callable(named) and not isinstance(value, type):
                    parameters: Any = named()
                    found = next((f"{name}.{inner}" for inner, p in parameters if p is tensor), None)
                if found is not None:
                    break
        frame = frame.f_back
    return found
