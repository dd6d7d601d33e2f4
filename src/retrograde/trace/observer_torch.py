"""Observes the bridge to PyTorch, its optimizers and its backward passes."""

from __future__ import annotations

import importlib
from typing import Any

from retrograde.trace.patches import Call, Patches
from retrograde.trace.warp_api import wp


class TorchCalls(Patches):
    """Wrappers of the calls between Warp and PyTorch."""

    def _from_torch(self, original: Call) -> Call:
        def from_torch(tensor: Any, *args: Any, **kwargs: Any) -> Any:
            if self._depth:
                return original(tensor, *args, **kwargs)
            with self._inside():
                array = original(tensor, *args, **kwargs)
                if isinstance(array, wp.array):
                    self._tell(self._torch.taken, array, tensor)
            return array

        return from_torch

    def _to_torch(self, original: Call) -> Call:
        def to_torch(array: Any, *args: Any, **kwargs: Any) -> Any:
            if self._depth:
                return original(array, *args, **kwargs)
            with self._inside():
                pending = self._tell(self.recorder.host_read, array)
                tensor = original(array, *args, **kwargs)
                if pending is not None:
                    self._tell(self._torch.given, pending, tensor)
            return tensor

        return to_torch

    def _observe_torch(self, torch: Any) -> None:
        """Torch has been imported."""
        hooks: Any = importlib.import_module("torch.optim.optimizer")
        self._hooks += [
            hooks.register_optimizer_step_pre_hook(self._on_optimizer(self._torch.before_step)),
            hooks.register_optimizer_step_post_hook(self._on_optimizer(self._torch.after_step)),
        ]
        self._patch(torch.optim.Optimizer, "__init__", self._optimizer_made)
        self._patch(torch.autograd, "backward", self._torch_backward)

    def _on_optimizer(self, told: Call) -> Call:
        def hook(optimizer: Any, *_: Any) -> None:
            with self._inside():
                self._tell(told, optimizer)

        return hook

    def _optimizer_made(self, original: Call) -> Call:
        def init(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            original(optimizer, *args, **kwargs)
            with self._inside():
                self._tell(self._torch.made, optimizer)

        return init

    def _torch_backward(self, original: Call) -> Call:
        def backward(tensors: Any, grad_tensors: Any = None, *args: Any, **kwargs: Any) -> Any:
            if self._depth:
                return original(tensors, grad_tensors, *args, **kwargs)
            with self._inside():
                told = self._tell(self._torch.begin_backward, tensors, grad_tensors)
            # What torch calls of the program is observed as the program's own.
            result = original(tensors, grad_tensors, *args, **kwargs)
            if told is not None:
                with self._inside():
                    self._tell(self._torch.end_backward, *told)
            return result

        return backward
