"""Observes Warp's public calls while a recording is open, and restores them afterwards.

Each patched call tells the recorder, then does exactly what it did before. Calls that Warp makes of
itself inside another (the copy inside `assign`, the launches inside `backward`) belong to the outer
one and are not told.
"""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from retrograde.trace.arguments import freeze
from retrograde.trace.arrays import describe
from retrograde.trace.callsite import is_ours
from retrograde.trace.graphs import Capture, Step, can_be_taken_apart, graph_under_way
from retrograde.trace.imports import WhenImported
from retrograde.trace.objects import BUILDERS
from retrograde.trace.observer_tapes import TapeCalls
from retrograde.trace.observer_torch import TorchCalls
from retrograde.trace.patches import Call
from retrograde.trace.routines import ROUTINES, arrays_by_role
from retrograde.trace.warp_api import context, tape, torch_interop, types, utils, wp

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


class Observer(TapeCalls, TorchCalls):
    """Installs and removes the patches."""

    def install(self) -> None:
        """Begin to observe."""
        self._patch_function("launch", self._launch)
        self._patch_function("copy", self._copy)
        self._patch_function("_copy_caller_location", self._copy_caller)
        self._patch(context.Launch, "launch", self._recorded_launch)
        self._patch(types.array, "__init__", self._array_init)
        for cls in (types.array, types.indexedarray, getattr(types, "noncontiguous_array_base", None)):
            for name in ("zero_", "fill_"):
                if cls is not None and name in vars(cls):
                    self._patch(cls, name, self._fill)
        self._patch(random, "seed", partial(self._seed, "python"))
        self._patch(np.random, "seed", partial(self._seed, "numpy"))
        self._patch_function("capture_begin", self._capture_begin)
        self._patch_function("capture_end", self._capture_end)
        self._patch_function("capture_pause", self._capture_end)
        self._patch_function("capture_resume", self._capture_resume)
        self._patch_function("capture_if", self._capture_conditional)
        self._patch_function("capture_while", self._capture_conditional)
        self._patch_function("capture_launch", self._capture_launch)
        for function in ("zeros", "ones", "full", "zeros_like", "ones_like", "full_like", "from_numpy"):
            self._patch_function(function, partial(self._creation, function == "from_numpy"))
        for routine in ROUTINES:
            self._patch_function(routine, partial(self._routine, routine), (utils, wp.utils))
        for name, methods in BUILDERS.items():
            for method in ("__init__", *(m for m in methods if m != "__init__")):
                self._patch(getattr(types, name), method, self._build)
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
        for owner in (wp, torch_interop):
            self._patch(owner, "from_torch", self._from_torch)
            self._patch(owner, "to_torch", self._to_torch)
        self._waiting = WhenImported("torch", lambda torch: self._tell(self._observe_torch, torch))

    def remove(self) -> None:
        """Restore every call."""
        if self._waiting is not None:
            self._waiting.remove()
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()
        for owner, name, original in reversed(self._saved):
            setattr(owner, name, original)
        self._saved.clear()

    def _launch(self, original: Call) -> Call:
        def launch(kernel: Any, dim: Any, inputs: Any = (), outputs: Any = (), *args: Any, **kwargs: Any) -> Any:
            options = dict(zip(_LAUNCH_OPTIONS, args, strict=False)) | kwargs
            values = [*inputs, *outputs]
            if self._depth:
                if not (options.get("adjoint") or options.get("record_cmd")):
                    self._launch_in_backward(kernel, values)
                return original(kernel, dim, inputs, outputs, *args, **kwargs)
            if options.get("adjoint"):
                adjoints = _aligned(options.get("adj_inputs"), len(inputs)) + list(options.get("adj_outputs") or ())
                return self._observe(
                    partial(self._adjoint_to_tell, kernel, values, adjoints),
                    lambda: original(kernel, dim, inputs, outputs, *args, **kwargs),
                    lambda told: self.recorder.adjoint_done(*told),
                )
            if options.get("record_cmd"):
                command = original(kernel, dim, inputs, outputs, *args, **kwargs)
                self._remember(command, kernel, values)
                return command
            begin = self._tell(self._launch_to_tell, kernel, dim, values, options)
            if begin is None:
                with self._inside():
                    return original(kernel, dim, inputs, outputs, *args, **kwargs)

            def run() -> Any:
                replaced = {} if self.recorder.probe is None else self.recorder.probe.replaced
                given = [replaced.get(i, v) for i, v in enumerate(values)]
                count = len(inputs)
                result = original(kernel, dim, given[:count], given[count:], *args, **kwargs)
                self._name_caller()
                return result

            return self._observe(begin, run)

        return launch

    def _launch_in_backward(self, kernel: Any, values: list[Any]) -> None:
        if isinstance(kernel, wp.Kernel) and len(values) == len(kernel.adj.args):
            self._tell(lambda: self.recorder.launch_in_backward(resolved(kernel, values), values))

    def _launch_to_tell(self, kernel: Any, dim: Any, values: list[Any], options: dict[str, Any]) -> Any:
        """How to tell of a launch, None where it cannot be told."""
        if not isinstance(kernel, wp.Kernel) or len(values) != len(kernel.adj.args):
            return None
        stream = options.get("stream")
        device = stream.device if stream is not None else wp.get_device(options.get("device"))
        return partial(
            self.recorder.launch,
            resolved(kernel, values),
            dim,
            self._frozen(values),
            str(device.alias),
            taped=options.get("record_tape", True),
            max_blocks=int(options.get("max_blocks", 0)),
            block_dim=options.get("block_dim"),
        )

    def _adjoint_to_tell(self, kernel: Any, values: list[Any], adjoints: list[Any]) -> Any:
        if not isinstance(kernel, wp.Kernel) or len(values) != len(kernel.adj.args):
            return None
        return self.recorder.adjoint_launch(resolved(kernel, values), values, adjoints)

    def _frozen(self, values: list[Any]) -> list[Any]:
        """Arguments as they are now; their names are sought now too, where they are told of later."""
        frozen = [freeze(v) for v in values]
        if self._capture is not None:
            self.recorder.learn(frozen)
        return frozen

    def _name_caller(self) -> None:
        """Warp notes the caller of a taped launch; without us it would be the user's line."""
        open_tape = context.runtime.tape
        if open_tape is None or not open_tape.launches:
            return
        entry: Any = open_tape.launches[-1]
        if not callable(entry) and len(entry) > 7 and "caller" in entry[7]:
            site = self.recorder.here()
            entry[7]["caller"] = {"file": site.file, "lineno": site.line, "func": site.function}

    def _remember(self, command: Any, kernel: Any, values: list[Any]) -> None:
        self._launch_arguments[id(command)] = (command, values)

    def _command_to_tell(self, command: Any) -> Any:
        values = self._arguments_of(command)
        if values is None:
            self.recorder.notes.append(f"A recorded launch of {command.kernel.key} whose arguments were not seen.")
            return None
        bounds = command.bounds
        return partial(
            self.recorder.launch,
            command.kernel,
            tuple(bounds.shape[: getattr(bounds, "ndim", len(bounds.shape))]),
            self._frozen(values),
            str(command.device.alias),
            taped=False,
            max_blocks=command.max_blocks,
            block_dim=command.block_dim,
        )

    def _arguments_of(self, command: Any) -> list[Any] | None:
        values = getattr(command, "fwd_args", None)
        if values is None:
            values = self._launch_arguments.get(id(command), (None, None))[1]
        return None if values is None else list(values)

    def _recorded_launch(self, original: Call) -> Call:
        def launch(command: Any, *args: Any, **kwargs: Any) -> Any:
            if self._depth or command.adjoint:
                if not command.adjoint and (values := self._arguments_of(command)) is not None:
                    self._launch_in_backward(command.kernel, values)
                return original(command, *args, **kwargs)
            begin = self._tell(self._command_to_tell, command)
            if begin is None:
                with self._inside():
                    return original(command, *args, **kwargs)
            return self._observe(begin, lambda: original(command, *args, **kwargs))

        return launch

    def _capture_begin(self, original: Call) -> Call:
        def capture_begin(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            if can_be_taken_apart():
                with self._inside():
                    capture = self._captures[graph_under_way()] = Capture()
                if context.runtime.tape is not None:
                    capture.note(self._entry_to_tell(context.runtime.tape), self.recorder.here())
            return result

        return capture_begin

    def _capture_end(self, original: Call) -> Call:
        """An end, or a pause."""

        def capture_end(*args: Any, **kwargs: Any) -> Any:
            if (capture := self._capture) is not None:
                with self._inside():
                    capture.pause()
                if context.runtime.tape is not None:
                    capture.steps.append(Step(None, self.recorder.leave, None, self.recorder.here()))
            return original(*args, **kwargs)

        return capture_end

    def _capture_resume(self, original: Call) -> Call:
        def capture_resume(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            if (capture := self._capture) is not None:
                with self._inside():
                    capture.resume()
                if context.runtime.tape is not None:
                    capture.note(partial(self.recorder.enter, context.runtime.tape), self.recorder.here())
            return result

        return capture_resume

    def _capture_conditional(self, original: Call) -> Call:
        def conditional(*args: Any, **kwargs: Any) -> Any:
            if (capture := self._capture) is not None:
                with self._inside():
                    capture.pause()
                    capture.obstacle = "with branches or loops in them"
            return original(*args, **kwargs)

        return conditional

    def _capture_launch(self, original: Call) -> Call:
        def capture_launch(graph: Any, *args: Any, **kwargs: Any) -> Any:
            capture = self._captures.get(graph)
            obstacle = "that were not seen being captured" if capture is None else capture.obstacle
            if graph_under_way() is not None:
                obstacle = "inside another capture"
            if capture is None or obstacle is not None or self._depth:
                if not self._depth:
                    self.recorder.out_of_reach = f"The program launches captured graphs {obstacle}."
                return original(graph, *args, **kwargs)
            with self._inside():
                self._launch_steps(capture, lambda: original(graph, *args, **kwargs))
            return None

        return capture_launch

    def _launch_steps(self, capture: Capture, run: Callable[[], Any]) -> None:
        """Run a graph call by call, and tell of each; what the recorder cannot be told of is run all the same."""
        recorder = self.recorder
        open_tape, recorder.open_tape = recorder.open_tape, None
        capture.set_all(False)
        try:
            for step in capture.steps:
                with recorder.at(step.site):
                    pending = None if step.begin is None else self._tell(step.begin)
                    if step.switch is not None:
                        capture.only(step.switch, run)
                    if pending is not None:
                        self._tell(recorder.commit if step.finish is None else step.finish, pending)
        finally:
            capture.set_all(True)
            recorder.open_tape = open_tape

    def _seed(self, whose: str, original: Call) -> Call:
        def seed(*args: Any, **kwargs: Any) -> Any:
            if args or kwargs:
                self.recorder.seeded.add(whose)
            return original(*args, **kwargs)

        return seed

    def _copy(self, original: Call) -> Call:
        def copy(
            dest: Any, src: Any, dest_offset: int = 0, src_offset: int = 0, count: int = 0, stream: Any = None
        ) -> Any:
            def run() -> Any:
                return original(dest, src, dest_offset, src_offset, count, stream)

            if self._depth or not (wp.types.is_array(dest) and wp.types.is_array(src)):
                self._tell(self._write_in_backward, dest)
                with self._inside():
                    return run()
            refs = self._tell(self._frozen, [dest, src])
            if refs is None:
                return run()
            offsets, taped = (int(dest_offset), int(src_offset)), context.runtime.tape is not None
            return self._observe(partial(self.recorder.copy, *refs, offsets, int(count), taped=taped), run)

        return copy

    def _copy_caller(self, original: Call) -> Call:
        """Warp names the caller of a copy in a warning; without us it would be the program's line."""

        def location() -> Any:
            found = original()
            if found[0] is None or not is_ours(found[0]):
                return found
            site = self.recorder.here()
            return site.file, site.line

        return location

    def _write_in_backward(self, array: Any) -> None:
        ref = describe(array)
        if ref is not None:
            self.recorder.write_in_backward([ref])

    def _fill(self, original: Call) -> Call:
        def fill(array: Any, *args: Any, **kwargs: Any) -> Any:
            if self._depth:
                self._tell(self._write_in_backward, array)
                return original(array, *args, **kwargs)
            refs = self._tell(self._frozen, [array])
            if refs is None:
                return original(array, *args, **kwargs)
            begin = partial(self.recorder.fill, *refs)
            return self._observe(begin, lambda: original(array, *args, **kwargs), self.recorder.commit_fill)

        return fill

    def _routine(self, name: str, original: Call) -> Call:
        def routine(*args: Any, **kwargs: Any) -> Any:
            made: list[Any] = []

            def run() -> Any:
                made[:] = [original(*args, **kwargs)]
                return made[0]

            arrays = None if self._depth else self._tell(arrays_by_role, name, original, args, kwargs)
            if arrays is None:
                return run()
            read, written = ([r for r in map(describe, role) if r is not None] for role in arrays)
            begin = partial(self.recorder.routine, read, written)
            return self._observe(begin, run, lambda pending: self.recorder.commit_routine(pending, made[0]))

        return routine

    def _build(self, original: Call) -> Call:
        """Building what kernels search reads the arrays that it is built on."""

        def build(item: Any, *args: Any, **kwargs: Any) -> Any:
            def run() -> Any:
                result = original(item, *args, **kwargs)
                self._tell(self.recorder.objects.add, item)
                return result

            given = None if self._depth else self._tell(self._given, original, item, args, kwargs)
            if given is None:
                return run()
            method = original.__name__
            begin = partial(self.recorder.build, item, method, given)
            return self._observe(begin, run, lambda pending: self.recorder.commit_build(pending, item, method, given))

        return build

    @staticmethod
    def _given(original: Call, item: Any, args: Any, kwargs: Any) -> dict[str, Any]:
        given = dict(inspect.signature(original).bind(item, *args, **kwargs).arguments)
        del given["self"]
        return given

    def _creation(self, from_host: bool, original: Call) -> Call:
        def create(*args: Any, **kwargs: Any) -> Any:
            if self._depth:
                return original(*args, **kwargs)
            data = args[0] if args else kwargs.get("arr")
            made: list[Any] = []

            def run() -> Any:
                made.append(original(*args, **kwargs))

            def tell() -> None:
                self.recorder.created(made[0], from_host, _sharing(made[0], data) if from_host else None)

            self._observe_creation(run, tell, made, from_host)
            return made[0]

        return create

    def _array_init(self, original: Call) -> Call:
        def init(array: Any, *args: Any, **kwargs: Any) -> None:
            data = kwargs.get("data", args[0] if args else None)
            if self._depth or data is None or isinstance(data, type):
                with self._inside():
                    original(array, *args, **kwargs)
                return

            def tell() -> None:
                if getattr(array, "ptr", None):
                    self.recorder.created(array, True, _sharing(array, data))

            self._observe_creation(lambda: original(array, *args, **kwargs), tell, [array], from_host=True)

        return init

    def _observe_creation(
        self, run: Callable[[], Any], tell: Callable[[], None], made: list[Any], from_host: bool
    ) -> None:
        """Run a call that makes an array; where that is captured, each launch of the graph fills it again."""
        capture = self._capture
        with self._inside():
            switch = None if capture is None else capture.call(run)[1]
            if capture is None:
                run()
            if capture is None or switch is None:
                self._tell(tell)
                return
            self._tell(self.recorder.learn, made)
            begin, finish = self.recorder.fill, self.recorder.commit_fill
            if from_host:
                begin, finish = self.recorder.host_write, self.recorder.commit_write
            capture.steps.append(Step(switch, partial(begin, made[0]), finish, self.recorder.here()))

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
            begin = partial(self.recorder.host_write, array)
            return self._observe(begin, lambda: original(array, src), self.recorder.commit_write)

        return assign


def _aligned(values: Any, count: int) -> list[Any]:
    """A list of so many values, None for those that are missing."""
    known = list(values or ())
    return (known + [None] * count)[:count]


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
