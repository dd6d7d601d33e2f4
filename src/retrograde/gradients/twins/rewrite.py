"""Rewrites: one construct of a kernel changed, and the twin that several of them make together."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from retrograde.gradients.twins.compile import Change, compile_twin
from retrograde.gradients.twins.parameters import Parameters, add_parameters
from retrograde.gradients.twins.source import FunctionSource, KernelSource, number_of
from retrograde.trace.warp_api import wp

Edit = Callable[[Any], Any]
"""Takes a node, its children edited already; returns a node, or statements in place of a statement."""


@dataclass(frozen=True, eq=False)
class Rewrite:
    """A change that cures one fault at one place.

    Attributes:
        code: Code of the cause that it proves, if it cures.
        source: Where.
        line: The user's line.
        subject: The construct, in words or as written.
        edits: What happens to the nodes of the source's tree, by number.
        elsewhere: The same for other sources.
        advice: What to do about it, a sentence.
        scope: Names that the edited source uses.
        parameters: Arguments that it needs from the launch, of those that `Parameters` offers.
        drops: A custom adjoint or replay that is left out.
        options: Options of the module.
        columns: The array of states must have at least so many columns.
        patch: Whether the edited source is what the user should write.
        evidence: Numbers for the report.
    """

    code: str
    source: FunctionSource
    line: int
    subject: str
    edits: Mapping[int, Edit]
    advice: str
    scope: Mapping[str, Any] = field(default_factory=dict[str, Any])
    elsewhere: Mapping[FunctionSource, Mapping[int, Edit]] = field(
        default_factory=dict[FunctionSource, Mapping[int, Edit]]
    )
    parameters: frozenset[str] = frozenset()
    drops: FunctionSource | None = None
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    columns: int = 1
    patch: bool = True
    evidence: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def sources(self) -> tuple[FunctionSource, ...]:
        """Sources that it changes."""
        return (*((self.source,) if self.edits else ()), *self.elsewhere)

    @property
    def label(self) -> str:
        """Identity of the fault, the same in all launches."""
        return f"{self.code} {self.source.file}:{self.line} {self.source.name}"


@dataclass(frozen=True, eq=False)
class Twin:
    """A kernel that may stand for another one.

    Attributes:
        kernel: The compiled kernel.
        parameters: Arguments that it has after those of the original.
    """

    kernel: Any
    parameters: Parameters


def make_twin(source: KernelSource, rewrites: Sequence[Rewrite], dimensions: int = 1, *, lasting: bool = True) -> Twin:
    """Compile a kernel with some rewrites, which may touch the same statements.

    Args:
        source: The kernel.
        rewrites: The rewrites.
        dimensions: Number of dimensions of the launch that it is for.
        lasting: See `compile_twin`.

    Raises:
        TwinError: It cannot be made.
    """
    trees = {s: edited(s, rewrites) for s in {s for r in rewrites for s in r.sources}}
    names = frozenset(name for r in rewrites for name in r.parameters)
    parameters = Parameters(names, dimensions, max((r.columns for r in rewrites), default=1))
    needing = {s for r in rewrites if r.parameters for s in r.sources}
    types = add_parameters(source, trees, needing, parameters)
    scope = {"_wp": wp, **{k: v for r in rewrites for k, v in r.scope.items()}}
    changes: dict[FunctionSource, Change | None] = {s: Change(t, types.get(s), scope) for s, t in trees.items()}
    changes |= {r.drops: None for r in rewrites if r.drops is not None}
    options: dict[str, Any] = {}
    for rewrite in rewrites:
        for name, value in rewrite.options.items():
            options[name] = max(value, options.get(name, value))
    return Twin(compile_twin(source, changes, options, lasting=lasting), parameters)


def edited(source: FunctionSource, rewrites: Sequence[Rewrite]) -> ast.FunctionDef:
    """The definition with the edits of those rewrites that are about it."""
    edits: dict[int, list[Edit]] = {}
    for rewrite in rewrites:
        mine = rewrite.edits if rewrite.source is source else rewrite.elsewhere.get(source, {})
        for number, edit in mine.items():
            edits.setdefault(number, []).append(edit)
    return _Editor(edits).visit(copy.deepcopy(source.tree))


class _Editor(ast.NodeTransformer):
    def __init__(self, edits: Mapping[int, Sequence[Edit]]) -> None:
        self.edits = edits

    def visit(self, node: ast.AST) -> Any:
        new: Any = self.generic_visit(node)
        for edit in self.edits.get(number_of(node), ()):
            new = edit(new)
        return new


def statements(text: str) -> list[ast.stmt]:
    """Statements written as text, for an edit."""
    return ast.parse(text).body


def expression(text: str) -> ast.expr:
    """An expression written as text, for an edit."""
    return ast.parse(text, mode="eval").body
