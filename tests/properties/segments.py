"""Splits a right program's horizon by hand: segments with a tape each, run backward one after the other.

Every segment after the first starts from copies of the state that the one before ended with, and every backward pass
but the first is seeded with what the later segment's left as the gradients of its start. The tapes are either all kept,
or the forward pass is not recorded and each segment is run again for its backward pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from tests.properties import ir
from tests.properties.faults.edits import names_of

Name = Callable[[str], str]


def split(program: ir.Program, rng: np.random.Generator) -> ir.Program | None:
    """The program in segments; None where it cannot be cut."""
    statements = program.statements
    (at,) = [k for k, s in enumerate(statements) if isinstance(s, ir.Tape)]
    (last,) = [s for s in statements if isinstance(s, ir.Backward)]
    tape = statements[at]
    assert isinstance(tape, ir.Tape)
    cuts = [c for c in range(1, len(tape.body)) if _can_cut(program, tape.body, c)]
    if not cuts:
        return None
    count = min(len(cuts), int(rng.integers(1, 4)))
    chosen = sorted(int(c) for c in rng.choice(cuts, count, replace=False))
    parts = [tape.body[a:b] for a, b in zip([0, *chosen], [*chosen, len(tape.body)], strict=True)]
    how = "clone" if rng.random() < 0.5 else "copy"
    horizon = _Horizon(program, tuple(parts), how)
    middle = horizon.run_again(last) if rng.random() < 0.5 else horizon.keep_tapes(last)
    rest = [s for s in statements[at + 1 :] if s is not last]
    buffers = {n: b for n, b in horizon.made.items() if n not in {c.name for c in program.buffers}}
    return replace(
        program,
        buffers=(*program.buffers, *buffers.values()),
        statements=(*statements[:at], *middle, *rest),
    )


def _can_cut(program: ir.Program, body: Sequence[ir.Operation], cut: int) -> bool:
    """Whether the loss is all behind a cut, and all that crosses it is one array each."""
    losses = {b.name for b in program.losses}
    if any(names_of(o) & losses for o in body[:cut]):
        return False
    crossing = [program.buffer(n) for n in _crossing(program, body, cut)]
    return bool(crossing) and all(not (b.rows and b.layout == "list") for b in crossing)


def _crossing(program: ir.Program, body: Sequence[ir.Operation], cut: int) -> list[str]:
    before = {n for o in body[:cut] for n in names_of(o)}
    after = {n for o in body[cut:] for n in names_of(o)}
    return [b.name for b in program.buffers if b.role == "work" and b.name in before & after]


@dataclass
class _Horizon:
    """The parts of a horizon, and the memory that their segments need."""

    program: ir.Program
    parts: tuple[tuple[ir.Operation, ...], ...]
    how: str

    def __post_init__(self) -> None:
        body = [o for part in self.parts for o in part]
        ends = np.cumsum([len(p) for p in self.parts])[:-1]
        self.states = [_crossing(self.program, body, int(end)) for end in ends]
        self.made: dict[str, ir.Buffer] = {}

    def keep_tapes(self, last: ir.Backward) -> list[ir.Statement]:
        """All segments forward, each on its tape; then all backward."""
        statements: list[ir.Statement] = []
        for k, part in enumerate(self.parts):
            statements.append(ir.Tape(f"tape_{k}", self._renamed(part, self._start(k))))
            if k < len(self.states):
                statements += self._kept(k, self._start(k))
        statements.append(replace(last, tape=f"tape_{len(self.states)}"))
        return statements + [self._backward(k, self._start(k)) for k in reversed(range(len(self.states)))]

    def run_again(self, last: ir.Backward) -> list[ir.Statement]:
        """All segments but the last forward off the tape; then each again on a tape, and backward."""
        statements: list[ir.Statement] = []
        end = len(self.states)
        for k, part in enumerate(self.parts[:-1]):
            statements += [*part, *self._kept(k, lambda name: name)]
        statements.append(ir.Tape(f"tape_{end}", self._renamed(self.parts[-1], self._start(end))))
        statements.append(replace(last, tape=f"tape_{end}"))
        for k in reversed(range(end)):
            name = self._again(k)
            statements += [ir.Tape(f"tape_{k}", self._renamed(self.parts[k], name)), self._backward(k, name)]
        return statements

    def _start(self, k: int) -> Name:
        """How segment `k` calls its memory: the state that it starts from is a copy."""
        state = self.states[k - 1] if k else []
        return lambda name: self._copy(f"start_{k}_{name}", name) if name in state else name

    def _again(self, k: int) -> Name:
        """As `_start`, with other work memory than the forward pass had."""
        start = self._start(k)

        def name_of(name: str) -> str:
            started = start(name)
            work = self.program.buffer(name).role == "work"
            return self._copy(f"again_{k}_{name}", name) if started == name and work else started

        return name_of

    def _copy(self, name: str, like: str) -> str:
        self.made.setdefault(name, replace(self.program.buffer(like), name=name))
        return name

    def _kept(self, k: int, end: Name) -> list[ir.Statement]:
        following = self._start(k + 1)
        return [
            ir.Copy(ir.Ref(following(name)), ir.Ref(end(name)), self.how)  # pyright: ignore[reportArgumentType]
            for name in self.states[k]
        ]

    def _backward(self, k: int, end: Name) -> ir.Backward:
        following = self._start(k + 1)
        seeds = tuple((end(name), following(name)) for name in self.states[k])
        return ir.Backward(f"tape_{k}", "", seeds=seeds)

    def _renamed(self, operations: Sequence[ir.Operation], name: Name) -> tuple[ir.Operation, ...]:
        return tuple(_renamed(o, name) for o in operations)


def _renamed(operation: ir.Operation, name: Name) -> ir.Operation:
    def ref(r: ir.Ref) -> ir.Ref:
        return replace(r, buffer=name(r.buffer))

    match operation:
        case ir.Launch():
            return replace(operation, bindings=tuple(ref(r) for r in operation.bindings))
        case ir.Copy():
            return replace(operation, target=ref(operation.target), source=ref(operation.source))
        case ir.Fill():
            return replace(operation, target=ref(operation.target))
        case ir.Loop():
            return replace(operation, body=tuple(_renamed(o, name) for o in operation.body))  # pyright: ignore
