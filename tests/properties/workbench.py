"""The half-made program that steps add to: its memory, kernels and operations, and what is still unread."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from tests.properties import ir
from tests.properties.expressions import number, plus, times


@dataclass(frozen=True)
class Wishes:
    """What a program must have, for a fault to find a place in it.

    Attributes:
        scratch: A scratch buffer that is cleared and used again.
        mean: An objective that is a mean, seeded through `grads=`.
        history: A loop over states kept apart.
        single_tape: One tape.
        persistent: Parameters that live through all iterations.
        host_update: An update in NumPy.
        fresh: No work memory lives through iterations.
        segments: A horizon that is split by hand.
    """

    scratch: bool = False
    mean: bool = False
    history: bool = False
    single_tape: bool = False
    persistent: bool = False
    host_update: bool = False
    fresh: bool = False
    segments: bool = False


def merge(one: Wishes, other: Wishes) -> Wishes:
    """Both wishes at once."""
    return Wishes(**{f.name: getattr(one, f.name) or getattr(other, f.name) for f in fields(Wishes)})


@dataclass(frozen=True)
class Signal:
    """Something computed: where it lies, whether it depends on a parameter, whether it may be added to in place."""

    ref: ir.Ref
    length: int
    width: int
    tainted: bool
    whole: bool = True


class Workbench:
    """A program in the making."""

    def __init__(self, rng: np.random.Generator, wishes: Wishes) -> None:
        self.rng = rng
        self.wishes = wishes
        self.buffers: list[ir.Buffer] = []
        self.kernels: list[ir.Kernel] = []
        self.structs: list[ir.Struct] = []
        self.functions: list[ir.Function] = []
        self.operations: list[ir.Operation] = []
        self.prologue: list[ir.Statement] = []
        self.leaves: list[Signal] = []
        self.signals: list[Signal] = []
        self.unread: list[Signal] = []
        self.rebuilt = not wishes.persistent and bool(rng.random() < 0.25)
        self.hoisted = not (wishes.fresh or wishes.segments) and bool(rng.random() < 0.4)
        self.mean = wishes.mean or bool(rng.random() < 0.15)
        self.length = int(rng.integers(3, 9))
        self.tapes = 1 if wishes.single_tape or wishes.segments or self.mean or rng.random() < 0.7 else 2

    def add_function(self) -> None:
        a, b = ir.Var("a"), ir.Var("b")
        value = plus(ir.Unary("sin", times(a, b)), times(number(self.rng, 0.2, 0.5), a))
        self.functions.append(ir.Function("respond", ("a", "b"), value))

    def add_leaves(self) -> None:
        self.precision = "float64" if self.rng.random() < 0.4 else "float32"
        for k in range(int(self.rng.integers(1, 4))):
            role = "parameter" if k == 0 or self.rng.random() < 0.4 else "data"
            width = int(self.rng.choice([1, 2, 3], p=[0.75, 0.15, 0.1]))
            name = {"parameter": "weight", "data": "field"}[role] + (f"_{k}" if k else "")
            values = np.round(self.rng.uniform(-1.2, 1.2, self.length * width), 2)
            values[np.abs(values) < 0.15] += 0.3
            buffer = ir.Buffer(
                name, self.length, width, role, values=tuple(float(v) for v in values), scope="program",
                requires_grad=role == "parameter" or bool(self.rng.random() < 0.3),
            )  # fmt: skip
            self.buffers.append(buffer)
            self.leaves.append(Signal(ir.Ref(name), self.length, width, role == "parameter"))

    def buffer(self, stem: str, length: int, width: int = 1, **more: object) -> ir.Buffer:
        name = f"{stem}_{sum(b.name.startswith(stem + '_') for b in self.buffers)}"
        scope = "program" if self.hoisted and self.rng.random() < 0.6 else "iteration"
        buffer = ir.Buffer(name, length, width, **({"scope": scope} | more))  # pyright: ignore[reportArgumentType]
        self.buffers.append(buffer)
        return buffer

    def cleared(self, buffer: ir.Buffer) -> None:
        """Have a buffer start every iteration at zero."""
        if buffer.scope == "program":
            self.prologue.append(ir.Fill(ir.Ref(buffer.name), 0.0))

    def pointers(self, count: int, target: int) -> ir.Buffer:
        values = tuple(float(v) for v in self.rng.integers(0, target, count))
        return self.buffer("pointers", count, 0, role="index", values=values, scope="program")

    def kernel(self, stem: str, args: list[ir.Arg], body: list[ir.KernelStatement]) -> ir.Kernel:
        name = f"{stem}_{sum(k.name.startswith(stem + '_') for k in self.kernels)}"
        kernel = ir.Kernel(name, tuple(args), tuple(body))
        self.kernels.append(kernel)
        return kernel

    def launch(self, kernel: ir.Kernel, refs: list[ir.Ref], dim: int) -> None:
        self.operations.append(ir.Launch(kernel.name, tuple(refs), dim))

    def made(self, ref: ir.Ref, length: int, width: int, sources: list[Signal], whole: bool = True) -> None:
        """Register a result, and its sources as read."""
        signal = Signal(ref, length, width, any(s.tainted for s in sources), whole)
        self.unread = [s for s in self.unread if s not in sources]
        self.signals.append(signal)
        if signal.tainted:
            self.unread.append(signal)

    def pick(self, count: int, length: int | None = None) -> list[Signal]:
        """Sources of one length, the first one tainted and if possible not yet read."""
        pool = [s for s in self.unread if length in (None, s.length)] or [
            s for s in self.signals if s.tainted and length in (None, s.length)
        ]
        if not pool:
            return []
        first = pool[int(self.rng.integers(len(pool)))]
        others = [s for s in self.signals if s.length == first.length and s != first]
        self.rng.shuffle(others)  # pyright: ignore[reportArgumentType]
        others.sort(key=lambda s: s not in self.unread)
        return [first, *others[: count - 1]]

    def scalar(self, load: ir.Expr, width: int) -> ir.Expr:
        """A scalar out of an element of any width."""
        if width == 1:
            return load
        if self.rng.random() < 0.5:
            return ir.Component(load, int(self.rng.integers(width)))
        return times(ir.Const(0.5), ir.Dot(load, load))

    def inputs(
        self, sources: list[Signal], index: ir.Index = "here"
    ) -> tuple[list[ir.Arg], list[ir.Expr], list[ir.KernelStatement]]:
        """Arguments, scalar operands, and the local variables that they are loaded into, for some kernels."""
        args = [ir.Arg(f"a{k}", s.width) for k, s in enumerate(sources)]
        loads: list[ir.Expr] = [ir.Load(a.name, index) for a in args]
        lets: list[ir.KernelStatement] = []
        if self.rng.random() < 0.4:
            lets = [ir.Let(f"u{k}", load) for k, load in enumerate(loads)]
            loads = [ir.Var(f"u{k}") for k in range(len(loads))]
        operands = [self.scalar(load, a.width) for load, a in zip(loads, args, strict=True)]
        return args, operands, lets

    def is_clone(self, name: str) -> bool:
        return any(isinstance(o, ir.Copy) and o.how == "clone" and o.target.buffer == name for o in self.operations)
