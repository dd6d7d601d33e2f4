"""What a program means: its objective and exact gradient, in NumPy, in double precision, without Warp.

Memory is complex. The imaginary part of the objective at a parameter moved by 1e-30 i is the derivative to rounding,
because every function is analytic (Squire and Trapp 1998, doi:10.1137/S003614459631241X).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from tests.properties import ir

Complex = npt.NDArray[np.complex128]
Float = npt.NDArray[np.float64]
Memory = dict[str, npt.NDArray[np.generic]]

_STEP = 1e-30


def _masked(x: Complex) -> Complex:
    positive = x.real > 0.0
    return np.where(positive, np.sqrt(np.where(positive, x, 1.0)), 0.3 * x)


_FUNCTIONS = {"sin": np.sin, "cos": np.cos, "tanh": np.tanh, "exp": np.exp, "sqrt": np.sqrt, "masked": _masked}


class Interpreter:
    """Runs a program's iterations, at parameters that are given.

    What an iteration leaves in buffers of program scope is what the next one finds.
    """

    def __init__(self, program: ir.Program) -> None:
        self.program = program
        self._memory: Memory = {b.name: allocate(b) for b in program.buffers}

    def gradient(self, parameters: Mapping[str, Float]) -> dict[str, Float]:
        """The objective's exact gradient at `parameters`, in memory as it is now."""
        gradients: dict[str, Float] = {}
        for buffer in self.program.parameters:
            at = np.asarray(parameters[buffer.name], dtype=np.complex128).ravel()
            gradient = np.zeros(at.size)
            for element in range(at.size):
                moved = at.copy()
                moved[element] += 1j * _STEP
                gradient[element] = self._objective(parameters | {buffer.name: moved}).imag / _STEP
            gradients[buffer.name] = gradient
        return gradients

    def advance(self, parameters: Mapping[str, Float]) -> float:
        """Run one iteration at `parameters`: its objective; memory is left as the iteration leaves it."""
        memory = self._start(parameters)
        objective = self._run(memory)
        self._memory = memory
        return objective.real

    def _objective(self, parameters: Mapping[str, Float]) -> complex:
        return self._run(self._start(parameters))

    def _start(self, parameters: Mapping[str, Float]) -> Memory:
        memory: Memory = {}
        for buffer in self.program.buffers:
            if buffer.role == "parameter":
                shape = self._memory[buffer.name].shape
                memory[buffer.name] = np.asarray(parameters[buffer.name], dtype=np.complex128).reshape(shape).copy()
            elif buffer.scope == "iteration":
                memory[buffer.name] = allocate(buffer)
            else:
                memory[buffer.name] = self._memory[buffer.name].copy()
        return memory

    def _run(self, memory: Memory) -> complex:
        objective = 0.0 + 0.0j
        counted: set[str] = set()
        for statement in self.program.statements:
            if isinstance(statement, ir.Tape):
                for operation in statement.body:
                    execute(self.program, memory, operation)
            elif isinstance(statement, ir.Launch | ir.Copy | ir.Fill | ir.Loop):
                execute(self.program, memory, statement)
            elif isinstance(statement, ir.Backward) and not statement.seeds and statement.loss not in counted:
                values = memory[statement.loss]
                counted.add(statement.loss)
                if self.program.reported:
                    values = memory[self.program.reported]
                objective += complex(values.mean() if self.program.mean else values.sum())
        return objective


def allocate(buffer: ir.Buffer) -> npt.NDArray[np.generic]:
    """A new buffer's contents."""
    shape: tuple[int, ...] = (buffer.length,) if buffer.rows == 0 else (buffer.rows, buffer.length)
    if buffer.width == 0:
        return np.asarray(buffer.values, dtype=np.int64).reshape(shape)
    if buffer.width > 1:
        shape = (*shape, buffer.width)
    if not buffer.values:
        return np.zeros(shape, dtype=np.complex128)
    return np.asarray(buffer.values, dtype=np.complex128).reshape(shape)


def execute(program: ir.Program, memory: Memory, operation: ir.Operation, turn: int = 0) -> None:
    """Carry out one operation."""
    match operation:
        case ir.Loop(count, body):
            for t in range(count):
                for inner in body:
                    execute(program, memory, inner, t)
        case ir.Copy(target, source, _, _):
            resolve(memory, target, turn)[...] = resolve(memory, source, turn)
        case ir.Fill(target, value, _, _):
            resolve(memory, target, turn)[...] = value
        case ir.Launch(name, bindings, dim, _, _):
            kernel = program.kernel(name)
            arrays = {a.name: resolve(memory, r, turn) for a, r in zip(kernel.args, bindings, strict=True)}
            _Threads(program, kernel, arrays, dim).run()


def resolve(memory: Memory, ref: ir.Ref, turn: int) -> npt.NDArray[np.generic]:
    """The view that a reference means."""
    array = memory[ref.buffer]
    if ref.row is not None:
        array = array[row_of(ref.row, turn)]
    if ref.start is not None or ref.stop is not None:
        array = array[ref.start : ref.stop]
    return array


def row_of(row: int | ir.Step, turn: int) -> int:
    """The row of a reference in one turn of its loop."""
    if isinstance(row, int):
        return row
    index = turn + row.offset
    return index % row.modulo if row.modulo else index


class _Threads:
    """All threads of one launch, a statement at a time: threads never read what others write."""

    def __init__(
        self, program: ir.Program, kernel: ir.Kernel, arrays: Mapping[str, npt.NDArray[np.generic]], dim: int
    ) -> None:
        self.program = program
        self.kernel = kernel
        self.arrays = arrays
        self.dim = dim
        self.locals: dict[str, Complex] = {}

    def run(self) -> None:
        for statement in self.kernel.body:
            match statement:
                case ir.Let(name, value):
                    self.locals[name] = self.value(value)
                case ir.Shelve(name, value):
                    self.locals[name] = self.value(value) ** 2
                case ir.Grow(name, value, factor, count):
                    self.locals[name] = self.value(value) * self.value(factor) ** count
                case ir.Rebuild(name, value, factor):
                    self.locals[name] = self.value(value) * self.value(factor)
                case ir.Sum(arg, value, count):
                    self.arrays[arg][0] += _Threads(self.program, self.kernel, self.arrays, count).value(value).sum()
                case ir.Store():
                    self.store(statement)

    def store(self, store: ir.Store) -> None:
        target, where = self.arrays[store.arg], self.where(store.index, self.arrays[store.arg].shape[0])
        value = self.value(store.value)
        if store.mode == "atomic":
            np.add.at(target, where, np.broadcast_to(value, (self.dim, *target.shape[1:])))
        elif store.mode == "set":
            target[where] = value
        elif store.mode == "add":
            target[where] = target[where] + value
        else:
            target[where] = target[where] * value

    def where(self, index: ir.Index, length: int) -> npt.NDArray[np.int64]:
        here = np.arange(self.dim)
        match index:
            case "here":
                return here
            case "left":
                return (here + length - 1) % length
            case "right":
                return (here + 1) % length
            case "zero":
                return np.zeros(self.dim, dtype=np.int64)
            case "gather":
                pointers = next(a for a in self.kernel.args if a.width == 0)
                return np.asarray(self.arrays[pointers.name][: self.dim], dtype=np.int64)

    def value(self, expr: ir.Expr) -> Complex:
        match expr:
            case ir.Const(value):
                return np.full(self.dim, value, dtype=np.complex128)
            case ir.Var(name):
                return self.locals[name]
            case ir.Load(arg, index):
                array = self.arrays[arg]
                return array[self.where(index, array.shape[0])].astype(np.complex128)
            case ir.Unary(function, operand):
                return _FUNCTIONS[function](self.value(operand))
            case ir.Binary(operator, left, right):
                return _binary(operator, self.value(left), self.value(right))
            case ir.Call(name, operands):
                return self.call(name, operands)
            case ir.Dot(left, right):
                return (self.value(left) * self.value(right)).sum(axis=-1)
            case ir.Vector(components):
                return np.stack([self.value(c) for c in components], axis=-1)
            case ir.Component(operand, index):
                return self.value(operand)[..., index]

    def call(self, name: str, operands: tuple[ir.Expr, ...]) -> Complex:
        function = next(f for f in self.program.functions if f.name == name)
        inner = _Threads(self.program, self.kernel, self.arrays, self.dim)
        inner.locals = {p: self.value(o) for p, o in zip(function.parameters, operands, strict=True)}
        return inner.value(function.value)


def _binary(operator: str, left: Complex, right: Complex) -> Complex:
    if left.ndim < right.ndim:
        left = left[..., None]
    elif right.ndim < left.ndim:
        right = right[..., None]
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "%":
            return left - right * np.trunc((left / right).real)
        case _:
            return left / right
