"""Random smooth expressions, and which of their operands an adjoint has to read again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tests.properties import ir


def number(rng: np.random.Generator, low: float = 0.5, high: float = 1.3) -> ir.Const:
    """A constant of either sign with an exact short decimal form."""
    sign = 1.0 if rng.random() < 0.7 else -1.0
    return ir.Const(round(sign * float(rng.uniform(low, high)), 2))


def times(factor: ir.Expr, operand: ir.Expr) -> ir.Expr:
    return ir.Binary("*", factor, operand)


def plus(left: ir.Expr, right: ir.Expr) -> ir.Expr:
    return ir.Binary("+", left, right)


def affine(rng: np.random.Generator, operand: ir.Expr) -> ir.Expr:
    return plus(times(number(rng), operand), number(rng, 0.1, 0.4))


def linear(rng: np.random.Generator, operands: Sequence[ir.Expr]) -> ir.Expr:
    """A weighted sum whose weights add up to at most one."""
    weight = 1.0 / len(operands)
    total: ir.Expr = times(number(rng, 0.5 * weight, weight), operands[0])
    for operand in operands[1:]:
        total = plus(total, times(number(rng, 0.5 * weight, weight), operand))
    return total


def nonlinear(rng: np.random.Generator, operands: Sequence[ir.Expr], functions: Sequence[ir.Function]) -> ir.Expr:
    """A function of scalars, nonlinear in the first, which stays of order one where they do."""
    first = operands[0]
    rest = operands[1:]
    choice = int(rng.integers(0, 8 if functions else 7))
    if choice == 0:
        value: ir.Expr = ir.Unary("sin", affine(rng, first))
    elif choice == 1:
        value = times(number(rng), ir.Unary("tanh", affine(rng, first)))
    elif choice == 2:
        value = ir.Unary("cos", plus(times(number(rng), first), number(rng, 0.8, 1.2)))
    elif choice == 3:
        value = ir.Binary("/", first, plus(ir.Const(1.0), times(first, first)))
    elif choice == 4:
        value = ir.Unary("sqrt", plus(ir.Const(1.2), times(first, first)))
    elif choice == 5:
        value = times(number(rng), ir.Unary("exp", times(ir.Const(-0.5), times(first, first))))
        value = plus(value, times(number(rng, 0.3, 0.6), first))
    elif choice == 6:
        value = times(ir.Unary("tanh", first), affine(rng, first))
    else:
        value = ir.Call(functions[int(rng.integers(len(functions)))].name, (first, number(rng)))
    for operand in rest:
        if rng.random() < 0.5:
            value = times(value, ir.Unary("cos", times(number(rng), operand)))
            value = plus(value, times(number(rng, 0.2, 0.5), operand))
        else:
            value = plus(times(number(rng, 0.4, 0.9), value), times(ir.Unary("sin", operand), first))
            value = ir.Unary("tanh", value)
    return value


def rereads(kernel: ir.Kernel, arg: str) -> bool:
    """Whether the kernel's adjoint needs the contents of `arg`: it enters an operation that is not linear."""
    lets = {s.name: s.value for s in kernel.body if isinstance(s, ir.Let)}
    values = [s.value for s in kernel.body if not isinstance(s, ir.Let)]
    multiplied = any(isinstance(s, ir.Store) and s.mode == "multiply" for s in kernel.body)
    return any(_nonlinear_in(v, arg, lets) for v in values) or (multiplied and reads(kernel, arg))


def reads(kernel: ir.Kernel, arg: str) -> bool:
    """Whether the kernel loads from `arg`."""
    return any(_loads(s.value, arg, {}) for s in kernel.body)


def read_here_only(kernel: ir.Kernel, arg: str) -> bool:
    """Whether every load from `arg` is of the thread's own element, in a kernel of one thread an element."""
    if any(isinstance(s, ir.Sum) for s in kernel.body):
        return False
    return all(load.index == "here" for s in kernel.body for load in loads(s.value) if load.arg == arg)


def loads(expr: ir.Expr) -> list[ir.Load]:
    """All loads of an expression, without those of its local variables."""
    if isinstance(expr, ir.Load):
        return [expr]
    return [load for child in _children(expr) for load in loads(child)]


def _children(expr: ir.Expr) -> tuple[ir.Expr, ...]:
    match expr:
        case ir.Unary(_, operand) | ir.Component(operand, _):
            return (operand,)
        case ir.Binary(_, left, right) | ir.Dot(left, right):
            return (left, right)
        case ir.Call(_, operands):
            return operands
        case ir.Vector(components):
            return components
        case _:
            return ()


def _loads(expr: ir.Expr, arg: str, lets: dict[str, ir.Expr]) -> bool:
    if isinstance(expr, ir.Var):
        return expr.name in lets and _loads(lets[expr.name], arg, lets)
    if isinstance(expr, ir.Load):
        return expr.arg == arg
    return any(_loads(c, arg, lets) for c in _children(expr))


def _nonlinear_in(expr: ir.Expr, arg: str, lets: dict[str, ir.Expr]) -> bool:
    match expr:
        case ir.Var(name):
            return name in lets and _nonlinear_in(lets[name], arg, lets)
        case ir.Unary() | ir.Call() | ir.Dot():
            return _loads(expr, arg, lets)
        case ir.Binary("*" | "/" | "%", left, right):
            if isinstance(left, ir.Const):
                return _nonlinear_in(right, arg, lets)
            return _loads(expr, arg, lets)
        case _:
            return any(_nonlinear_in(c, arg, lets) for c in _children(expr))
