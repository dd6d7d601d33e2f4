"""Writes a program as a user would have: one file of plain Warp."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import indent

from tests.properties import ir

_INDENT = "    "


def emit(program: ir.Program) -> str:
    """The source of `program`. A statement with a mark has it in a comment at the end of its line."""
    writer = _Writer(program)
    head = [
        '"""Fits parameters by gradient descent."""',
        "",
        "import numpy as np",
        "import warp as wp",
        *(["import warp.optim"] if writer.rule in ("SGD", "Adam") else []),
        "",
        'wp.set_device("cpu")',
        "",
    ]
    parts = [_lines(writer.structs()), _lines(writer.functions()), _lines(writer.kernels())]
    body = [*writer.setup(), "", *writer.loop()]
    if program.guarded:
        body = ["", "", "def main():", *(indent(line, _INDENT) if line else "" for line in body)]
        body += ["", "", 'if __name__ == "__main__":', _INDENT + "main()"]
    return "\n".join([*head, *(line for part in parts for line in part), "", *body]) + "\n"


def expected_lines(source: str) -> dict[int, tuple[str, ...]]:
    """The codes that a source's marks expect, by line."""
    marks: dict[int, tuple[str, ...]] = {}
    for number, line in enumerate(source.splitlines(), start=1):
        _, arrow, codes = line.partition("# <- ")
        if arrow:
            marks[number] = tuple(codes.split())
    return marks


def _lines(blocks: Iterable[Sequence[str]]) -> list[str]:
    return [line for block in blocks for line in ["", *block, ""]]


def _marked(line: str, mark: str) -> str:
    return f"{line}  # <- {mark}" if mark else line


class _Writer:
    def __init__(self, program: ir.Program) -> None:
        self.program = program
        self.double = program.precision == "float64"
        self.scalar = "wp.float64" if self.double else "float"
        self.host = "np.float64" if self.double else "np.float32"
        updates = [s for s in program.statements if isinstance(s, ir.Update)]
        self.rule = updates[0].rule
        self.rate = updates[0].rate
        self.tapes = [s.name for s in program.statements if isinstance(s, ir.Tape)]

    # -- types, functions, kernels

    def dtype(self, width: int) -> str:
        if width == 0:
            return "int"
        return self.scalar if width == 1 else f"wp.vec{width}{'d' if self.double else ''}"

    def structs(self) -> list[list[str]]:
        return [
            ["@wp.struct", f"class {s.name}:"]
            + [f"{_INDENT}{f}: wp.array(dtype={self.dtype(self.program.buffer(f).width)})" for f in s.fields]
            for s in self.program.structs
        ]

    def functions(self) -> list[list[str]]:
        return [block for f in self.program.functions for block in self.function(f)]

    def function(self, function: ir.Function) -> list[list[str]]:
        arguments = ", ".join(f"{p}: {self.scalar}" for p in function.parameters)
        if function.native:
            head = f'@wp.func_native("return {self.native(function.value)};")'
            stub = f"def {function.name}({arguments}) -> {self.scalar}: ..."
            return [[head, _marked(stub, function.mark)]]
        value = f"{_INDENT}return {self.expr(function.value, None)}"
        plain = ["@wp.func", f"def {function.name}({arguments}):", value]
        if not function.slopes:
            return [plain]
        assigned = function.mark if function.assigns else ""
        adjoint = [
            f"@wp.func_grad({function.name})",
            _marked(
                f"def adj_{function.name}({arguments}, adj_ret: {self.scalar}):", "" if assigned else function.mark
            ),
        ]
        sign = "=" if function.assigns else "+="
        for parameter, slope, factor in zip(function.parameters, function.slopes, function.factors, strict=True):
            line = f"wp.adjoint[{parameter}] {sign} {self.const(factor)} * {self.expr(slope, None)} * adj_ret"
            if factor:
                adjoint.append(_marked(_INDENT + line, assigned))
        return [plain, adjoint]

    def native(self, expr: ir.Expr) -> str:
        """An expression of sums and products in C++."""
        match expr:
            case ir.Const(value):
                return repr(value) if self.double else f"{value!r}f"
            case ir.Var(name):
                return name
            case ir.Binary(operator, left, right):
                return f"({self.native(left)} {operator} {self.native(right)})"
            case _:
                raise ValueError(f"{expr} is no sum or product.")

    def kernels(self) -> list[list[str]]:
        blocks = [self.kernel(k) for k in self.program.kernels]
        if self.rule == "kernel":
            arrays = f"x: wp.array(dtype={self.scalar}), g: wp.array(dtype={self.scalar})"
            blocks.append(
                [
                    "@wp.kernel(enable_backward=False)",
                    f"def descend({arrays}):",
                    f"{_INDENT}i = wp.tid()",
                    f"{_INDENT}x[i] = x[i] - {self.const(self.rate)} * g[i]",
                ]
            )
        return blocks

    def kernel(self, kernel: ir.Kernel) -> list[str]:
        signature: list[str] = []
        for arg in kernel.args:
            if arg.by_value:
                signature.append(f"{arg.name}: {self.scalar}")
            elif not arg.struct:
                signature.append(f"{arg.name}: wp.array(dtype={self.dtype(arg.width)})")
            elif f"s: {arg.struct}" not in signature:
                signature.append(f"s: {arg.struct}")
        serial = any(isinstance(s, ir.Sum) for s in kernel.body)
        decorator = "@wp.kernel" if kernel.backward else "@wp.kernel(enable_backward=False)"
        lines = [_marked(decorator, kernel.mark), f"def {kernel.name}({', '.join(signature)}):"]
        if not serial:
            lines.append(f"{_INDENT}i = wp.tid()")
        return lines + [_INDENT + line for s in kernel.body for line in self.kernel_statement(s, kernel)]

    def kernel_statement(self, statement: ir.KernelStatement, kernel: ir.Kernel) -> list[str]:
        match statement:
            case ir.Let(name, value):
                return [f"{name} = {self.expr(value, kernel)}"]
            case ir.Grow(name, value, factor, count, mark):
                begin = self.expr(value, kernel)
                bound = f"int({self.const(count + 0.5)} + {self.const(0.01)} * wp.tanh({begin}))"
                return [
                    f"{name} = {self.scalar}(1.0) * {begin}",
                    _marked(f"for turn in range({bound}):", mark),
                    f"{_INDENT}{name} = {name} * {self.expr(factor, kernel)}",
                ]
            case ir.Rebuild(name, value, factor, mark):
                return [
                    f"{name}_parts = {self.dtype(2)}()",
                    f"{name}_parts[0] = {self.expr(value, kernel)}",
                    f"{name}_parts[1] = {self.expr(factor, kernel)}",
                    _marked(f"{name}_parts[0] = {name}_parts[0] * {name}_parts[1]", mark),
                    f"{name} = {name}_parts[0]",
                ]
            case ir.Shelve(name, value):
                return [
                    f"{name}_shelf = wp.zeros(shape=(2,), dtype={self.scalar})",
                    f"{name}_shelf[1] = {self.expr(value, kernel)}",
                    f"{name} = {name}_shelf[1] * {name}_shelf[1]",
                ]
            case ir.Sum(arg, value, count):
                return [
                    f"total = {self.scalar}(0.0)",
                    f"for i in range({count}):",
                    f"{_INDENT}total += {self.expr(value, kernel)}",
                    f"{self.element(arg, 'zero', kernel)} = total",
                ]
            case ir.Store(arg, value, mode, index, mark):
                text = self.expr(value, kernel)
                if mode == "atomic":
                    return [
                        _marked(
                            f"wp.atomic_add({self.array(arg, kernel)}, {self.index(index, arg, kernel)}, {text})", mark
                        )
                    ]
                sign = {"set": "=", "add": "+=", "multiply": "*="}[mode]
                return [_marked(f"{self.element(arg, index, kernel)} {sign} {text}", mark)]

    def const(self, value: float) -> str:
        return f"wp.float64({value!r})" if self.double else repr(value)

    def expr(self, expr: ir.Expr, kernel: ir.Kernel | None) -> str:
        match expr:
            case ir.Const(value):
                return self.const(value)
            case ir.Var(name):
                return name
            case ir.Load(arg, index):
                assert kernel is not None
                return self.element(arg, index, kernel)
            case ir.Unary("masked", operand):
                x = self.expr(operand, kernel)
                return f"wp.where({x} > {self.const(0.0)}, wp.sqrt({x}), {self.const(0.3)} * {x})"
            case ir.Unary(function, operand):
                return f"wp.{function}({self.expr(operand, kernel)})"
            case ir.Binary("%", left, right):
                return f"wp.mod({self.expr(left, kernel)}, {self.expr(right, kernel)})"
            case ir.Binary(operator, left, right):
                return f"({self.expr(left, kernel)} {operator} {self.expr(right, kernel)})"
            case ir.Call(function, operands):
                return f"{function}({', '.join(self.expr(o, kernel) for o in operands)})"
            case ir.Dot(left, right):
                return f"wp.dot({self.expr(left, kernel)}, {self.expr(right, kernel)})"
            case ir.Vector(components):
                return f"{self.dtype(len(components))}({', '.join(self.expr(c, kernel) for c in components)})"
            case ir.Component(operand, index):
                return f"{self.expr(operand, kernel)}[{index}]"

    def array(self, arg: str, kernel: ir.Kernel) -> str:
        struct = next(a.struct for a in kernel.args if a.name == arg)
        return f"s.{arg}" if struct else arg

    def element(self, arg: str, index: ir.Index, kernel: ir.Kernel) -> str:
        if next(a.by_value for a in kernel.args if a.name == arg):
            return arg
        return f"{self.array(arg, kernel)}[{self.index(index, arg, kernel)}]"

    def index(self, index: ir.Index, arg: str, kernel: ir.Kernel) -> str:
        length = f"{self.array(arg, kernel)}.shape[0]"
        match index:
            case "here":
                return "i"
            case "zero":
                return "0"
            case "left":
                return f"(i + {length} - 1) % {length}"
            case "right":
                return f"(i + 1) % {length}"
            case "gather":
                return f"{next(a.name for a in kernel.args if a.width == 0)}[i]"

    # -- memory

    def setup(self) -> list[str]:
        lines = [f"start_{b.name} = {self.literal(b)}" for b in self.program.parameters]
        lines += self.allocations("program")
        if self.program.kept_tapes:
            lines += [f"{name} = wp.Tape()" for name in self.tapes]
        names = [self.stepped(b) for b in self.program.parameters]
        if self.program.orphaned:
            lines += [f"{self.stepped(b)} = wp.clone({b.name}, requires_grad=True)" for b in self.program.parameters]
        match self.rule:
            case "momentum":
                lines += [f"velocity_{b.name} = np.zeros_like(start_{b.name})" for b in self.program.parameters]
            case "adam":
                for n in (b.name for b in self.program.parameters):
                    lines.append(f"first_{n}, second_{n} = np.zeros_like(start_{n}), np.zeros_like(start_{n})")
            case "SGD" | "Adam":
                lines.append(f"optimizer = warp.optim.{self.rule}([{', '.join(names)}], lr={self.rate!r})")
            case _:
                pass
        return lines

    def allocations(self, scope: str) -> list[str]:
        lines: list[str] = []
        late: list[str] = []
        names: set[str] = set()
        for buffer in self.program.buffers:
            iteration = self.program.rebuilt if buffer.role == "parameter" else buffer.scope == "iteration"
            if iteration == (scope == "iteration") and not self.is_cloned(buffer):
                lines.append(self.allocation(buffer))
                names.add(buffer.name)
                if buffer.late_flag:
                    late.append(_marked(f"{buffer.name}.requires_grad = True", buffer.mark))
        for struct in self.program.structs:
            if names.issuperset(struct.fields):
                lines.append(f"{_instance(struct)} = {struct.name}()")
                lines += [f"{_instance(struct)}.{f} = {f}" for f in struct.fields]
        return lines + late

    def stepped(self, parameter: ir.Buffer) -> str:
        """The array that the optimizer holds."""
        return f"held_{parameter.name}" if self.program.orphaned else parameter.name

    def is_cloned(self, buffer: ir.Buffer) -> bool:
        return any(
            isinstance(o, ir.Copy) and o.how in ("clone", "host") and o.target.buffer == buffer.name
            for s in self.program.statements
            for o in (s.body if isinstance(s, ir.Tape) else (s,))
        )

    def allocation(self, buffer: ir.Buffer) -> str:
        dtype = self.dtype(buffer.width)
        flag = ", requires_grad=True" if buffer.requires_grad and not buffer.late_flag and buffer.width else ""
        flag += ", retain_grad=True" if flag and buffer.retain else ""
        if buffer.role == "parameter":
            made = f"wp.array(start_{buffer.name}, dtype={dtype}{flag})"
        elif buffer.values:
            made = f"wp.array({self.literal(buffer)}, dtype={dtype}{flag})"
        elif buffer.rows and buffer.layout == "matrix":
            made = f"wp.zeros(({buffer.rows}, {buffer.length}), dtype={dtype}{flag})"
        else:
            made = f"wp.zeros({buffer.length}, dtype={dtype}{flag})"
        if buffer.rows and buffer.layout == "list":
            made = f"[{made} for _ in range({buffer.rows})]"
        return _marked(f"{buffer.name} = {made}", "" if buffer.late_flag and "RG" not in buffer.mark else buffer.mark)

    def literal(self, buffer: ir.Buffer) -> str:
        if buffer.width == 0:
            return f"np.array({[int(v) for v in buffer.values]})"
        values: object = list(buffer.values)
        if buffer.width > 1:
            flat = list(buffer.values)
            values = [flat[k : k + buffer.width] for k in range(0, len(flat), buffer.width)]
        return f"np.array({values}, dtype={self.host})"

    def ref(self, ref: ir.Ref) -> str:
        text = ref.buffer
        if isinstance(ref.row, ir.Step):
            step = f"t + {ref.row.offset}" if ref.row.offset else "t"
            text += f"[({step}) % {ref.row.modulo}]" if ref.row.modulo else f"[{step}]"
        elif ref.row is not None:
            text += f"[{ref.row}]"
        if ref.start is not None or ref.stop is not None:
            start = "" if ref.start is None else str(ref.start)
            stop = "" if ref.stop is None else str(ref.stop)
            text += f"[{start}:{stop}]"
        if ref.alias:
            buffer = self.program.buffer(ref.buffer)
            return f"wp.array(ptr={text}.ptr, shape={text}.shape, dtype={self.dtype(buffer.width)})"
        return text

    # -- the loop

    def loop(self) -> list[str]:
        inner = self.allocations("iteration")
        for statement in self.program.statements:
            inner += self.statement(statement)
        return [f"for it in range({self.program.iterations}):", *(indent(line, _INDENT) for line in inner)]

    def statement(self, statement: ir.Statement) -> list[str]:
        match statement:
            case ir.Tape(name, body):
                lines = [f"with {name}:"] if self.program.kept_tapes else [f"{name} = wp.Tape()", f"with {name}:"]
                return lines + [_INDENT + line for o in body for line in self.operation(o)]
            case ir.Backward():
                return [self.backward(statement)]
            case ir.Read(copied, mark):
                tail = ".copy()" if copied else ""
                return [
                    _marked(f"grad_{b.name} = {self.stepped(b)}.grad.numpy(){tail}", mark)
                    for b in self.program.parameters
                ]
            case ir.Clear(how, mark):
                if how == "tape":
                    return [_marked(f"{name}.zero()", mark) for name in self.tapes]
                return [_marked(f"{b.name}.grad.zero_()", mark) for b in self.program.parameters]
            case ir.Update():
                return [
                    self.report(),
                    *(line for b in self.program.parameters for line in self.update(b, statement.mark)),
                    *self.step(statement.mark),
                ]
            case _:
                return self.operation(statement)

    def operation(self, operation: ir.Operation) -> list[str]:
        match operation:
            case ir.Loop(count, body):
                lines = [f"for t in range({count}):"]
                return lines + [_INDENT + line for o in body for line in self.operation(o)]
            case ir.Launch(name, bindings, dim, mark, how):
                arguments = f"{name}, dim={dim}, inputs=[{self.inputs(name, bindings)}]"
                tail = {"launch": ")", "command": ", record_cmd=True).launch()", "silent": ", record_tape=False)"}[how]
                return [_marked(f"wp.launch({arguments}{tail}", mark)]
            case ir.Copy(target, source, how, mark):
                return [_marked(self.copy(target, source, how), mark)]
            case ir.Fill(target, value, how, mark):
                return [_marked(self.fill(target, value, how), mark)]

    def inputs(self, name: str, bindings: tuple[ir.Ref, ...]) -> str:
        inputs: list[str] = []
        structs = {s.name: _instance(s) for s in self.program.structs}
        for arg, ref in zip(self.program.kernel(name).args, bindings, strict=True):
            text = structs[arg.struct] if arg.struct else self.ref(ref)
            text = f"float({text}.numpy()[0])" if arg.by_value else text
            if not (arg.struct and text in inputs):
                inputs.append(text)
        return ", ".join(inputs)

    def copy(self, target: ir.Ref, source: ir.Ref, how: str) -> str:
        if how == "copy":
            return f"wp.copy({self.ref(target)}, {self.ref(source)})"
        if how == "assign":
            return f"{self.ref(target)}.assign({self.ref(source)})"
        if how == "host":
            dtype = self.dtype(self.program.buffer(target.buffer).width)
            return f"{target.buffer} = wp.array({self.ref(source)}.numpy(), dtype={dtype}, requires_grad=True)"
        flag = "True" if self.program.buffer(target.buffer).requires_grad else "False"
        return f"{target.buffer} = wp.clone({self.ref(source)}, requires_grad={flag})"

    def fill(self, target: ir.Ref, value: float, how: str) -> str:
        if how == "assign":
            return f"{self.ref(target)}.assign(np.full_like({self.ref(target)}.numpy(), {value!r}))"
        if how == "view":
            return f"{self.ref(target)}.numpy()[...] = {value!r}"
        return f"{self.ref(target)}.zero_()" if value == 0.0 else f"{self.ref(target)}.fill_({value!r})"

    def backward(self, backward: ir.Backward) -> str:
        if backward.seeds:
            seeds = ", ".join(f"{end}: {start}.grad" for end, start in backward.seeds)
            return _marked(f"{backward.tape}.backward(grads={{{seeds}}})", backward.mark)
        loss = self.program.buffer(backward.loss)
        if loss.length == 1 and backward.weight == 1.0:
            return _marked(f"{backward.tape}.backward({backward.loss})", backward.mark)
        seed = f"wp.full({loss.length}, {backward.weight!r}, dtype={self.scalar})"
        return _marked(f"{backward.tape}.backward(grads={{{backward.loss}: {seed}}})", backward.mark)

    def report(self) -> str:
        if self.program.reported:
            losses = f"{self.program.reported}.numpy()[0]"
        elif self.program.mean:
            losses = " + ".join(f"{b.name}.numpy().mean()" for b in self.program.losses)
        else:
            losses = " + ".join(f"{b.name}.numpy()[0]" for b in self.program.losses)
        parts = [f'"iter", it, "loss", float({losses})']
        for b in self.program.parameters:
            gradient = f"grad_{b.name}" if self.reads_on_host else f"{self.stepped(b)}.grad.numpy()"
            parts.append(f'"{b.name}", {b.name}.numpy().tolist(), "grad_{b.name}", {gradient}.tolist()')
        return f"print({', '.join(parts)})"

    @property
    def reads_on_host(self) -> bool:
        return self.rule in ("host", "momentum", "adam")

    def update(self, parameter: ir.Buffer, mark: str) -> list[str]:
        name, gradient = parameter.name, f"grad_{parameter.name}"
        new = f"start_{name}" if self.program.rebuilt else None
        match self.rule:
            case "kernel":
                held = self.stepped(parameter)
                return [_marked(f"wp.launch(descend, dim={parameter.length}, inputs=[{held}, {held}.grad])", mark)]
            case "SGD" | "Adam":
                return []
            case "host":
                lines, change = [], f"{self.rate!r} * {gradient}"
            case "momentum":
                lines = [f"velocity_{name} = 0.8 * velocity_{name} + {gradient}"]
                change = f"{self.rate!r} * velocity_{name}"
            case "adam":
                lines = [
                    f"first_{name} = 0.9 * first_{name} + 0.1 * {gradient}",
                    f"second_{name} = 0.99 * second_{name} + 0.01 * {gradient} ** 2",
                ]
                mean, scale = f"first_{name} / (1.0 - 0.9 ** (it + 1))", f"second_{name} / (1.0 - 0.99 ** (it + 1))"
                change = f"{self.rate!r} * ({mean}) / (np.sqrt({scale}) + 1e-8)"
        if new:
            return [*lines, f"{new} = ({new} - {change}).astype({self.host})"]
        held = self.stepped(parameter)
        return [*lines, _marked(f"{held}.assign(({held}.numpy() - {change}).astype({self.host}))", mark)]

    def step(self, mark: str) -> list[str]:
        names = ", ".join(f"{self.stepped(b)}.grad" for b in self.program.parameters)
        return [_marked(f"optimizer.step([{names}])", mark)] if self.rule in ("SGD", "Adam") else []


def _instance(struct: ir.Struct) -> str:
    return struct.name.lower()
