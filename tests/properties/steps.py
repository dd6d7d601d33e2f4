"""The steps that a random program is made of: each reads signals, and makes new ones."""

from __future__ import annotations

from dataclasses import replace

from tests.properties import ir
from tests.properties.expressions import affine, linear, nonlinear, number, plus, times
from tests.properties.workbench import Signal, Workbench


def elementwise(bench: Workbench) -> None:
    sources = bench.pick(int(bench.rng.integers(1, 4)))
    args, operands, body = bench.inputs(sources)
    out = bench.buffer("state", sources[0].length)
    body.append(ir.Store("out", nonlinear(bench.rng, operands, bench.functions)))
    kernel = bench.kernel("map", [*args, ir.Arg("out")], body)
    bench.launch(kernel, [*(s.ref for s in sources), ir.Ref(out.name)], out.length)
    bench.made(ir.Ref(out.name), out.length, 1, sources)


def stencil(bench: Workbench) -> None:
    (source, *_) = bench.pick(1)
    out = bench.buffer("smooth", source.length)
    left, here, right = (bench.scalar(ir.Load("a", k), source.width) for k in ("left", "here", "right"))
    flux = ir.Binary("-", left, times(ir.Const(2.0), here))
    value = plus(nonlinear(bench.rng, [here], bench.functions), times(ir.Const(0.2), plus(flux, right)))
    if bench.rng.random() < 0.4:
        value = times(ir.Unary("sin", left), plus(here, times(number(bench.rng), right)))
    kernel = bench.kernel("stencil", [ir.Arg("a", source.width), ir.Arg("out")], [ir.Store("out", value)])
    bench.launch(kernel, [source.ref, ir.Ref(out.name)], out.length)
    bench.made(ir.Ref(out.name), out.length, 1, [source])


def gather(bench: Workbench) -> None:
    (source, *_) = bench.pick(1)
    count = int(bench.rng.integers(source.length, source.length + 3))
    pointers = bench.pointers(count, source.length)
    out = bench.buffer("picked", count)
    value = nonlinear(bench.rng, [bench.scalar(ir.Load("a", "gather"), source.width)], bench.functions)
    args = [ir.Arg("a", source.width), ir.Arg("where", 0), ir.Arg("out")]
    kernel = bench.kernel("gather", args, [ir.Store("out", value)])
    bench.launch(kernel, [source.ref, ir.Ref(pointers.name), ir.Ref(out.name)], count)
    bench.made(ir.Ref(out.name), count, 1, [source])


def scatter(bench: Workbench) -> None:
    (source, *_) = bench.pick(1)
    size = int(bench.rng.integers(2, source.length + 1))
    out = bench.buffer("binned", size)
    bench.cleared(out)
    _launch_scatter(bench, source, out, bench.pointers(source.length, size))
    bench.made(ir.Ref(out.name), size, 1, [source])


def _launch_scatter(bench: Workbench, source: Signal, out: ir.Buffer, pointers: ir.Buffer) -> None:
    value = nonlinear(bench.rng, [bench.scalar(ir.Load("a"), source.width)], bench.functions)
    args = [ir.Arg("a", source.width), ir.Arg("where", 0), ir.Arg("out")]
    kernel = bench.kernel("scatter", args, [ir.Store("out", value, "atomic", "gather")])
    bench.launch(kernel, [source.ref, ir.Ref(pointers.name), ir.Ref(out.name)], source.length)


def accumulate(bench: Workbench) -> None:
    """Add in place to what nothing has read yet."""
    fresh = [s for s in bench.unread if s.width == 1 and s.whole and s not in bench.leaves]
    if not fresh:
        return elementwise(bench)
    target = fresh[int(bench.rng.integers(len(fresh)))]
    sources = [s for s in bench.pick(2, target.length) if s != target]
    if not sources:
        return elementwise(bench)
    args, operands, body = bench.inputs(sources)
    value = nonlinear(bench.rng, operands, bench.functions)
    if bench.rng.random() < 0.5:
        body.append(ir.Store("out", value, "add"))
    else:
        body.append(ir.Store("out", plus(ir.Load("out"), value)))
    kernel = bench.kernel("accumulate", [*args, ir.Arg("out")], body)
    bench.launch(kernel, [*(s.ref for s in sources), target.ref], target.length)
    bench.signals.remove(target)
    bench.unread.remove(target)
    return bench.made(target.ref, target.length, 1, [*sources, replace(target, tainted=True)])


def vector(bench: Workbench) -> None:
    width = int(bench.rng.integers(2, 4))
    sources = bench.pick(2)
    args, operands, body = bench.inputs(sources)
    components = [nonlinear(bench.rng, operands[k % len(operands) :], bench.functions) for k in range(width)]
    out = bench.buffer("arrow", sources[0].length, width)
    value: ir.Expr = ir.Vector(tuple(components))
    if bench.rng.random() < 0.4:
        value = times(ir.Unary("cos", operands[0]), value)
    body.append(ir.Store("out", value))
    kernel = bench.kernel("vector", [*args, ir.Arg("out", width)], body)
    bench.launch(kernel, [*(s.ref for s in sources), ir.Ref(out.name)], out.length)
    bench.made(ir.Ref(out.name), out.length, width, sources)


def through_struct(bench: Workbench) -> None:
    """A kernel whose arrays are the fields of one struct."""
    scope = {b.name: ("iteration" if b.role == "parameter" and bench.rebuilt else b.scope) for b in bench.buffers}
    usable = [s for s in bench.unread if s.ref == ir.Ref(s.ref.buffer) and not bench.is_clone(s.ref.buffer)]
    if not usable or bench.wishes.segments:
        return elementwise(bench)
    source = usable[int(bench.rng.integers(len(usable)))]
    out = bench.buffer("inner", source.length, scope=scope[source.ref.buffer])
    name = f"Bundle{len(bench.structs)}"
    bench.structs.append(ir.Struct(name, (source.ref.buffer, out.name)))
    load = bench.scalar(ir.Load(source.ref.buffer), source.width)
    value = nonlinear(bench.rng, [load], bench.functions)
    args = [ir.Arg(source.ref.buffer, source.width, name), ir.Arg(out.name, 1, name)]
    kernel = bench.kernel("bundle", args, [ir.Store(out.name, value)])
    bench.launch(kernel, [source.ref, ir.Ref(out.name)], out.length)
    return bench.made(ir.Ref(out.name), out.length, 1, [source])


def halves(bench: Workbench) -> None:
    """Two kernels write two slices of one array."""
    (source, *_) = bench.pick(1)
    if source.ref.start is not None:
        return elementwise(bench)
    middle = source.length // 2
    out = bench.buffer("parts", source.length)
    for start, stop in ((0, middle), (middle, source.length)):
        value = nonlinear(bench.rng, [bench.scalar(ir.Load("a"), source.width)], bench.functions)
        kernel = bench.kernel("part", [ir.Arg("a", source.width), ir.Arg("out")], [ir.Store("out", value)])
        piece = replace(source.ref, start=start, stop=stop)
        bench.launch(kernel, [piece, ir.Ref(out.name, start=start, stop=stop)], stop - start)
    return bench.made(ir.Ref(out.name), out.length, 1, [source])


def overlapping(bench: Workbench) -> None:
    """One kernel reads two slices of one array that overlap."""
    (source, *_) = bench.pick(1)
    if source.ref.start is not None or source.length < 3:
        return elementwise(bench)
    out = bench.buffer("edges", source.length - 1)
    loads = [bench.scalar(ir.Load(a), source.width) for a in ("low", "high")]
    value = nonlinear(bench.rng, [ir.Binary("-", loads[1], loads[0]), loads[0]], bench.functions)
    args = [ir.Arg("low", source.width), ir.Arg("high", source.width), ir.Arg("out")]
    kernel = bench.kernel("difference", args, [ir.Store("out", value)])
    low = replace(source.ref, start=0, stop=out.length)
    high = replace(source.ref, start=1, stop=source.length)
    bench.launch(kernel, [low, high, ir.Ref(out.name)], out.length)
    return bench.made(ir.Ref(out.name), out.length, 1, [source])


def _begin_rows(bench: Workbench, source: Signal, rows: ir.Buffer) -> None:
    """The first row, from a signal."""
    value = affine(bench.rng, bench.scalar(ir.Load("a"), source.width))
    kernel = bench.kernel("begin", [ir.Arg("a", source.width), ir.Arg("out")], [ir.Store("out", value)])
    bench.launch(kernel, [source.ref, ir.Ref(rows.name, 0)], rows.length)


def history(bench: Workbench) -> None:
    """A loop that keeps every state."""
    (source, *_) = bench.pick(1)
    turns = int(bench.rng.integers(2, 5))
    layout = "matrix" if bench.rng.random() < 0.5 else "list"
    rows = bench.buffer("history", source.length, rows=turns + 1, layout=layout)
    _begin_rows(bench, source, rows)
    here = ir.Load("now")
    value = plus(times(ir.Const(0.6), here), nonlinear(bench.rng, [here], bench.functions))
    if bench.rng.random() < 0.5:
        value = plus(value, times(ir.Const(0.3), ir.Unary("sin", ir.Load("now", "left"))))
    value = plus(value, times(ir.Const(0.1), bench.scalar(ir.Load("drive"), source.width)))
    args = [ir.Arg("now"), ir.Arg("drive", source.width), ir.Arg("following")]
    kernel = bench.kernel("advance", args, [ir.Store("following", value)])
    bindings = (ir.Ref(rows.name, ir.Step(0)), source.ref, ir.Ref(rows.name, ir.Step(1)))
    bench.operations.append(ir.Loop(turns, (ir.Launch(kernel.name, bindings, rows.length),)))
    bench.made(ir.Ref(rows.name, turns), rows.length, 1, [source], whole=False)


def pingpong(bench: Workbench) -> None:
    """A loop between two buffers with a linear kernel: overwritten states are never needed."""
    (source, *_) = bench.pick(1)
    turns = int(bench.rng.integers(2, 5))
    layout = "matrix" if bench.rng.random() < 0.5 else "list"
    rows = bench.buffer("pair", source.length, rows=2, layout=layout)
    _begin_rows(bench, source, rows)
    loads: list[ir.Expr] = [ir.Load("now", k) for k in ("left", "here", "right")]
    value = plus(linear(bench.rng, loads), times(ir.Const(0.5), ir.Load("now")))
    kernel = bench.kernel("diffuse", [ir.Arg("now"), ir.Arg("following")], [ir.Store("following", value)])
    bindings = (ir.Ref(rows.name, ir.Step(0, 2)), ir.Ref(rows.name, ir.Step(1, 2)))
    bench.operations.append(ir.Loop(turns, (ir.Launch(kernel.name, bindings, rows.length),)))
    bench.made(ir.Ref(rows.name, turns % 2), rows.length, 1, [source], whole=False)


def copied(bench: Workbench) -> None:
    (source, *_) = bench.pick(1)
    how = str(bench.rng.choice(["copy", "assign", "clone"]))
    sliced = source.ref.start is not None
    if how == "clone" and (sliced or source.ref.row is not None):
        how = "copy"
    more = {"scope": "iteration"} if how == "clone" else {}
    out = bench.buffer("copy", source.length, source.width, **more)
    bench.operations.append(ir.Copy(ir.Ref(out.name), source.ref, how))  # pyright: ignore[reportArgumentType]
    bench.made(ir.Ref(out.name), out.length, out.width, [source])


def read_back(bench: Workbench) -> None:
    """A kernel reads what it has just written, also in a table that it fills step by step."""
    (source, *_) = bench.pick(1)
    first, second = bench.buffer("table", source.length), bench.buffer("state", source.length)
    load = bench.scalar(ir.Load("a"), source.width)
    body: list[ir.KernelStatement] = [
        ir.Store("middle", nonlinear(bench.rng, [load], bench.functions)),
        ir.Store("out", nonlinear(bench.rng, [ir.Load("middle")], bench.functions)),
    ]
    args = [ir.Arg("a", source.width), ir.Arg("middle"), ir.Arg("out")]
    kernel = bench.kernel("chain", args, body)
    bench.launch(kernel, [source.ref, ir.Ref(first.name), ir.Ref(second.name)], source.length)
    bench.made(ir.Ref(first.name), first.length, 1, [source], whole=False)
    bench.made(ir.Ref(second.name), second.length, 1, [source])


def scratch(bench: Workbench) -> None:
    """A scratch buffer, read linearly, cleared by a kernel and used again."""
    (one, *_) = bench.pick(1)
    (two, *_) = bench.pick(1)
    size = int(bench.rng.integers(2, 5))
    scratch = bench.buffer("force", size)
    bench.cleared(scratch)
    for source, clear in ((one, False), (two, True)):
        if clear:
            wipe = bench.kernel("wipe", [ir.Arg("out")], [ir.Store("out", ir.Const(0.0))])
            bench.launch(wipe, [ir.Ref(scratch.name)], size)
        _launch_scatter(bench, source, scratch, bench.pointers(source.length, size))
        out = bench.buffer("moved", size)
        value = plus(times(number(bench.rng), ir.Load("force")), number(bench.rng, 0.1, 0.3))
        kernel = bench.kernel("move", [ir.Arg("force"), ir.Arg("out")], [ir.Store("out", value)])
        bench.launch(kernel, [ir.Ref(scratch.name), ir.Ref(out.name)], size)
        bench.made(ir.Ref(out.name), size, 1, [source])
