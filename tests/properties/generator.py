"""Random programs whose gradient is right, by construction.

No tape reads memory that changed after the tape had read it, unless the kernels that read it are linear; every array
on the path has a gradient; every iteration clears what it must. Values stay of order one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from tests.properties import ir
from tests.properties.expressions import affine, linear, nonlinear, number, plus, times
from tests.properties.interpreter import Interpreter

_HOST_RULES = ("host", "momentum", "adam")
_ATTEMPTS = 200


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
    """

    scratch: bool = False
    mean: bool = False
    history: bool = False
    single_tape: bool = False
    persistent: bool = False
    host_update: bool = False
    fresh: bool = False


def generate(seed: int, wishes: Wishes | None = None) -> ir.Program:
    """The right program of a seed.

    Args:
        seed: Any integer; the same program for the same seed and wishes.
        wishes: What it must have.

    Raises:
        RuntimeError: No well-scaled program was found.
    """
    rng = np.random.default_rng([seed, 2])
    for _ in range(_ATTEMPTS):
        program = _Builder(rng, wishes or Wishes()).build()
        if _well_scaled(program):
            return program
    raise RuntimeError(f"Seed {seed} gives no program whose gradient is well scaled.")


def starts(program: ir.Program) -> dict[str, np.ndarray]:
    """The parameters that the program starts from."""
    return {b.name: np.array(b.values, dtype=np.float64) for b in program.parameters}


def _well_scaled(program: ir.Program) -> bool:
    """Whether differences in single precision can see every parameter's gradient."""
    interpreter = Interpreter(program)
    at = starts(program)
    gradients = interpreter.gradient(at)
    objective = abs(interpreter.advance(at))
    norms = [float(np.linalg.norm(g)) for g in gradients.values()]
    return all(0.05 * max(1.0, objective) < n < 50.0 for n in norms) and objective < 100.0


@dataclass(frozen=True)
class _Signal:
    """Something computed: where it lies, whether it depends on a parameter, whether it may be added to in place."""

    ref: ir.Ref
    length: int
    width: int
    tainted: bool
    whole: bool = True


class _Builder:
    def __init__(self, rng: np.random.Generator, wishes: Wishes) -> None:
        self.rng = rng
        self.wishes = wishes
        self.buffers: list[ir.Buffer] = []
        self.kernels: list[ir.Kernel] = []
        self.structs: list[ir.Struct] = []
        self.functions: list[ir.Function] = []
        self.operations: list[ir.Operation] = []
        self.prologue: list[ir.Statement] = []
        self.leaves: list[_Signal] = []
        self.signals: list[_Signal] = []
        self.unread: list[_Signal] = []
        self.rebuilt = not wishes.persistent and bool(rng.random() < 0.25)
        self.hoisted = not wishes.fresh and bool(rng.random() < 0.4)
        self.mean = wishes.mean or bool(rng.random() < 0.15)
        self.length = int(rng.integers(3, 9))
        self.tapes = 1 if wishes.single_tape or self.mean or rng.random() < 0.7 else 2

    # -- the whole

    def build(self) -> ir.Program:
        if self.rng.random() < 0.5:
            self.add_function()
        self.add_leaves()
        statements: list[ir.Statement] = []
        backwards: list[ir.Statement] = []
        for number_of_tape in range(self.tapes):
            name = "tape" if self.tapes == 1 else f"tape_{number_of_tape}"
            backwards.append(self.add_tape(name, number_of_tape))
            statements.append(ir.Tape(name, tuple(self.operations)))
            if self.tapes == 2 and self.rng.random() < 0.5:
                statements.append(backwards.pop())
        rule = self.pick_rule()
        rate = round(float(self.rng.uniform(0.01, 0.08)), 3)
        statements = [*self.prologue, *statements, *backwards]
        if rule in _HOST_RULES:
            statements.append(ir.Read(copied=bool(self.rng.random() < 0.5)))
        statements.append(ir.Update(rule, rate))
        if not self.rebuilt or self.hoisted or self.rng.random() < 0.5:
            alone = not self.hoisted and self.rng.random() < 0.3
            statements.append(ir.Clear("gradients" if alone else "tape"))
        return ir.Program(
            precision=self.precision,
            buffers=tuple(self.buffers),
            kernels=tuple(self.kernels),
            statements=tuple(statements),
            iterations=int(self.rng.integers(2, 5)),
            functions=tuple(self.functions),
            structs=tuple(self.structs),
            mean=self.mean,
            rebuilt=self.rebuilt,
            guarded=bool(self.rng.random() < 0.4),
        )

    def pick_rule(self) -> str:
        scalar = all(b.width == 1 for b in self.buffers if b.role == "parameter")
        if self.rebuilt or self.wishes.host_update or not scalar:
            return str(self.rng.choice(_HOST_RULES, p=[0.6, 0.2, 0.2]))
        if self.precision == "float64":
            return str(self.rng.choice([*_HOST_RULES, "kernel"], p=[0.5, 0.1, 0.2, 0.2]))
        return str(self.rng.choice([*_HOST_RULES, "kernel", "SGD", "Adam"], p=[0.4, 0.1, 0.1, 0.2, 0.1, 0.1]))

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
            self.leaves.append(_Signal(ir.Ref(name), self.length, width, role == "parameter"))

    def add_tape(self, name: str, number_of_tape: int) -> ir.Statement:
        """Fill `self.operations` with one tape's work; the statement that runs it backward."""
        self.operations = []
        self.signals = list(self.leaves)
        self.unread = [s for s in self.leaves if s.tainted]
        steps: list[Callable[[], None]] = [
            self.elementwise, self.elementwise, self.stencil, self.gather, self.scatter, self.accumulate, self.vector,
            self.through_struct, self.halves, self.overlapping, self.history, self.pingpong, self.copied,
            self.read_back, self.scratch,
        ]  # fmt: skip
        wanted: list[Callable[[], None]] = []
        if self.wishes.scratch:
            wanted.append(self.scratch)
        if self.wishes.history:
            wanted.append(self.history)
        count = int(self.rng.integers(2, 6))
        wanted += [steps[int(self.rng.integers(len(steps)))] for _ in range(count)]
        self.rng.shuffle(wanted)  # pyright: ignore[reportArgumentType]
        for step in wanted:
            step()
        return self.add_loss(name, number_of_tape)

    # -- pieces

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

    def kernel(self, stem: str, args: list[ir.Arg], body: list[ir.Let | ir.Store | ir.Sum]) -> ir.Kernel:
        name = f"{stem}_{sum(k.name.startswith(stem + '_') for k in self.kernels)}"
        kernel = ir.Kernel(name, tuple(args), tuple(body))
        self.kernels.append(kernel)
        return kernel

    def launch(self, kernel: ir.Kernel, refs: list[ir.Ref], dim: int) -> None:
        self.operations.append(ir.Launch(kernel.name, tuple(refs), dim))

    def made(self, ref: ir.Ref, length: int, width: int, sources: list[_Signal], whole: bool = True) -> None:
        """Register a result, and its sources as read."""
        signal = _Signal(ref, length, width, any(s.tainted for s in sources), whole)
        self.unread = [s for s in self.unread if s not in sources]
        self.signals.append(signal)
        if signal.tainted:
            self.unread.append(signal)

    def pick(self, count: int, length: int | None = None) -> list[_Signal]:
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
        self, sources: list[_Signal], index: ir.Index = "here"
    ) -> tuple[list[ir.Arg], list[ir.Expr], list[ir.Let | ir.Store | ir.Sum]]:
        """Arguments, scalar operands, and the local variables that they are loaded into, for some kernels."""
        args = [ir.Arg(f"a{k}", s.width) for k, s in enumerate(sources)]
        loads: list[ir.Expr] = [ir.Load(a.name, index) for a in args]
        lets: list[ir.Let | ir.Store | ir.Sum] = []
        if self.rng.random() < 0.4:
            lets = [ir.Let(f"u{k}", load) for k, load in enumerate(loads)]
            loads = [ir.Var(f"u{k}") for k in range(len(loads))]
        operands = [self.scalar(load, a.width) for load, a in zip(loads, args, strict=True)]
        return args, operands, lets

    # -- steps

    def elementwise(self) -> None:
        sources = self.pick(int(self.rng.integers(1, 4)))
        args, operands, body = self.inputs(sources)
        out = self.buffer("state", sources[0].length)
        body.append(ir.Store("out", nonlinear(self.rng, operands, self.functions)))
        kernel = self.kernel("map", [*args, ir.Arg("out")], body)
        self.launch(kernel, [*(s.ref for s in sources), ir.Ref(out.name)], out.length)
        self.made(ir.Ref(out.name), out.length, 1, sources)

    def stencil(self) -> None:
        (source, *_) = self.pick(1)
        out = self.buffer("smooth", source.length)
        left, here, right = (self.scalar(ir.Load("a", k), source.width) for k in ("left", "here", "right"))
        flux = ir.Binary("-", left, times(ir.Const(2.0), here))
        value = plus(nonlinear(self.rng, [here], self.functions), times(ir.Const(0.2), plus(flux, right)))
        if self.rng.random() < 0.4:
            value = times(ir.Unary("sin", left), plus(here, times(number(self.rng), right)))
        kernel = self.kernel("stencil", [ir.Arg("a", source.width), ir.Arg("out")], [ir.Store("out", value)])
        self.launch(kernel, [source.ref, ir.Ref(out.name)], out.length)
        self.made(ir.Ref(out.name), out.length, 1, [source])

    def gather(self) -> None:
        (source, *_) = self.pick(1)
        count = int(self.rng.integers(source.length, source.length + 3))
        pointers = self.pointers(count, source.length)
        out = self.buffer("picked", count)
        value = nonlinear(self.rng, [self.scalar(ir.Load("a", "gather"), source.width)], self.functions)
        args = [ir.Arg("a", source.width), ir.Arg("where", 0), ir.Arg("out")]
        kernel = self.kernel("gather", args, [ir.Store("out", value)])
        self.launch(kernel, [source.ref, ir.Ref(pointers.name), ir.Ref(out.name)], count)
        self.made(ir.Ref(out.name), count, 1, [source])

    def scatter(self) -> None:
        (source, *_) = self.pick(1)
        size = int(self.rng.integers(2, source.length + 1))
        out = self.buffer("binned", size)
        self.cleared(out)
        self.launch_scatter(source, out, self.pointers(source.length, size))
        self.made(ir.Ref(out.name), size, 1, [source])

    def launch_scatter(self, source: _Signal, out: ir.Buffer, pointers: ir.Buffer) -> None:
        value = nonlinear(self.rng, [self.scalar(ir.Load("a"), source.width)], self.functions)
        args = [ir.Arg("a", source.width), ir.Arg("where", 0), ir.Arg("out")]
        kernel = self.kernel("scatter", args, [ir.Store("out", value, "atomic", "gather")])
        self.launch(kernel, [source.ref, ir.Ref(pointers.name), ir.Ref(out.name)], source.length)

    def accumulate(self) -> None:
        """Add in place to what nothing has read yet."""
        fresh = [s for s in self.unread if s.width == 1 and s.whole and s not in self.leaves]
        if not fresh:
            return self.elementwise()
        target = fresh[int(self.rng.integers(len(fresh)))]
        sources = [s for s in self.pick(2, target.length) if s != target]
        if not sources:
            return self.elementwise()
        args, operands, body = self.inputs(sources)
        value = nonlinear(self.rng, operands, self.functions)
        if self.rng.random() < 0.5:
            body.append(ir.Store("out", value, "add"))
        else:
            body.append(ir.Store("out", plus(ir.Load("out"), value)))
        kernel = self.kernel("accumulate", [*args, ir.Arg("out")], body)
        self.launch(kernel, [*(s.ref for s in sources), target.ref], target.length)
        self.signals.remove(target)
        self.unread.remove(target)
        return self.made(target.ref, target.length, 1, [*sources, replace(target, tainted=True)])

    def vector(self) -> None:
        width = int(self.rng.integers(2, 4))
        sources = self.pick(2)
        args, operands, body = self.inputs(sources)
        components = [nonlinear(self.rng, operands[k % len(operands) :], self.functions) for k in range(width)]
        out = self.buffer("arrow", sources[0].length, width)
        value: ir.Expr = ir.Vector(tuple(components))
        if self.rng.random() < 0.4:
            value = times(ir.Unary("cos", operands[0]), value)
        body.append(ir.Store("out", value))
        kernel = self.kernel("vector", [*args, ir.Arg("out", width)], body)
        self.launch(kernel, [*(s.ref for s in sources), ir.Ref(out.name)], out.length)
        self.made(ir.Ref(out.name), out.length, width, sources)

    def through_struct(self) -> None:
        """A kernel whose arrays are the fields of one struct."""
        scope = {b.name: ("iteration" if b.role == "parameter" and self.rebuilt else b.scope) for b in self.buffers}
        usable = [s for s in self.unread if s.ref == ir.Ref(s.ref.buffer) and not self.is_clone(s.ref.buffer)]
        if not usable:
            return self.elementwise()
        source = usable[int(self.rng.integers(len(usable)))]
        out = self.buffer("inner", source.length, scope=scope[source.ref.buffer])
        name = f"Bundle{len(self.structs)}"
        self.structs.append(ir.Struct(name, (source.ref.buffer, out.name)))
        load = self.scalar(ir.Load(source.ref.buffer), source.width)
        value = nonlinear(self.rng, [load], self.functions)
        args = [ir.Arg(source.ref.buffer, source.width, name), ir.Arg(out.name, 1, name)]
        kernel = self.kernel("bundle", args, [ir.Store(out.name, value)])
        self.launch(kernel, [source.ref, ir.Ref(out.name)], out.length)
        return self.made(ir.Ref(out.name), out.length, 1, [source])

    def is_clone(self, name: str) -> bool:
        return any(isinstance(o, ir.Copy) and o.how == "clone" and o.target.buffer == name for o in self.operations)

    def halves(self) -> None:
        """Two kernels write two slices of one array."""
        (source, *_) = self.pick(1)
        if source.ref.start is not None:
            return self.elementwise()
        middle = source.length // 2
        out = self.buffer("parts", source.length)
        for start, stop in ((0, middle), (middle, source.length)):
            value = nonlinear(self.rng, [self.scalar(ir.Load("a"), source.width)], self.functions)
            kernel = self.kernel("part", [ir.Arg("a", source.width), ir.Arg("out")], [ir.Store("out", value)])
            piece = replace(source.ref, start=start, stop=stop)
            self.launch(kernel, [piece, ir.Ref(out.name, start=start, stop=stop)], stop - start)
        return self.made(ir.Ref(out.name), out.length, 1, [source])

    def overlapping(self) -> None:
        """One kernel reads two slices of one array that overlap."""
        (source, *_) = self.pick(1)
        if source.ref.start is not None or source.length < 3:
            return self.elementwise()
        out = self.buffer("edges", source.length - 1)
        loads = [self.scalar(ir.Load(a), source.width) for a in ("low", "high")]
        value = nonlinear(self.rng, [ir.Binary("-", loads[1], loads[0]), loads[0]], self.functions)
        args = [ir.Arg("low", source.width), ir.Arg("high", source.width), ir.Arg("out")]
        kernel = self.kernel("difference", args, [ir.Store("out", value)])
        low = replace(source.ref, start=0, stop=out.length)
        high = replace(source.ref, start=1, stop=source.length)
        self.launch(kernel, [low, high, ir.Ref(out.name)], out.length)
        return self.made(ir.Ref(out.name), out.length, 1, [source])

    def begin_rows(self, source: _Signal, rows: ir.Buffer) -> None:
        """The first row, from a signal."""
        value = affine(self.rng, self.scalar(ir.Load("a"), source.width))
        kernel = self.kernel("begin", [ir.Arg("a", source.width), ir.Arg("out")], [ir.Store("out", value)])
        self.launch(kernel, [source.ref, ir.Ref(rows.name, 0)], rows.length)

    def history(self) -> None:
        """A loop that keeps every state."""
        (source, *_) = self.pick(1)
        turns = int(self.rng.integers(2, 5))
        layout = "matrix" if self.rng.random() < 0.5 else "list"
        rows = self.buffer("history", source.length, rows=turns + 1, layout=layout)
        self.begin_rows(source, rows)
        here = ir.Load("now")
        value = plus(times(ir.Const(0.6), here), nonlinear(self.rng, [here], self.functions))
        if self.rng.random() < 0.5:
            value = plus(value, times(ir.Const(0.3), ir.Unary("sin", ir.Load("now", "left"))))
        value = plus(value, times(ir.Const(0.1), self.scalar(ir.Load("drive"), source.width)))
        args = [ir.Arg("now"), ir.Arg("drive", source.width), ir.Arg("following")]
        kernel = self.kernel("advance", args, [ir.Store("following", value)])
        bindings = (ir.Ref(rows.name, ir.Step(0)), source.ref, ir.Ref(rows.name, ir.Step(1)))
        self.operations.append(ir.Loop(turns, (ir.Launch(kernel.name, bindings, rows.length),)))
        self.made(ir.Ref(rows.name, turns), rows.length, 1, [source], whole=False)

    def pingpong(self) -> None:
        """A loop between two buffers with a linear kernel: overwritten states are never needed."""
        (source, *_) = self.pick(1)
        turns = int(self.rng.integers(2, 5))
        layout = "matrix" if self.rng.random() < 0.5 else "list"
        rows = self.buffer("pair", source.length, rows=2, layout=layout)
        self.begin_rows(source, rows)
        loads: list[ir.Expr] = [ir.Load("now", k) for k in ("left", "here", "right")]
        value = plus(linear(self.rng, loads), times(ir.Const(0.5), ir.Load("now")))
        kernel = self.kernel("diffuse", [ir.Arg("now"), ir.Arg("following")], [ir.Store("following", value)])
        bindings = (ir.Ref(rows.name, ir.Step(0, 2)), ir.Ref(rows.name, ir.Step(1, 2)))
        self.operations.append(ir.Loop(turns, (ir.Launch(kernel.name, bindings, rows.length),)))
        self.made(ir.Ref(rows.name, turns % 2), rows.length, 1, [source], whole=False)

    def copied(self) -> None:
        (source, *_) = self.pick(1)
        how = str(self.rng.choice(["copy", "assign", "clone"]))
        sliced = source.ref.start is not None
        if how == "clone" and (sliced or source.ref.row is not None):
            how = "copy"
        more = {"scope": "iteration"} if how == "clone" else {}
        out = self.buffer("copy", source.length, source.width, **more)
        self.operations.append(ir.Copy(ir.Ref(out.name), source.ref, how))  # pyright: ignore[reportArgumentType]
        self.made(ir.Ref(out.name), out.length, out.width, [source])

    def read_back(self) -> None:
        """A kernel reads what it has just written, also in a table that it fills step by step."""
        (source, *_) = self.pick(1)
        first, second = self.buffer("table", source.length), self.buffer("state", source.length)
        load = self.scalar(ir.Load("a"), source.width)
        body: list[ir.Let | ir.Store | ir.Sum] = [
            ir.Store("middle", nonlinear(self.rng, [load], self.functions)),
            ir.Store("out", nonlinear(self.rng, [ir.Load("middle")], self.functions)),
        ]
        args = [ir.Arg("a", source.width), ir.Arg("middle"), ir.Arg("out")]
        kernel = self.kernel("chain", args, body)
        self.launch(kernel, [source.ref, ir.Ref(first.name), ir.Ref(second.name)], source.length)
        self.made(ir.Ref(first.name), first.length, 1, [source], whole=False)
        self.made(ir.Ref(second.name), second.length, 1, [source])

    def scratch(self) -> None:
        """A scratch buffer, read linearly, cleared by a kernel and used again."""
        (one, *_) = self.pick(1)
        (two, *_) = self.pick(1)
        size = int(self.rng.integers(2, 5))
        scratch = self.buffer("force", size)
        self.cleared(scratch)
        for source, clear in ((one, False), (two, True)):
            if clear:
                wipe = self.kernel("wipe", [ir.Arg("out")], [ir.Store("out", ir.Const(0.0))])
                self.launch(wipe, [ir.Ref(scratch.name)], size)
            self.launch_scatter(source, scratch, self.pointers(source.length, size))
            out = self.buffer("moved", size)
            value = plus(times(number(self.rng), ir.Load("force")), number(self.rng, 0.1, 0.3))
            kernel = self.kernel("move", [ir.Arg("force"), ir.Arg("out")], [ir.Store("out", value)])
            self.launch(kernel, [ir.Ref(scratch.name), ir.Ref(out.name)], size)
            self.made(ir.Ref(out.name), size, 1, [source])

    # -- the loss

    def add_loss(self, tape: str, number_of_tape: int) -> ir.Statement:
        name = "loss" if self.tapes == 1 else f"loss_{number_of_tape}"
        scope = "program" if self.hoisted and self.rng.random() < 0.5 else "iteration"
        if self.mean:
            return self.add_mean(tape, name)
        loss = ir.Buffer(name, 1, role="loss", scope=scope)  # pyright: ignore[reportArgumentType]
        self.buffers.append(loss)
        self.cleared(loss)
        if len(self.unread) > 1 and self.rng.random() < 0.4:
            self.merge(self.length)
        if len(self.unread) == 1 and self.rng.random() < 0.5:
            source = self.unread[0]
            term = self.term(ir.Load("a"), source.width)
            kernel = self.kernel(
                "score", [ir.Arg("a", source.width), ir.Arg("loss")], [ir.Sum("loss", term, source.length)]
            )
            self.launch(kernel, [source.ref, ir.Ref(name)], 1)
        else:
            for source in self.unread:
                term = self.term(ir.Load("a"), source.width)
                store = ir.Store("loss", term, "atomic", "zero")
                kernel = self.kernel("score", [ir.Arg("a", source.width), ir.Arg("loss")], [store])
                self.launch(kernel, [source.ref, ir.Ref(name)], source.length)
        return ir.Backward(tape, name)

    def add_mean(self, tape: str, name: str) -> ir.Statement:
        merged = self.merge(self.length)
        loss = ir.Buffer(name, merged.length, role="loss")
        self.buffers.append(loss)
        term = self.term(ir.Load("a"), merged.width)
        kernel = self.kernel("score", [ir.Arg("a", merged.width), ir.Arg("loss")], [ir.Store("loss", term)])
        self.launch(kernel, [merged.ref, ir.Ref(name)], merged.length)
        return ir.Backward(tape, name, 1.0 / merged.length)

    def term(self, load: ir.Expr, width: int) -> ir.Expr:
        residual = ir.Binary("-", self.scalar(load, width), number(self.rng, 0.3, 0.9))
        if self.rng.random() < 0.7:
            return times(residual, residual)
        return plus(times(ir.Const(0.5), times(residual, residual)), ir.Unary("sin", residual))

    def merge(self, length: int) -> _Signal:
        """Bring all that is unread into one array, by pointers."""
        sources = list(self.unread)
        args: list[ir.Arg] = [ir.Arg("where", 0)]
        out = self.buffer("merged", length)
        shortest = min(s.length for s in sources)
        pointers = self.pointers(length, shortest)
        total: ir.Expr = ir.Const(0.1)
        for k, source in enumerate(sources):
            args.append(ir.Arg(f"a{k}", source.width))
            total = plus(total, times(number(self.rng), self.scalar(ir.Load(f"a{k}", "gather"), source.width)))
        kernel = self.kernel("merge", [*args, ir.Arg("out")], [ir.Store("out", ir.Unary("tanh", total))])
        self.launch(kernel, [ir.Ref(pointers.name), *(s.ref for s in sources), ir.Ref(out.name)], length)
        self.made(ir.Ref(out.name), length, 1, sources)
        return self.signals[-1]
