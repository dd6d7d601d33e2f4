"""Kernels translated to double precision: types, literals, constants, random draws, and the functions they call.

To measure slopes that single precision hides, and for sums that half precision loses. What Warp offers in single
precision only (queries of meshes and volumes, noise) cannot be, and neither can native code.
"""

from __future__ import annotations

import ast
import copy
import ctypes
from typing import Any, cast

import numpy as np

from retrograde.gradients.twins.compile import Change, TwinError, compile_twin
from retrograde.gradients.twins.source import FunctionSource, Role, SourceUnavailableError, read_kernel
from retrograde.trace.warp_api import wp

_NARROW = (float, wp.float16, wp.float32)
_DRAWS = ("randf", "randn")
_SINGLE = (
    "noise",
    "pnoise",
    "curlnoise",
    "mesh_query",
    "mesh_eval",
    "volume_",
    "texture",
    "hash_grid_query",
    "bvh_query",
)
_IDENTITIES = ("identity", "quat_identity", "transform_identity")
_DOUBLE = "_double"


def double_kernel(kernel: Any, backward: bool = False) -> Any:
    """A kernel in double precision, its arguments of the types that `double_type` gives.

    Args:
        kernel: The kernel.
        backward: Whether it has an adjoint.

    Raises:
        TwinError: It cannot be translated; the message says why.
    """
    try:
        source = read_kernel(kernel)
    except SourceUnavailableError as error:
        raise TwinError(str(error)) from error
    changes: dict[FunctionSource, Change | None] = {}
    for piece in source.all():
        if piece.role is Role.NATIVE:
            raise TwinError(f"{piece.name} is native code")
        if piece.role in (Role.GRADIENT, Role.REPLAY):
            changes[piece] = None
            continue
        translator = _Translator(piece)
        tree = translator.visit(copy.deepcopy(piece.tree))
        types = {name: double_type(kind) for name, kind in piece.types.items()}
        changes[piece] = Change(tree, types, {_DOUBLE: wp.float64, "_single": wp.float32, **translator.scope})
    return compile_twin(source, changes, {"enable_backward": backward})


# -- types ---------------------------------------------------------------------------------------------


def double_type(kind: Any) -> Any:
    """The type that stands for a type.

    Raises:
        TwinError: There is none.
    """
    if any(kind is narrow for narrow in _NARROW):
        return wp.float64
    if isinstance(kind, wp.array):
        return wp.array(dtype=double_type(kind.dtype), ndim=kind.ndim)
    if is_struct(kind):
        return _double_struct(kind)
    scalar = getattr(kind, "_wp_scalar_type_", None)
    if scalar is None or not any(scalar is narrow for narrow in _NARROW):
        return kind
    made = {
        "vec_t": lambda: wp.types.vector(length=kind._shape_[0], dtype=wp.float64),
        "mat_t": lambda: wp.types.matrix(shape=kind._shape_, dtype=wp.float64),
        "quat_t": lambda: wp.types.quaternion(dtype=wp.float64),
        "transform_t": lambda: wp.types.transformation(dtype=wp.float64),
    }.get(kind._wp_generic_type_str_)
    if made is None:
        raise TwinError(f"the type {kind.__name__} has no double of its own")
    return made()


_STRUCTS: dict[int, tuple[Any, Any]] = {}
"""Doubles of structs, with the structs, by identity: Warp tells structs apart by their objects."""


def _double_struct(kind: Any) -> Any:
    known = _STRUCTS.get(id(kind))
    if known is not None:
        return known[1]
    annotations = {name: double_type(variable.type) for name, variable in kind.vars.items()}
    if all(annotations[name] is variable.type for name, variable in kind.vars.items()):
        made = kind
    else:
        made = wp.struct(type(f"Double{kind.key}".replace(".", "_"), (), {"__annotations__": annotations}))
    _STRUCTS[id(kind)] = (kind, made)
    return made


def is_struct(kind: Any) -> bool:
    """Whether a type is Warp's description of a struct."""
    return type(kind).__name__ == "Struct" and hasattr(kind, "vars")


def double_value(value: Any) -> Any:
    """A number, a vector or a matrix in double precision."""
    kind: Any = cast("Any", type(value))
    if isinstance(value, ctypes.Array) and hasattr(kind, "_wp_scalar_type_"):
        wide = double_type(kind)
        numbers: Any = cast("Any", value)
        return numbers if wide is kind else wide(*np.asarray(numbers, dtype=np.float64).reshape(-1).tolist())
    if isinstance(value, wp.float32 | wp.float16):
        return float(cast("Any", value).value)
    if isinstance(value, np.floating):
        return float(cast("Any", value))
    return cast("Any", value)


# -- source --------------------------------------------------------------------------------------------


class _Translator(ast.NodeTransformer):
    """One definition in double precision."""

    def __init__(self, piece: FunctionSource) -> None:
        self.piece = piece
        self.scope: dict[str, Any] = {}

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return _double_of(node) if isinstance(node.value, float) else node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._meaning(node) if isinstance(node.ctx, ast.Load) else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.ctx, ast.Load):
            found = self._meaning(node)
            if found is not node:
                return found
        return cast("ast.expr", self.generic_visit(node))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = self.piece.builtin(node) or ""
        if name.startswith(_SINGLE):
            raise TwinError(f"wp.{name} is there in single precision only (line {node.lineno})")
        if name in _DRAWS or name.startswith("sample_"):
            return self._draw(node, name)
        if getattr(self.piece.lookup(node.func), "__name__", "") == "static":
            return self._static(node)
        visited = cast("ast.Call", self.generic_visit(node))
        if name in _IDENTITIES:
            visited.keywords = [k for k in visited.keywords if k.arg != "dtype"]
            visited.keywords.append(ast.keyword("dtype", ast.Name(_DOUBLE, ast.Load())))
        return visited

    def _draw(self, node: ast.Call, name: str) -> ast.expr:
        """A random draw, in single precision as the program's own, then widened."""
        limits = [ast.Call(ast.Name("_single", ast.Load()), [self.visit(a)], []) for a in node.args[1:]]
        drawn = ast.Call(node.func, [self.visit(node.args[0]), *limits], [])
        if name in _DRAWS:
            return _double_of(drawn)
        length = 2 if name in ("sample_triangle", "sample_unit_ring", "sample_unit_disk", "sample_unit_square") else 3
        if name == "sample_cdf":
            return drawn
        return ast.Call(self._named(wp.types.vector(length=length, dtype=wp.float64)), [drawn], [])

    def _static(self, node: ast.Call) -> ast.expr:
        value = self.piece.constant(node.args[0]) if node.args else None
        if isinstance(value, float | np.floating):
            return _double_of(ast.Constant(float(cast("float", value))))
        wide = self._wide(value)
        return node if wide is None else self._named(wide)

    def _meaning(self, node: ast.Name | ast.Attribute) -> ast.expr:
        """A name of the program in double precision: a type, a constant, or what it is."""
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or root.id in self.piece.locals:
            return node
        if isinstance(node, ast.Name) and node.id == "float" and "float" not in self.piece.scope:
            return ast.Name(_DOUBLE, ast.Load())
        value = self.piece.lookup(node)
        if isinstance(value, float | np.floating):
            return _double_of(ast.Constant(float(cast("float", value))))
        wide = self._wide(value)
        return node if wide is None else self._named(wide)

    def _wide(self, value: Any) -> Any:
        """The double of a type or of a constant vector, None where there is nothing to change."""
        if isinstance(value, type) or is_struct(value):
            wide = double_type(value)
            return None if wide is value else wide
        if isinstance(value, ctypes.Array | wp.float32 | wp.float16):
            return double_value(value)
        return None

    def _named(self, value: Any) -> ast.expr:
        name = f"_wide_{len(self.scope)}"
        self.scope[name] = value
        return ast.Name(name, ast.Load())


def _double_of(node: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(_DOUBLE, ast.Load()), [node], [])
