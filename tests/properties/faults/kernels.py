"""Faults of kernels: the adjoint of one launch is not its derivative.

What only linear kernels read may be overwritten, and would be a second fault; so faults go into terms of arrays that a
kernel's adjoint reads again anyway.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from tests.properties import ir
from tests.properties.expressions import loads, number, plus, rereads, times
from tests.properties.faults.edits import with_kernel

Places = Iterator[tuple[str, ir.Program]]


def _stores(program: ir.Program) -> Iterator[tuple[ir.Kernel, ir.Store, ir.Load]]:
    """Kernels with one plain store of a scalar, and a scalar that they read again."""
    for kernel in program.kernels:
        stores = [s for s in kernel.body if isinstance(s, ir.Store)]
        if len(stores) != 1 or stores[0].mode != "set" or stores[0].index != "here":
            continue
        target = next(a for a in kernel.args if a.name == stores[0].arg)
        read = [load for s in kernel.body for load in loads(s.value) if load.arg != target.name]
        scalars = [load for load in read if next(a for a in kernel.args if a.name == load.arg).width == 1]
        scalars = [load for load in scalars if rereads(kernel, load.arg)]
        if target.width == 1 and scalars:
            yield kernel, stores[0], scalars[0]


def _with(
    program: ir.Program,
    kernel: ir.Kernel,
    store: ir.Store,
    term: ir.Expr,
    before: tuple[ir.KernelStatement, ...] = (),
    mark: str = "",
) -> ir.Program:
    """The program with a term added to what a kernel stores."""
    changed = replace(store, value=plus(store.value, term), mark=mark)
    body: list[ir.KernelStatement] = []
    for statement in kernel.body:
        body += [*before, changed] if statement is store else [statement]
    return with_kernel(program, replace(kernel, body=tuple(body)))


def in_place_product(program: ir.Program, rng: np.random.Generator) -> Places:
    """RG401: what has been stored is multiplied in place; Warp refuses that for fields of structs."""
    for kernel, store, load in _stores(program):
        if next(a for a in kernel.args if a.name == store.arg).struct:
            continue
        factor = plus(ir.Const(1.0), times(ir.Const(0.4), ir.Unary("sin", times(number(rng), load))))
        product = ir.Store(store.arg, factor, "multiply", mark="RG401")
        body = [p for s in kernel.body for p in ((s, product) if s is store else (s,))]
        yield "product in place", with_kernel(program, replace(kernel, body=tuple(body)))


def component_assigned_twice(program: ir.Program, rng: np.random.Generator) -> Places:
    """RG402: a product is computed in a component of a local vector."""
    for kernel, store, load in _stores(program):
        factor = plus(ir.Const(1.0), times(number(rng), ir.Unary("cos", load)))
        rebuilt = ir.Rebuild("twice", plus(load, ir.Const(0.4)), factor, "RG402")
        yield "component", _with(program, kernel, store, times(ir.Const(0.6), ir.Var("twice")), (rebuilt,))


def dynamic_loop(program: ir.Program, rng: np.random.Generator) -> Places:
    """RG403: a power is computed in a loop whose bound is known at run time only."""
    for kernel, store, load in _stores(program):
        factor = plus(ir.Const(1.0), times(ir.Const(0.3), ir.Unary("sin", times(number(rng), load))))
        grown = ir.Grow("grown", plus(load, ir.Const(0.5)), factor, int(rng.integers(2, 5)), "RG403")
        yield "loop", _with(program, kernel, store, times(ir.Const(0.6), ir.Var("grown")), (grown,))


def custom_adjoint_value(program: ir.Program, rng: np.random.Generator) -> Places:
    """RG404: a function's custom adjoint has a factor, a sign or an argument wrong."""
    bent, square = ir.Unary("tanh", ir.Var("a")), plus(ir.Const(1.0), times(ir.Var("b"), ir.Var("b")))
    value = times(bent, square)
    slopes = (
        times(ir.Binary("-", ir.Const(1.0), times(bent, bent)), square),
        times(bent, times(ir.Const(2.0), ir.Var("b"))),
    )
    wrong = {"factor": (1.0, 0.5), "sign": (-1.0, 1.0), "missing argument": (0.0, 1.0)}
    for kernel, store, load in _stores(program):
        for route, factors in wrong.items():
            function = ir.Function("react", ("a", "b"), value, slopes=slopes, factors=factors, mark="RG404")
            called = ir.Call("react", (load, ir.Unary("cos", load)))
            extended = replace(program, functions=(*program.functions, function))
            yield route, _with(extended, kernel, store, times(number(rng, 0.5, 0.9), called))


def custom_adjoint_assigns(program: ir.Program, rng: np.random.Generator) -> Places:
    """RG405: a function's custom adjoint assigns, and its argument is used again."""
    a, turned = ir.Var("a"), ir.Unary("cos", ir.Var("a"))
    slope = ir.Binary("-", turned, times(a, ir.Unary("sin", a)))
    function = ir.Function(
        "react", ("a",), times(a, turned), slopes=(slope,), factors=(1.0,), assigns=True, mark="RG405"
    )
    for kernel, store, load in _stores(program):
        kept = ir.Let("shared", load)
        once, again = ir.Call("react", (ir.Var("shared"),)), times(number(rng), ir.Unary("sin", ir.Var("shared")))
        extended = replace(program, functions=(*program.functions, function))
        yield "assignment", _with(extended, kernel, store, plus(once, again), (kept,))


def native_function(program: ir.Program, _: np.random.Generator) -> Places:
    """RG407: a function is native code without an adjoint."""
    a = ir.Var("a")
    value = plus(times(ir.Const(0.3), times(a, a)), times(ir.Const(0.5), a))
    function = ir.Function("react", ("a",), value, native=True, mark="RG407")
    for kernel, store, load in _stores(program):
        extended = replace(program, functions=(*program.functions, function))
        yield "native", _with(extended, kernel, store, ir.Call("react", (load,)))


def unselected_branch(program: ir.Program, _: np.random.Generator) -> Places:
    """RG408: a square root of what may be negative is masked by a selection; the first gradient is NaN already."""
    for kernel, store, load in _stores(program):
        term = ir.Unary("masked", plus(load, ir.Const(0.05)))
        planted = _with(program, kernel, store, times(ir.Const(0.4), term), mark="RG408")
        yield "selection", replace(planted, iterations=1)


def singular_point(program: ir.Program, _: np.random.Generator) -> Places:
    """RG409: a square through its root, at zero in the first thread."""
    for kernel, store, load in _stores(program):
        apart = ir.Binary("-", load, replace(load, index="zero"))
        root = ir.Unary("sqrt", times(apart, apart))
        planted = _with(program, kernel, store, times(ir.Const(0.4), times(root, root)), mark="RG409")
        yield "root of a square", replace(planted, iterations=1)


def own_array(program: ir.Program, rng: np.random.Generator) -> Places:
    """RG410: a value lies in an array of the thread's own for a moment; Warp names no line for it, nor do we."""
    for kernel, store, load in _stores(program):
        shelve = ir.Shelve("kept", times(number(rng), ir.Unary("sin", load)))
        planted = _with(program, kernel, store, ir.Var("kept"), (shelve,))
        changed = planted.kernel(kernel.name)
        yield "array of the thread's own", with_kernel(planted, replace(changed, mark="RG410"))


def wrong_adjoint(program: ir.Program, rng: np.random.Generator) -> Places:
    """RG206: a kernel takes a remainder, whose adjoint by the divisor is missing in Warp; far from its steps."""
    for kernel, store, load in _stores(program):
        wave = ir.Unary("sin", times(number(rng), load))
        divisor = plus(ir.Const(3.0), times(ir.Const(0.4), wave))
        dividend = plus(ir.Const(4.6), times(ir.Const(0.1), ir.Unary("cos", load)))
        term = ir.Binary("%", dividend, divisor)
        yield "remainder by a variable", _with(program, kernel, store, term, mark="RG206")
