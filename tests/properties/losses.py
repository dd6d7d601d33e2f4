"""The losses that random programs end in."""

from __future__ import annotations

from tests.properties import ir
from tests.properties.expressions import number, plus, times
from tests.properties.workbench import Signal, Workbench


def add_loss(bench: Workbench, tape: str, number_of_tape: int) -> ir.Statement:
    name = "loss" if bench.tapes == 1 else f"loss_{number_of_tape}"
    scope = "program" if bench.hoisted and bench.rng.random() < 0.5 else "iteration"
    if bench.mean:
        return _add_mean(bench, tape, name)
    loss = ir.Buffer(name, 1, role="loss", scope=scope)  # pyright: ignore[reportArgumentType]
    bench.buffers.append(loss)
    bench.cleared(loss)
    if len(bench.unread) > 1 and bench.rng.random() < 0.4:
        _merge(bench, bench.length)
    if len(bench.unread) == 1 and bench.rng.random() < 0.5:
        source = bench.unread[0]
        term = _term(bench, ir.Load("a"), source.width)
        kernel = bench.kernel(
            "score", [ir.Arg("a", source.width), ir.Arg("loss")], [ir.Sum("loss", term, source.length)]
        )
        bench.launch(kernel, [source.ref, ir.Ref(name)], 1)
    else:
        for source in bench.unread:
            term = _term(bench, ir.Load("a"), source.width)
            store = ir.Store("loss", term, "atomic", "zero")
            kernel = bench.kernel("score", [ir.Arg("a", source.width), ir.Arg("loss")], [store])
            bench.launch(kernel, [source.ref, ir.Ref(name)], source.length)
    return ir.Backward(tape, name)


def _add_mean(bench: Workbench, tape: str, name: str) -> ir.Statement:
    merged = _merge(bench, bench.length)
    loss = ir.Buffer(name, merged.length, role="loss")
    bench.buffers.append(loss)
    term = _term(bench, ir.Load("a"), merged.width)
    kernel = bench.kernel("score", [ir.Arg("a", merged.width), ir.Arg("loss")], [ir.Store("loss", term)])
    bench.launch(kernel, [merged.ref, ir.Ref(name)], merged.length)
    return ir.Backward(tape, name, 1.0 / merged.length)


def _term(bench: Workbench, load: ir.Expr, width: int) -> ir.Expr:
    residual = ir.Binary("-", bench.scalar(load, width), number(bench.rng, 0.3, 0.9))
    if bench.rng.random() < 0.7:
        return times(residual, residual)
    return plus(times(ir.Const(0.5), times(residual, residual)), ir.Unary("sin", residual))


def _merge(bench: Workbench, length: int) -> Signal:
    """Bring all that is unread into one array, by pointers."""
    sources = list(bench.unread)
    args: list[ir.Arg] = [ir.Arg("where", 0)]
    out = bench.buffer("merged", length)
    shortest = min(s.length for s in sources)
    pointers = bench.pointers(length, shortest)
    total: ir.Expr = ir.Const(0.1)
    for k, source in enumerate(sources):
        args.append(ir.Arg(f"a{k}", source.width))
        total = plus(total, times(number(bench.rng), bench.scalar(ir.Load(f"a{k}", "gather"), source.width)))
    kernel = bench.kernel("merge", [*args, ir.Arg("out")], [ir.Store("out", ir.Unary("tanh", total))])
    bench.launch(kernel, [ir.Ref(pointers.name), *(s.ref for s in sources), ir.Ref(out.name)], length)
    bench.made(ir.Ref(out.name), length, 1, sources)
    return bench.signals[-1]
