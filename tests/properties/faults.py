"""Plants one fault in a right program.

Each fault has a list of places; a plant is the program with the fault at one of them, and the mark at the line that
the user must change. Whether the gradient really changes is for the caller to find out, by running it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from tests.properties import ir
from tests.properties.expressions import affine, loads, number, plus, read_here_only, reads, rereads, times
from tests.properties.generator import Wishes, generate

_ATTEMPTS = 40


@dataclass(frozen=True)
class Plant:
    """A program with a fault.

    Attributes:
        cause: The fault's code.
        route: What was done, in words.
        program: The program, marked.
    """

    cause: str
    route: str
    program: ir.Program


@dataclass(frozen=True)
class _Fault:
    wishes: Wishes
    places: Callable[[ir.Program, np.random.Generator], Iterator[tuple[str, ir.Program]]]


def plants(cause: str, seed: int) -> Iterator[Plant]:
    """Plants of one cause, of one seed, in random order, over programs until none is left to try.

    Raises:
        KeyError: The cause cannot be planted.
    """
    fault = FAULTS[cause]
    for attempt in range(_ATTEMPTS):
        program = generate(seed + 1_000_003 * attempt, fault.wishes)
        rng = np.random.default_rng([seed, attempt, int(cause[2:])])
        found = list(fault.places(program, rng))
        for k in rng.permutation(len(found)):
            route, planted = found[k]
            yield Plant(cause, route, planted)


# -- places ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Reader:
    """A launch on a tape whose adjoint needs what it read of a buffer.

    `where` is its position: of the tape among the statements, and of the operation in the tape.
    """

    tape: int
    operation: int
    ref: ir.Ref
    arg: ir.Arg
    kernel: ir.Kernel


def _readers(program: ir.Program) -> Iterator[_Reader]:
    for number, statement in enumerate(program.statements):
        if not isinstance(statement, ir.Tape):
            continue
        for position, operation in enumerate(statement.body):
            if not isinstance(operation, ir.Launch):
                continue
            kernel = program.kernel(operation.kernel)
            for arg, ref in zip(kernel.args, operation.bindings, strict=True):
                role = program.buffer(ref.buffer).role
                if arg.width and role in ("work", "data") and rereads(kernel, arg.name):
                    yield _Reader(number, position, ref, arg, kernel)


def _insert(program: ir.Program, tape: int, position: int, operation: ir.Operation) -> ir.Program:
    statement = program.statements[tape]
    assert isinstance(statement, ir.Tape)
    body = (*statement.body[:position], operation, *statement.body[position:])
    return _with_statement(program, tape, replace(statement, body=body))


def _with_statement(program: ir.Program, index: int, *statements: ir.Statement) -> ir.Program:
    return replace(program, statements=(*program.statements[:index], *statements, *program.statements[index + 1 :]))


def _with_buffer(program: ir.Program, buffer: ir.Buffer) -> ir.Program:
    return replace(program, buffers=tuple(buffer if b.name == buffer.name else b for b in program.buffers))


def _with_kernel(program: ir.Program, kernel: ir.Kernel) -> ir.Program:
    return replace(program, kernels=tuple(kernel if k.name == kernel.name else k for k in program.kernels))


def _row(ref: ir.Ref) -> ir.Ref:
    """The whole row or buffer that a reference lies in."""
    return replace(ref, start=None, stop=None)


def _used_later(program: ir.Program, reader: _Reader, buffer: str) -> bool:
    """Whether something on the tapes uses a buffer after a reader: an overwrite then changes the objective too."""
    for number, statement in enumerate(program.statements):
        if isinstance(statement, ir.Tape) and number >= reader.tape:
            for position, operation in enumerate(statement.body):
                later = number > reader.tape or position > reader.operation
                if later and buffer in _names(operation):
                    return True
    return False


def _names(operation: ir.Operation) -> set[str]:
    match operation:
        case ir.Launch(_, bindings, _, _):
            return {r.buffer for r in bindings}
        case ir.Copy(target, source, _, _):
            return {target.buffer, source.buffer}
        case ir.Fill(target, _, _, _):
            return {target.buffer}
        case ir.Loop(_, body):
            return {name for o in body for name in _names(o)}


# -- overwrites ------------------------------------------------------------------------------------------------


def _overwrites(
    program: ir.Program, reader: _Reader, rng: np.random.Generator, mark: str
) -> Iterator[tuple[str, ir.Program, ir.Launch | ir.Copy | ir.Fill]]:
    """Ways to overwrite what a reader read: the route, the program with what it needs, the operation."""
    whole = _row(reader.ref)
    buffer = program.buffer(whole.buffer)
    value = round(float(rng.uniform(0.3, 1.5)), 2)
    yield "fill", program, ir.Fill(whole, value, mark=mark)
    yield "zero", program, ir.Fill(whole, 0.0, mark=mark)
    yield "assignment from NumPy", program, ir.Fill(whole, value, "assign", mark)
    if isinstance(whole.row, int | None) and buffer.layout == "matrix":
        yield "NumPy view", program, ir.Fill(whole, value, "view", mark)
    piece = replace(whole, start=0, stop=max(1, buffer.length // 2))
    sources = [b for b in program.buffers if b.role == "data" and b.width == buffer.width and b.length == buffer.length]
    for source in sources:
        if source.name != buffer.name:
            yield "copy", program, ir.Copy(whole, ir.Ref(source.name), mark=mark)
            yield "assign", program, ir.Copy(whole, ir.Ref(source.name), "assign", mark=mark)
            yield "copy into a slice", program, ir.Copy(piece, replace(piece, buffer=source.name, row=None), mark=mark)
    kernel = ir.Kernel(
        "refresh", (ir.Arg("out", buffer.width),), (ir.Store("out", affine(rng, ir.Load("out"))),)
    ) if buffer.width == 1 else ir.Kernel(
        "refresh", (ir.Arg("out", buffer.width),), (ir.Store("out", times(ir.Const(value), ir.Load("out"))),)
    )  # fmt: skip
    extended = replace(program, kernels=(*program.kernels, kernel))
    yield "launch", extended, ir.Launch("refresh", (whole,), buffer.length, mark)
    yield "launch on a slice", extended, ir.Launch("refresh", (piece,), piece.stop or 0, mark)
    yield "another array on the same memory", extended, ir.Launch("refresh", (replace(whole, alias=True),), buffer.length, mark)
    for struct in program.structs:
        if buffer.name in struct.fields and whole == ir.Ref(buffer.name):
            arg = replace(kernel.args[0], name=buffer.name, struct=struct.name)
            body = (ir.Store(buffer.name, times(ir.Const(value), ir.Load(buffer.name))),)
            inside = replace(program, kernels=(*program.kernels, ir.Kernel("refresh", (arg,), body)))
            yield "field of a struct", inside, ir.Launch("refresh", (whole,), buffer.length, mark)


def _overwritten_input(program: ir.Program, rng: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG101: an operation on the tape overwrites what an earlier one had read."""
    for reader in _readers(program):
        tape = program.statements[reader.tape]
        assert isinstance(tape, ir.Tape)
        if _used_later(program, reader, reader.ref.buffer):
            continue
        for route, extended, operation in _overwrites(program, reader, rng, "RG101"):
            if route == "NumPy view":
                operation = replace(operation, mark="RG101 RG103")
            position = int(rng.integers(reader.operation + 1, len(tape.body) + 1))
            yield route, _insert(extended, reader.tape, position, operation)
        yield from _reused(program, reader)
    yield from _two_states(program)


def _reused(program: ir.Program, reader: _Reader) -> Iterator[tuple[str, ir.Program]]:
    """A later launch writes its result into the buffer that was read."""
    old = program.buffer(reader.ref.buffer)
    if old.rows or old.role != "work" or reader.ref != ir.Ref(old.name):
        return
    tape = program.statements[reader.tape]
    assert isinstance(tape, ir.Tape)
    for position in range(reader.operation + 1, len(tape.body)):
        launch = tape.body[position]
        if not isinstance(launch, ir.Launch):
            continue
        kernel = program.kernel(launch.kernel)
        target = launch.bindings[-1]
        new = program.buffer(target.buffer)
        stored = [s for s in kernel.body if isinstance(s, ir.Store)]
        simple = len(stored) == 1 and stored[0].mode == "set" and not reads(kernel, stored[0].arg)
        like = (new.length, new.width, new.rows, new.role) == (old.length, old.width, 0, "work")
        bundled = any(new.name in s.fields for s in program.structs)
        first = not any(new.name in _names(o) for o in tape.body[:position])
        if simple and like and first and not bundled and target == ir.Ref(new.name) and launch.dim == new.length:
            if old.name in {r.buffer for r in launch.bindings}:
                continue
            body = [_renamed(o, new.name, old.name) if k >= position else o for k, o in enumerate(tape.body)]
            body[position] = replace(_renamed(launch, new.name, old.name), mark="RG101")
            without = replace(program, buffers=tuple(b for b in program.buffers if b.name != new.name))
            without = replace(without, statements=tuple(
                s for s in without.statements if not (isinstance(s, ir.Fill) and s.target.buffer == new.name)
            ))  # fmt: skip
            index = next(k for k, s in enumerate(without.statements) if s == tape)
            yield "reused buffer", _with_statement(without, index, replace(tape, body=tuple(body)))


def _renamed(operation: ir.Operation, old: str, new: str) -> ir.Operation:
    def ref(r: ir.Ref) -> ir.Ref:
        return replace(r, buffer=new) if r.buffer == old else r

    match operation:
        case ir.Launch():
            return replace(operation, bindings=tuple(ref(r) for r in operation.bindings))
        case ir.Copy():
            return replace(operation, target=ref(operation.target), source=ref(operation.source))
        case ir.Fill():
            return replace(operation, target=ref(operation.target))
        case ir.Loop():
            return replace(operation, body=tuple(_renamed(o, old, new) for o in operation.body))  # pyright: ignore


def _two_states(program: ir.Program) -> Iterator[tuple[str, ir.Program]]:
    """A loop that kept every state keeps two."""
    for number, statement in enumerate(program.statements):
        if not isinstance(statement, ir.Tape):
            continue
        for position, operation in enumerate(statement.body):
            if not isinstance(operation, ir.Loop):
                continue
            launch = operation.body[0]
            assert isinstance(launch, ir.Launch)
            name = launch.bindings[0].buffer
            if launch.bindings[0].row != ir.Step(0) or operation.count < 2:
                continue
            turned = replace(launch, mark="RG101", bindings=tuple(_modulo(r, name) for r in launch.bindings))
            body = list(statement.body)
            body[position] = replace(operation, body=(turned,))
            body = [o if k == position else _folded(o, name) for k, o in enumerate(body)]
            changed = _with_statement(program, number, replace(statement, body=tuple(body)))
            yield "ping-pong buffers", _with_buffer(changed, replace(program.buffer(name), rows=2))


def _modulo(ref: ir.Ref, name: str) -> ir.Ref:
    return replace(ref, row=replace(ref.row, modulo=2)) if ref.buffer == name and isinstance(ref.row, ir.Step) else ref


def _folded(operation: ir.Operation, name: str) -> ir.Operation:
    def ref(r: ir.Ref) -> ir.Ref:
        return replace(r, row=r.row % 2) if r.buffer == name and isinstance(r.row, int) else r

    match operation:
        case ir.Launch():
            return replace(operation, bindings=tuple(ref(r) for r in operation.bindings))
        case ir.Copy():
            return replace(operation, target=ref(operation.target), source=ref(operation.source))
        case ir.Loop():
            return replace(operation, body=tuple(_folded(o, name) for o in operation.body))  # pyright: ignore
        case _:
            return operation


def _overwritten_in_kernel(program: ir.Program, rng: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG102: a kernel that read an element then changes it."""
    for reader in _readers(program):
        names = [r.buffer for r in _launch(program, reader).bindings]
        shared = sum(o.count(reader.ref.buffer) for o in [names]) > 1
        single = sum(k == reader.kernel.name for k in _launched(program)) == 1
        others = [r for r in _readers(program) if r.ref.buffer == reader.ref.buffer and r != reader]
        if shared or others or not single or not read_here_only(reader.kernel, reader.arg.name):
            continue
        if any(isinstance(s, ir.Store) and s.arg == reader.arg.name for s in reader.kernel.body):
            continue
        load = ir.Load(reader.arg.name)
        value = affine(rng, load) if reader.arg.width == 1 else times(ir.Const(0.4), load)
        store = ir.Store(reader.arg.name, value, mark="RG102")
        yield "same element", _with_kernel(program, replace(reader.kernel, body=(*reader.kernel.body, store)))


def _launch(program: ir.Program, reader: _Reader) -> ir.Launch:
    tape = program.statements[reader.tape]
    assert isinstance(tape, ir.Tape)
    launch = tape.body[reader.operation]
    assert isinstance(launch, ir.Launch)
    return launch


def _launched(program: ir.Program) -> list[str]:
    tapes = [s for s in program.statements if isinstance(s, ir.Tape)]
    flat = [i for t in tapes for o in t.body for i in (o.body if isinstance(o, ir.Loop) else (o,))]
    return [o.kernel for o in flat if isinstance(o, ir.Launch)]


def _overwritten_after_tape(program: ir.Program, rng: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG103: contents change between the end of recording and backward."""
    for reader in _readers(program):
        backward = _backward_after(program, reader.tape)
        if _used_later(program, replace(reader, operation=10**6), reader.ref.buffer):
            continue
        for route, extended, operation in _overwrites(program, reader, rng, "RG103"):
            statements = (*extended.statements[:backward], operation, *extended.statements[backward:])
            yield route, replace(extended, statements=statements)


def _backward_after(program: ir.Program, tape: int) -> int:
    """Position of the statement that runs a tape backward."""
    statement = program.statements[tape]
    assert isinstance(statement, ir.Tape)
    return next(
        k for k, s in enumerate(program.statements) if isinstance(s, ir.Backward) and s.tape == statement.name
    )


# -- chain -----------------------------------------------------------------------------------------------------


def _missing_flag(program: ir.Program, _: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG201: an array on the path has no gradient."""
    for buffer in program.buffers:
        bundled = any(buffer.name in s.fields for s in program.structs)
        if buffer.role != "work":
            continue
        cloned = any(isinstance(o, ir.Copy) and o.how == "clone" and o.target.buffer == buffer.name for o in _operations(program))
        if not cloned:
            yield "no flag", _with_buffer(program, replace(buffer, requires_grad=False, mark="RG201"))
        elif not bundled:
            yield "clone without the flag", _mark_clone(program, buffer)
        if bundled:
            yield "flag after the struct", _with_buffer(program, replace(buffer, late_flag=True, mark="RG201"))


def _operations(program: ir.Program) -> list[ir.Operation]:
    return [o for s in program.statements if isinstance(s, ir.Tape) for o in s.body]


def _mark_clone(program: ir.Program, buffer: ir.Buffer) -> ir.Program:
    changed = _with_buffer(program, replace(buffer, requires_grad=False))
    statements: list[ir.Statement] = []
    for statement in changed.statements:
        if isinstance(statement, ir.Tape):
            body = tuple(
                replace(o, mark="RG201") if isinstance(o, ir.Copy) and o.target.buffer == buffer.name else o
                for o in statement.body
            )
            statement = replace(statement, body=body)
        statements.append(statement)
    return replace(changed, statements=tuple(statements))


def _loss_off_tape(program: ir.Program, _: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG203: what writes the loss runs after the tape is closed."""
    for number, statement in enumerate(program.statements):
        if not isinstance(statement, ir.Tape) or not isinstance(statement.body[-1], ir.Launch):
            continue
        writers = [o for o in statement.body if isinstance(o, ir.Launch) and o.bindings[-1].buffer.startswith("loss")]
        if len(writers) == 1:
            rest = replace(statement, body=statement.body[:-1])
            yield "after the tape", _with_statement(program, number, rest, replace(writers[0], mark="RG203"))


# -- bookkeeping -----------------------------------------------------------------------------------------------


def _position(program: ir.Program, kind: type) -> int:
    return max(k for k, s in enumerate(program.statements) if isinstance(s, kind))


def _not_cleared(program: ir.Program, _: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG301: nothing zeroes the gradients."""
    kept = tuple(
        replace(s, mark="RG301") if isinstance(s, ir.Backward) else s
        for s in program.statements
        if not isinstance(s, ir.Clear)
    )
    yield "no clear", replace(program, statements=kept)


def _read_early(program: ir.Program, _: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG302: gradients are read, and cleared, before backward writes them."""
    others = [s for s in program.statements if not isinstance(s, ir.Read | ir.Clear)]
    first = next(k for k, s in enumerate(others) if isinstance(s, ir.Tape | ir.Backward))
    early: list[ir.Statement] = [ir.Read(copied=True, mark="RG302"), ir.Clear("gradients")]
    statements = (*others[:first], *early, *others[first:])
    yield "before backward", replace(program, statements=statements, iterations=5)


def _cleared_early(program: ir.Program, _: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG303: gradients are cleared before they are used."""
    others = [s for s in program.statements if not isinstance(s, ir.Clear | ir.Read)]
    update = next(k for k, s in enumerate(others) if isinstance(s, ir.Update))
    rule = others[update]
    assert isinstance(rule, ir.Update)
    how = next((s.how for s in program.statements if isinstance(s, ir.Clear)), "tape")
    clear = ir.Clear(how, mark="RG303")
    if rule.rule in ("host", "momentum", "adam"):
        orders = {
            "read after the clear": [clear, ir.Read(copied=True, mark="RG303")],
            "view cleared under its reader": [ir.Read(copied=False), clear],
        }
        for route, order in orders.items():
            yield route, replace(program, statements=(*others[:update], *order, *others[update:]))
    else:
        late = replace(rule, mark="RG303")
        yield "step after the clear", replace(program, statements=(*others[:update], clear, late, *others[update + 1 :]))


def _wrong_seed(program: ir.Program, _: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG305: the mean is reported, the sum is differentiated."""
    for number, statement in enumerate(program.statements):
        if isinstance(statement, ir.Backward):
            yield "sum", _with_statement(program, number, replace(statement, weight=1.0, mark="RG305"))


def _truncated(program: ir.Program, _: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG307: a second tape begins half way, and only it runs backward."""
    (number,) = [k for k, s in enumerate(program.statements) if isinstance(s, ir.Tape)]
    tape = program.statements[number]
    assert isinstance(tape, ir.Tape)
    for cut in range(1, len(tape.body)):
        if any(o.bindings[-1].buffer.startswith("loss") for o in tape.body[:cut] if isinstance(o, ir.Launch)):
            break
        parts = (ir.Tape("tape_0", tape.body[:cut]), ir.Tape("tape_1", tape.body[cut:]))
        split = _with_statement(program, number, *parts)
        statements = tuple(
            replace(s, tape="tape_1", mark="RG307") if isinstance(s, ir.Backward) else s for s in split.statements
        )
        yield "two tapes", replace(split, statements=statements)


def _unrecorded_clear(program: ir.Program, _: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG309: the scratch buffer is cleared by a call that the tape does not know."""
    for number, statement in enumerate(program.statements):
        if not isinstance(statement, ir.Tape):
            continue
        for position, operation in enumerate(statement.body):
            if isinstance(operation, ir.Launch) and operation.kernel.startswith("wipe"):
                clear = ir.Fill(operation.bindings[0], 0.0, mark="RG309")
                body = (*statement.body[:position], clear, *statement.body[position + 1 :])
                yield "zero_", _with_statement(program, number, replace(statement, body=body))


# -- kernels ---------------------------------------------------------------------------------------------------


def _wrong_adjoint(program: ir.Program, rng: np.random.Generator) -> Iterator[tuple[str, ir.Program]]:
    """RG410: a kernel takes a remainder, whose adjoint by the divisor is missing in Warp; far from its steps."""
    for kernel in program.kernels:
        stores = [s for s in kernel.body if isinstance(s, ir.Store)]
        if len(stores) != 1 or stores[0].mode != "set" or stores[0].index != "here":
            continue
        target = next(a for a in kernel.args if a.name == stores[0].arg)
        read = [load for s in kernel.body for load in loads(s.value) if load.arg != target.name]
        scalars = [load for load in read if next(a for a in kernel.args if a.name == load.arg).width == 1]
        if target.width != 1 or not scalars:
            continue
        wave = ir.Unary("sin", times(number(rng), scalars[0]))
        divisor = plus(ir.Const(3.0), times(ir.Const(0.4), wave))
        dividend = plus(ir.Const(4.6), times(ir.Const(0.1), ir.Unary("cos", scalars[0])))
        value = plus(stores[0].value, ir.Binary("%", dividend, divisor))
        body = tuple(replace(s, value=value, mark="RG410") if s is stores[0] else s for s in kernel.body)
        yield "remainder by a variable", _with_kernel(program, replace(kernel, body=body, mark="RG410"))


FAULTS: dict[str, _Fault] = {
    "RG101": _Fault(Wishes(), _overwritten_input),
    "RG102": _Fault(Wishes(), _overwritten_in_kernel),
    "RG103": _Fault(Wishes(), _overwritten_after_tape),
    "RG201": _Fault(Wishes(), _missing_flag),
    "RG203": _Fault(Wishes(), _loss_off_tape),
    "RG301": _Fault(Wishes(persistent=True, fresh=True), _not_cleared),
    "RG302": _Fault(Wishes(persistent=True, fresh=True, host_update=True), _read_early),
    "RG303": _Fault(Wishes(), _cleared_early),
    "RG305": _Fault(Wishes(mean=True), _wrong_seed),
    "RG307": _Fault(Wishes(single_tape=True), _truncated),
    "RG309": _Fault(Wishes(scratch=True), _unrecorded_clear),
    "RG410": _Fault(Wishes(), _wrong_adjoint),
}
"""The causes that can be planted."""
