"""Observes the bridge to PyTorch, its optimizers and its backward passes."""

from __future__ import annotations

import functools
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
            hooks.register_optimizer_step_pre_hook(self._before_step),
            hooks.register_optimizer_step_post_hook(self._after_step),
        ]
        self._patch(torch.optim.Optimizer, "__init__", self._optimizer_made)
        self._patch(torch.autograd, "backward", self._torch_backward)

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> Any:
        """Observe a step, and the function that evaluates the loss within it where it is given one."""
        with self._inside():
            given = kwargs.get("closure", args[1] if len(args) > 1 else None)
            if not callable(given):
                self._tell(self._torch.before_step, optimizer)
                return None
            self._tell(self._torch.before_evaluations)
        closure = self._closure(optimizer, given)
        if "closure" in kwargs:
            return args, {**kwargs, "closure": closure}
        return (args[0], closure, *args[2:]), kwargs

    def _after_step(self, *_: Any) -> None:
        with self._inside():
            self._tell(self._torch.after_step)

    def _closure(self, optimizer: Any, original: Call) -> Call:
        @functools.wraps(original)
        def closure(*args: Any, **kwargs: Any) -> Any:
            with self._inside():
                self._tell(self._torch.after_step)
            loss = original(*args, **kwargs)
            with self._inside():
                self._tell(self._torch.before_step, optimizer)
            return loss

        return closure

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
