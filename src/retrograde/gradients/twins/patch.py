"""The difference between a kernel's source and a twin's, as a patch of the user's file."""

from __future__ import annotations

import ast
import copy
import difflib
import linecache
import os
from collections.abc import Iterable, Sequence
from itertools import takewhile
from textwrap import indent

from retrograde.gradients.twins.rewrite import Rewrite, edited
from retrograde.gradients.twins.source import FunctionSource, number_of

_CONTEXT = 1


def patch_of(rewrites: Sequence[Rewrite]) -> str:
    """A unified diff that makes some rewrites of one source, empty where none is meant for the user's file."""
    meant = [r for r in rewrites if r.patch]
    if not meant:
        return ""
    source = meant[0].source
    return diff(source, edited(source, meant))


def diff(source: FunctionSource, tree: ast.FunctionDef) -> str:
    """A unified diff from a source to an edited definition of it; statements that are the same keep their text."""
    lines = linecache.getlines(source.file)
    if not lines:
        return ""
    first, last = source.tree.body[0].lineno, source.tree.body[-1].end_lineno or source.tree.lineno
    printer = _Printer(source, lines)
    body = printer.block(tree.body, printer.margin(source.tree.body[0]))
    new = [*lines[: first - 1], *body, *lines[last:]]
    name = os.path.basename(source.file)
    text = difflib.unified_diff(lines, new, name, name, n=_CONTEXT)
    return "".join(line if line.endswith("\n") else line + "\n" for line in text).replace("_wp.", "wp.")


class _Printer:
    """Prints statements: those of the source by their own text, new ones unparsed."""

    def __init__(self, source: FunctionSource, lines: Sequence[str]) -> None:
        self.lines = lines
        self.old = {number_of(n): n for n in ast.walk(source.tree) if isinstance(n, ast.stmt)}
        self.texts = {number: ast.dump(node) for number, node in self.old.items()}

    def margin(self, node: ast.stmt) -> str:
        line = self.lines[node.lineno - 1]
        return line[: len(line) - len(line.lstrip())]

    def block(self, body: Iterable[ast.stmt], margin: str) -> list[str]:
        made: list[str] = []
        previous: ast.stmt | None = None
        for node in body:
            place = self.old.get(number_of(node))
            if place is not None and previous is not None and self.margin(place) == margin:
                made += self.lines[previous.end_lineno or previous.lineno : place.lineno - 1]
            elif place is None and previous is not None:
                made += self.gap_after(previous)
            made += self.statement(node, self.same(node), margin)
            previous = place
        return made

    def same(self, node: ast.stmt) -> ast.stmt | None:
        number = number_of(node)
        return self.old[number] if self.texts.get(number) == ast.dump(node) else None

    def statement(self, node: ast.stmt, old: ast.stmt | None, margin: str) -> list[str]:
        if old is not None:
            own = self.margin(old)
            text = self.lines[old.lineno - 1 : old.end_lineno or old.lineno]
            return [margin + line.removeprefix(own) for line in text]
        if isinstance(node, ast.For | ast.While | ast.If):
            return self.compound(node, margin)
        text = indent(ast.unparse(ast.fix_missing_locations(node)), margin)
        return [line + "\n" for line in text.splitlines()]

    def compound(self, node: ast.For | ast.While | ast.If, margin: str) -> list[str]:
        head = copy.copy(node)
        head.body, head.orelse = [ast.Pass()], []
        made = [margin + ast.unparse(ast.fix_missing_locations(head)).splitlines()[0] + "\n"]
        made += self.block(node.body, margin + "    ")
        if node.orelse:
            made += self.gap_after(node.body[-1])
        if len(node.orelse) == 1 and self.is_elif(node.orelse[0]):
            other = self.block(node.orelse, margin)
            first = other[0].removeprefix(margin)
            made += [margin + (first if first.startswith("el") else "el" + first), *other[1:]]
        elif node.orelse:
            made += [margin + "else:\n", *self.block(node.orelse, margin + "    ")]
        return made

    def gap_after(self, node: ast.stmt) -> list[str]:
        """Blank lines and comments after a statement of the source."""
        place = self.old.get(number_of(node))
        if place is None:
            return []
        rest = self.lines[place.end_lineno or place.lineno :]
        return list(takewhile(lambda line: not line.strip() or line.lstrip().startswith("#"), rest))

    def is_elif(self, node: ast.stmt) -> bool:
        place = self.old.get(number_of(node))
        return place is not None and self.lines[place.lineno - 1].lstrip().startswith("elif")
