"""Observes Warp's public calls while a recording is open, and restores them afterwards.

Each patched call tells the recorder, then does exactly what it did before. Calls that Warp makes of
itself inside another (the copy inside `assign`, the launches inside `backward`) belong to the outer
one and are not told.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, cast

import numpy as np

from retrograde.trace.recorder import Pending, Recorder
from retrograde.trace.warp_api import context, tape, types, wp

Call = Callable[..., Any]
_LAUNCH_OPTIONS = (
    "adj_inputs",
    "adj_outputs",
    "device",
    "stream",
    "adjoint",
    "record_tape",
    "record_cmd",
    "max_blocks",
    "block_dim",
)


class Observer:
    """Installs and removes the patches."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._depth = 0
        self._saved: list[tuple[Any, str, Any]] = []
        self._launch_arguments: dict[int, tuple[Any, list[Any]]] = {}

    def install(self) -> None:
        """Begin to observe."""
        self._patch_function("launch", self._launch)
        self._patch_function("copy", self._copy)
        self._patch(context.Launch, "launch", self._recorded_launch)
        self._patch(types.array, "__init__", self._array_init)
        for cls in (types.array, types.indexedarray, getattr(types, "noncontiguous_array_base", None)):
            for name in ("zero_", "fill_"):
                if cls is not None and name in vars(cls):
                    self._patch(cls, name, self._fill)
        self._patch(random, "seed", functools.partial(self._seed, "python"))
        self._patch(np.random, "seed", functools.partial(self._seed, "numpy"))
        self._patch_function("capture_launch", self._capture_launch)
        for function in ("zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "from_numpy"):
            self._patch_function(function, self._creation)
        for cls in (types.array, types.indexedarray):
            if "numpy" in vars(cls):
                self._patch(cls, "numpy", self._host_read)
        self._patch_property(types.array, "__array_interface__", self._interface_read)
        self._patch(types.array, "assign", self._assign)
        for name, wrapper in (
            ("__enter__", self._tape_enter),
            ("__exit__", self._tape_exit),
            ("backward", self._tape_backward),
            ("zero", self._tape_zero),
            ("reset", self._tape_reset),
            ("record_func", self._record_func),
        ):
            self._patch(tape.Tape, name, wrapper)

    def remove(self) -> None:
        """Restore every call."""
        for owner, name, original in reversed(self._saved):
            setattr(owner, name, original)
        self._saved.clear()

    # -- patching ----------------------------------------------------------------------------------

    def _patch(self, owner: Any, name: str, wrapper: Callable[[Call], Call]) -> None:
        original = vars(owner)[name] if isinstance(owner, type) else getattr(owner, name)
        self._saved.append((owner, name, original))
        setattr(owner, name, functools.wraps(original)(wrapper(original)))

    def _patch_property(self, owner: Any, name: str, wrapper: Callable[[Call], Call]) -> None:
        original = cast("property", vars(owner)[name])
        self._saved.append((owner, name, original))
        setattr(owner, name, property(wrapper(cast("Call", original.fget))))

    def _patch_function(self, name: str, wrapper: Callable[[Call], Call]) -> None:
        original = getattr(context, name, None)
        if original is None:
            return
        patched = functools.wraps(original)(wrapper(original))
        for owner in (context, wp):
            if getattr(owner, name, None) is original:
                self._saved.append((owner, name, original))
                setattr(owner, name, patched)

    def _tell(self, method: Call, *args: Any, **kwargs: Any) -> Any:
        """Tell the recorder something. A failure of ours ends the recording, never the program."""
        if self.recorder.failure is not None:
            return None
        try:
            return method(*args, **kwargs)
        except Exception as error:
            self.recorder.fail(error)
            return None

    @contextmanager
    def _inside(self) -> Generator[None]:
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    # -- launches ----------------------------------------------------------------------------------

    def _launch(self, original: Call) -> Call:
        def launch(kernel: Any, dim: Any, inputs: Any = (), outputs: Any = (), *args: Any, **kwargs: Any) -> Any:
            options = dict(zip(_LAUNCH_OPTIONS, args, strict=False)) | kwargs
            if self._depth or options.get("adjoint"):
                return original(kernel, dim, inputs, outputs, *args, **kwargs)
            values = [*inputs, *outputs]
            if options.get("record_cmd"):
                command = original(kernel, dim, inputs, outputs, *args, **kwargs)
                self._remember(command, kernel, values)
                return command
            pending = self._tell(self._begin_launch, kernel, dim, values, options)
            with self._inside():
                result = original(kernel, dim, inputs, outputs, *args, **kwargs)
            self._name_caller(pending)
            self._finish_launch(pending)
            return result

        return launch

    def _begin_launch(self, kernel: Any, dim: Any, values: list[Any], options: dict[str, Any]) -> Pending | None:
        if not isinstance(kernel, wp.Kernel) or len(values) != len(kernel.adj.args):
            return None
        stream = options.get("stream")
        device = stream.device if stream is not None else wp.get_device(options.get("device"))
        return self.recorder.launch(
            resolved(kernel, values),
            dim,
            values,
            str(device.alias),
            taped=options.get("record_tape", True),
            max_blocks=int(options.get("max_blocks", 0)),
            block_dim=options.get("block_dim"),
        )

    def _finish_launch(self, pending: Pending | None) -> None:
        if pending is not None:
            self._tell(self.recorder.commit, pending)

    def _name_caller(self, pending: Pending | None) -> None:
        """Warp notes the caller of a taped launch; without us it would be the user's line."""
        open_tape = context.runtime.tape
        if pending is None or open_tape is None or not open_tape.launches:
            return
        entry: Any = open_tape.launches[-1]
        if not callable(entry) and len(entry) > 7 and "caller" in entry[7] and pending.frame is not None:
            site = pending.site
            entry[7]["caller"] = {"file": site.file, "lineno": site.line, "func": site.function}

    def _remember(self, command: Any, kernel: Any, values: list[Any]) -> None:
        self._launch_arguments[id(command)] = (command, values)

    def _begin_command(self, command: Any) -> Pending | None:
        values = getattr(command, "fwd_args", None)
        if values is None:
            values = self._launch_arguments.get(id(command), (None, None))[1]
        if values is None:
            self.recorder.notes.append(f"A recorded launch of {command.kernel.key} whose arguments were not seen.")
            return None
        bounds = command.bounds
        return self.recorder.launch(
            command.kernel,
            tuple(bounds.shape[: getattr(bounds, "ndim", len(bounds.shape))]),
            list(values),
            str(command.device.alias),
            taped=False,
            max_blocks=command.max_blocks,
            block_dim=command.block_dim,
        )

    def _recorded_launch(self, original: Call) -> Call:
        def launch(command: Any, *args: Any, **kwargs: Any) -> Any:
            if self._depth or command.adjoint:
                return original(command, *args, **kwargs)
            pending = self._tell(self._begin_command, command)
            with self._inside():
                result = original(command, *args, **kwargs)
            self._finish_launch(pending)
            return result

        return launch

    def _capture_launch(self, original: Call) -> Call:
        def capture_launch(*args: Any, **kwargs: Any) -> Any:
            self.recorder.out_of_reach = "The program launches captured graphs, which are not looked into yet."
            return original(*args, **kwargs)

        return capture_launch

    def _seed(self, whose: str, original: Call) -> Call:
        def seed(*args: Any, **kwargs: Any) -> Any:
            if args or kwargs:
                self.recorder.seeded.add(whose)
            return original(*args, **kwargs)

        return seed

    # -- arrays ------------------------------------------------------------------------------------

    def _copy(self, original: Call) -> Call:
        def copy(
            dest: Any, src: Any, dest_offset: int = 0, src_offset: int = 0, count: int = 0, stream: Any = None
        ) -> Any:
            pending = None
            if not self._depth and wp.types.is_array(dest) and wp.types.is_array(src):
                pending = self._tell(
                    self.recorder.copy,
                    dest,
                    src,
                    (int(dest_offset), int(src_offset)),
                    int(count),
                    taped=context.runtime.tape is not None,
                )
            with self._inside():
                result = original(dest, src, dest_offset, src_offset, count, stream)
            if pending is not None:
                self._tell(self.recorder.commit, pending)
            return result

        return copy

    def _fill(self, original: Call) -> Call:
        def fill(array: Any, *args: Any, **kwargs: Any) -> Any:
            pending = None if self._depth else self._tell(self.recorder.fill, array)
            with self._inside():
                result = original(array, *args, **kwargs)
            if pending is not None:
                self._tell(self.recorder.commit_fill, pending)
            return result

        return fill

    def _creation(self, original: Call) -> Call:
        def create(*args: Any, **kwargs: Any) -> Any:
            with self._inside():
                array = original(*args, **kwargs)
            if not self._depth:
                data = args[0] if args else kwargs.get("arr")
                from_host = original.__name__ == "from_numpy"
                self._tell(self.recorder.created, array, from_host, _sharing(array, data) if from_host else None)
            return array

        return create

    def _array_init(self, original: Call) -> Call:
        def init(array: Any, *args: Any, **kwargs: Any) -> None:
            with self._inside():
                original(array, *args, **kwargs)
            if self._depth:
                return
            data = kwargs.get("data", args[0] if args else None)
            if data is None or isinstance(data, type) or not getattr(array, "ptr", None):
                return
            self._tell(self.recorder.created, array, True, _sharing(array, data))

        return init

    def _host_read(self, original: Call) -> Call:
        def numpy(array: Any, *args: Any, **kwargs: Any) -> Any:
            pending = None if self._depth else self._tell(self.recorder.host_read, array)
            with self._inside():
                view = original(array, *args, **kwargs)
            if pending is not None:
                self._tell(self.recorder.host_read_done, pending, view)
            return view

        return numpy

    def _interface_read(self, original: Call) -> Call:
        """`np.asarray(array)` reads without `numpy()`."""

        def interface(array: Any) -> Any:
            pending = None if self._depth else self._tell(self.recorder.host_read, array)
            with self._inside():
                result = original(array)
            if pending is not None:
                self._tell(self.recorder.host_read_done, pending, None)
            return result

        return interface

    def _assign(self, original: Call) -> Call:
        def assign(array: Any, src: Any) -> Any:
            if self._depth or wp.types.is_array(src):
                return original(array, src)
            pending = self._tell(self.recorder.host_write, array)
            with self._inside():
                result = original(array, src)
            if pending is not None:
                self._tell(self.recorder.commit_write, pending)
            return result

        return assign

    # -- tapes -------------------------------------------------------------------------------------

    def _tape_enter(self, original: Call) -> Call:
        def enter(this: Any) -> Any:
            result = original(this)
            self._tell(self.recorder.enter, this)
            return result

        return enter

    def _tape_exit(self, original: Call) -> Call:
        def leave(this: Any, *args: Any) -> Any:
            self._tell(self.recorder.leave)
            return original(this, *args)

        return leave

    def _tape_backward(self, original: Call) -> Call:
        def backward(this: Any, loss: Any = None, grads: Any = None) -> Any:
            if self._depth:
                return original(this, loss, grads)
            with self._inside():
                told = self._tell(self.recorder.backward, this, loss, grads)
                result = original(this, loss, grads)
                if told is not None:
                    self._tell(self.recorder.backward_done, *told)
            return result

        return backward

    def _tape_zero(self, original: Call) -> Call:
        def zero(this: Any) -> Any:
            pending = None if self._depth else self._tell(self.recorder.clear, this)
            with self._inside():
                result = original(this)
            if pending is not None:
                self._tell(self.recorder.commit, pending)
            return result

        return zero

    def _tape_reset(self, original: Call) -> Call:
        def reset(this: Any) -> Any:
            pending = None if self._depth else self._tell(self.recorder.clear, this)
            with self._inside():
                result = original(this)
            self.recorder.tapes.renew(this)
            if pending is not None:
                self._tell(self.recorder.commit, pending)
            return result

        return reset

    def _record_func(self, original: Call) -> Call:
        def record_func(this: Any, backward: Any, arrays: Any) -> Any:
            if not self._depth:
                self._tell(self.recorder.callback, this, backward, arrays)
            return original(this, backward, arrays)

        return record_func


def resolved(kernel: Any, values: list[Any]) -> Any:
    """The concrete overload of a generic kernel for the given arguments."""
    if not kernel.is_generic:
        return kernel
    types_of = kernel.infer_argument_types(values)
    add = getattr(kernel, "_add_normalized_overload", None) or kernel.add_overload
    return add(types_of)


def _sharing(array: Any, data: Any) -> Any:
    """The NumPy array whose memory a Warp array shares, None where it has its own."""
    interface = getattr(data, "__array_interface__", None)
    if interface is None or array.device is None or not array.device.is_cpu or isinstance(data, wp.array):
        return None
    return data if interface["data"][0] == array.ptr else None
