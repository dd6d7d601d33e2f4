"""One source file, read and taken apart."""

from __future__ import annotations

import ast
import io
import tokenize
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from retrograde.lint.device import DeviceFunction, Role, Sort, is_half, sort_of_annotation
from retrograde.lint.names import WarpNames, warp_names
from retrograde.lint.tree import statements, walk

_LARGEST = 5 << 20
_UNROLLED = 16


class UnreadableError(Exception):
    """A file cannot be read as Python source; the message says why."""


@dataclass(frozen=True, eq=False)
class SourceModule:
    """A source file.

    Attributes:
        path: Its path, as it was given.
        text: Its contents.
        tree: Its syntax tree.
        silent: Names of functions that only serve kernels without an adjoint, here or in other files.
    """

    path: str
    text: str
    tree: ast.Module
    silent: frozenset[str] = frozenset()

    def knowing(self, silent: frozenset[str]) -> SourceModule:
        """The same file once it is known which functions are silent."""
        module = replace(self, silent=silent)
        kept = ("nodes", "statements", "names", "structs", "options", "devices")
        module.__dict__.update({k: v for k, v in self.__dict__.items() if k in kept})
        return module

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of its tree."""
        return tuple(walk(self.tree))

    @cached_property
    def statements(self) -> tuple[ast.stmt, ...]:
        """All its statements."""
        return tuple(statements(self.tree))

    @cached_property
    def names(self) -> WarpNames:
        """What its names mean in Warp."""
        return warp_names(self.statements if "warp" in self.text else ())

    @cached_property
    def structs(self) -> Mapping[str, Mapping[str, Sort]]:
        """Fields of the structs that it defines."""
        classes = [n for n in self.statements if isinstance(n, ast.ClassDef)]
        mine = [c for c in classes if any(self.names.resolve(d) == "struct" for d in c.decorator_list)]
        known = frozenset(c.name for c in mine)
        return {
            c.name: {
                f.target.id: sort_of_annotation(f.annotation, self.names, known)
                for f in c.body
                if isinstance(f, ast.AnnAssign) and isinstance(f.target, ast.Name)
            }
            for c in mine
        }

    @cached_property
    def options(self) -> Mapping[str, object]:
        """Constants given to `wp.set_module_options` and assigned to `wp.config`."""
        found: dict[str, object] = {}
        spoken_of = any(word in self.text for word in ("set_module_options", "config"))
        for node in self.statements if spoken_of else ():
            if isinstance(node, ast.Expr) and self.names.called(node.value) == "set_module_options":
                found.update(_constants_in(node.value))
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                for target in node.targets:
                    path = self.names.resolve(target) or ""
                    if path.startswith("config."):
                        found[path.removeprefix("config.")] = node.value.value
        return found

    @property
    def max_unroll(self) -> int:
        """Turns up to which Warp unrolls a loop with constant bounds."""
        given = self.options.get("max_unroll", _UNROLLED)
        return given if isinstance(given, int) else _UNROLLED

    @cached_property
    def devices(self) -> tuple[DeviceFunction, ...]:
        """Kernels and functions of the device, in the order of the file."""
        return tuple(self._devices())

    @cached_property
    def tapes(self) -> frozenset[str]:
        """Texts of the attributes that tapes are bound to."""
        return frozenset(
            ast.unparse(t)
            for n in self.statements
            if isinstance(n, ast.Assign) and self.names.called(n.value) == "Tape"
            for t in n.targets
            if isinstance(t, ast.Attribute)
        )

    @cached_property
    def uses_tapes(self) -> bool:
        """Whether it speaks of tapes at all."""
        if "Tape" not in self.text:
            return False
        return any(self.names.resolve(n) == "Tape" for n in self.nodes if isinstance(n, ast.Name | ast.Attribute))

    @cached_property
    def differentiated(self) -> tuple[DeviceFunction, ...]:
        """Those of which Warp makes an adjoint, as far as the file tells."""
        return tuple(
            d
            for d in self.devices
            if d.differentiable
            and d.name not in self.silent
            and d.role in (Role.KERNEL, Role.FUNCTION, Role.INTEGRAND)
            and not self._has_own(d)
        )

    def named(self, name: str) -> DeviceFunction | None:
        """The kernel or function of this name, None where the file has none, or several."""
        found = [d for d in self.devices if d.name == name and d.role in (Role.KERNEL, Role.FUNCTION)]
        return found[0] if len(found) == 1 else None

    def _has_own(self, device: DeviceFunction) -> bool:
        return any(d.role is Role.GRADIENT and d.subject == device.name for d in self.devices)

    def _devices(self) -> Iterator[DeviceFunction]:
        for node in self.statements:
            if isinstance(node, ast.FunctionDef):
                for decorator in node.decorator_list:
                    role = _role(self.names.resolve(decorator.func if isinstance(decorator, ast.Call) else decorator))
                    if role is not None:
                        yield self._device(node, role, decorator)

    def _device(self, node: ast.FunctionDef, role: Role, decorator: ast.expr) -> DeviceFunction:
        arguments = node.args.posonlyargs + node.args.args
        structs = frozenset(self.structs)
        sorts = {a.arg: sort_of_annotation(a.annotation, self.names, structs) for a in arguments}
        given = decorator.args if isinstance(decorator, ast.Call) else []
        return DeviceFunction(
            node=node,
            role=role,
            decorator=decorator,
            sorts=sorts,
            structs={
                a.arg: ast.unparse(a.annotation) for a in arguments if a.annotation and sorts[a.arg] is Sort.STRUCT
            },
            fields=self.structs,
            subject=given[0].id if given and isinstance(given[0], ast.Name) else None,
            differentiable=self._makes_adjoint(decorator),
            half=frozenset(a.arg for a in arguments if is_half(a.annotation, self.names)),
        )

    def _makes_adjoint(self, decorator: ast.expr) -> bool:
        for keyword in decorator.keywords if isinstance(decorator, ast.Call) else []:
            if keyword.arg == "enable_backward" and isinstance(keyword.value, ast.Constant):
                return keyword.value.value is not False
        return self.options.get("enable_backward") is not False


def _constants_in(call: ast.AST) -> Iterator[tuple[str, object]]:
    """Keys and values of the dictionary that a call is given, as far as they are written out."""
    given = call.args[0] if isinstance(call, ast.Call) and call.args else None
    if isinstance(given, ast.Dict):
        for key, value in zip(given.keys, given.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(value, ast.Constant):
                yield str(key.value), value.value


def _role(path: str | None) -> Role | None:
    for role in Role:
        if path in (role.value, role.value.rpartition(".")[2]):
            return role
    return None


def read_module(path: Path | str) -> SourceModule:
    """Read and parse one file.

    Raises:
        UnreadableError: It cannot be read, is larger than 5 MB, or is not Python.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise UnreadableError(error.strerror or str(error)) from error
    if len(data) > _LARGEST:
        raise UnreadableError("larger than 5 MB")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise UnreadableError(f"not text in the encoding it declares ({error})") from error
    return parse_module(text, str(path))


def parse_module(text: str, path: str) -> SourceModule:
    """Parse the text of a file.

    Raises:
        UnreadableError: It is not Python.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return SourceModule(path, text, ast.parse(text, path))
    except SyntaxError as error:
        where = "" if error.lineno is None else f"line {error.lineno}: "
        raise UnreadableError(f"{where}not Python, {error.msg}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise UnreadableError(f"not Python source ({error})") from error
