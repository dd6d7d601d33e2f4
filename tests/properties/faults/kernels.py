"""Faults of kernels: the adjoint of one launch is not its derivative."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from tests.properties import ir
from tests.properties.expressions import loads, number, plus, rereads, times
from tests.properties.faults.edits import with_kernel


def wrong_adjoint(program: ir.Program, rng: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG410: a kernel takes a remainder, whose adjoint by the divisor is missing in Warp; far from its steps.

    What only linear kernels read may be overwritten, and would be a second fault.
    """
    for kernel in program.kernels:
        stores = [s for s in kernel.body if isinstance(s, ir.Store)]
        if len(stores) != 1 or stores[0].mode != "set" or stores[0].index != "here":
            continue
        target = next(a for a in kernel.args if a.name == stores[0].arg)
        read = [load for s in kernel.body for load in loads(s.value) if load.arg != target.name]
        scalars = [load for load in read if next(a for a in kernel.args if a.name == load.arg).width == 1]
        scalars = [load for load in scalars if rereads(kernel, load.arg)]
        if target.width != 1 or not scalars:
            continue
        wave = ir.Unary("sin", times(number(rng), scalars[0]))
        divisor = plus(ir.Const(3.0), times(ir.Const(0.4), wave))
        dividend = plus(ir.Const(4.6), times(ir.Const(0.1), ir.Unary("cos", scalars[0])))
        value = plus(stores[0].value, ir.Binary("%", dividend, divisor))
        body = tuple(replace(s, value=value, mark="RG410") if s is stores[0] else s for s in kernel.body)
        yield "remainder by a variable", with_kernel(program, replace(kernel, body=body, mark="RG410"))
