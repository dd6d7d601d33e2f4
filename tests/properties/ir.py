"""Programs as data: kernels, memory, and what one iteration does with them.

A program trains parameters by a gradient that a tape gives. Its meaning is what `interpreter` computes; its text is
what `emitter` writes. Every function is smooth, so that the interpreter's gradient is exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

# -- expressions: what one thread computes ---------------------------------------------------------------------

Index = Literal["here", "left", "right", "gather", "zero"]
"""Which element: of this thread, its periodic neighbours, where the index array points, or the first."""


@dataclass(frozen=True)
class Const:
    value: float


@dataclass(frozen=True)
class Var:
    """A local variable."""

    name: str


@dataclass(frozen=True)
class Load:
    """An element of an array argument."""

    arg: str
    index: Index = "here"


@dataclass(frozen=True)
class Unary:
    """ "masked" is the square root where the operand is positive, and 0.3 times the operand elsewhere."""

    function: Literal["sin", "cos", "tanh", "exp", "sqrt", "masked"]
    operand: Expr


@dataclass(frozen=True)
class Binary:
    """Scalars, or vectors of one width under + and -; `*` also takes a scalar and a vector; `%` is `wp.mod`."""

    operator: Literal["+", "-", "*", "/", "%"]
    left: Expr
    right: Expr


@dataclass(frozen=True)
class Call:
    """A call of one of the program's own functions of scalars."""

    function: str
    operands: tuple[Expr, ...]


@dataclass(frozen=True)
class Dot:
    left: Expr
    right: Expr


@dataclass(frozen=True)
class Vector:
    components: tuple[Expr, ...]


@dataclass(frozen=True)
class Component:
    operand: Expr
    index: int


Expr = Const | Var | Load | Unary | Binary | Call | Dot | Vector | Component


# -- kernels ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Let:
    name: str
    value: Expr


@dataclass(frozen=True)
class Store:
    """Writes an element: "set" is `=`, "add" is `+=`, "multiply" is `*=`, "atomic" is `wp.atomic_add`."""

    arg: str
    value: Expr
    mode: Literal["set", "add", "multiply", "atomic"] = "set"
    index: Index = "here"
    mark: str = ""


@dataclass(frozen=True)
class Grow:
    """A local variable that begins as `value` and is multiplied by `factor` in `count` turns of a loop.

    The loop's bound is computed from `value`, so that it is known at run time only.
    """

    name: str
    value: Expr
    factor: Expr
    count: int
    mark: str = ""


@dataclass(frozen=True)
class Rebuild:
    """The product of `value` and `factor`, computed in a component of a local vector that is assigned twice."""

    name: str
    value: Expr
    factor: Expr
    mark: str = ""


@dataclass(frozen=True)
class Sum:
    """Sums `value` over `count` elements in one thread, by a loop with a constant bound, into element 0 of `arg`."""

    arg: str
    value: Expr
    count: int


@dataclass(frozen=True)
class Shelve:
    """The square of `value`, out of an array that the thread makes for itself: Warp's adjoint does not get through."""

    name: str
    value: Expr


KernelStatement = Let | Store | Sum | Grow | Rebuild | Shelve


@dataclass(frozen=True)
class Arg:
    """An array argument, or a field of the struct argument `struct`; width 0 is an array of indices.

    With `by_value` the kernel gets the first element of the array alone, as a number.
    """

    name: str
    width: int = 1
    struct: str = ""
    by_value: bool = False


@dataclass(frozen=True)
class Kernel:
    """A kernel; without `backward` it is built without its backward pass."""

    name: str
    args: tuple[Arg, ...]
    body: tuple[KernelStatement, ...]
    mark: str = ""
    backward: bool = True


@dataclass(frozen=True)
class Function:
    """A function of scalars.

    Attributes:
        native: It is native code, without an adjoint; its value is made of sums and products.
        slopes: Of a custom adjoint: the derivative by each parameter.
        factors: What each derivative is multiplied with; 0 leaves it out.
        assigns: The custom adjoint assigns instead of adding.
    """

    name: str
    parameters: tuple[str, ...]
    value: Expr
    native: bool = False
    slopes: tuple[Expr, ...] = ()
    factors: tuple[float, ...] = ()
    assigns: bool = False
    mark: str = ""


# -- memory ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Buffer:
    """An array, or with `rows` several of them.

    Attributes:
        length: Elements (of a row).
        width: 1 for scalars, 2 or 3 for vectors, 0 for indices.
        rows: Number of rows; 0 for a plain array.
        layout: Whether rows are those of one two-dimensional array, or the entries of a list of arrays.
        values: What it starts with, flat; empty means zeros.
        scope: Whether it is allocated once or anew in every iteration.
        late_flag: The flag is set by an assignment after the allocation, and after a struct took the array.
        retain: It is allocated with `retain_grad`.
    """

    name: str
    length: int
    width: int = 1
    role: Literal["parameter", "data", "work", "loss", "index"] = "work"
    rows: int = 0
    layout: Literal["matrix", "list"] = "matrix"
    values: tuple[float, ...] = ()
    requires_grad: bool = True
    scope: Literal["program", "iteration"] = "iteration"
    late_flag: bool = False
    retain: bool = False
    mark: str = ""


@dataclass(frozen=True)
class Struct:
    """A struct type with one instance of it; its fields are buffers, each under its own name."""

    name: str
    fields: tuple[str, ...]


@dataclass(frozen=True)
class Step:
    """The row `t + offset`, modulo `modulo` where that is not 0; `t` counts the turns of the surrounding loop."""

    offset: int
    modulo: int = 0


@dataclass(frozen=True)
class Ref:
    """A buffer, a row of it, or a slice of either; through a second array on the same pointer where `alias`."""

    buffer: str
    row: int | Step | None = None
    start: int | None = None
    stop: int | None = None
    alias: bool = False


# -- operations ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Launch:
    """A launch; "command" records a command and launches it, "silent" asks not to be recorded by a tape."""

    kernel: str
    bindings: tuple[Ref, ...]
    dim: int
    mark: str = ""
    how: Literal["launch", "command", "silent"] = "launch"


@dataclass(frozen=True)
class Copy:
    """`wp.copy(target, source)`, `target.assign(source)`, `target = wp.clone(source)`, or an array made from NumPy."""

    target: Ref
    source: Ref
    how: Literal["copy", "assign", "clone", "host"] = "copy"
    mark: str = ""


@dataclass(frozen=True)
class Fill:
    """Sets every element to one value, by `fill_` or `zero_`, by `assign` from NumPy, or through `.numpy()`."""

    target: Ref
    value: float
    how: Literal["fill", "assign", "view"] = "fill"
    mark: str = ""


@dataclass(frozen=True)
class Loop:
    count: int
    body: tuple[Launch | Copy | Fill, ...]


Operation = Launch | Copy | Fill | Loop


# -- the statements of an iteration ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Tape:
    name: str
    body: tuple[Operation, ...]


@dataclass(frozen=True)
class Backward:
    """Backward from a loss; of more than one element, seeded with `weight` for each.

    With `seeds` it carries another pass on instead: pairs of buffers, of which the first is seeded with the second's
    gradient.
    """

    tape: str
    loss: str
    weight: float = 1.0
    mark: str = ""
    seeds: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Read:
    """Reads the gradients for the update, copied or as the view that `.numpy()` gives."""

    copied: bool = True
    mark: str = ""


@dataclass(frozen=True)
class Clear:
    """Zeroes gradients: of all that the tapes know, or of the parameters alone."""

    how: Literal["tape", "gradients"] = "tape"
    mark: str = ""


@dataclass(frozen=True)
class Update:
    """Reports, then steps: "host" descent, "momentum" or "adam" in NumPy, a "kernel", or Warp's "SGD" or "Adam"."""

    rule: Literal["host", "momentum", "adam", "kernel", "SGD", "Adam"]
    rate: float
    mark: str = ""


Statement = Tape | Backward | Read | Clear | Update | Operation


@dataclass(frozen=True)
class Program:
    """One program.

    Attributes:
        statements: One iteration, after the allocation of its buffers.
        mean: The objective is the mean of the loss elements, not their sum.
        rebuilt: Parameters are rebuilt from NumPy in every iteration.
        guarded: The whole lies in a `main` function behind a guard.
        kept_tapes: Tapes are made once, before the iterations.
        orphaned: Steps change arrays that were copied from the parameters at the start, and take their gradients.
        reported: The buffer that holds the objective, where it is not the losses.
    """

    precision: Literal["float32", "float64"]
    buffers: tuple[Buffer, ...]
    kernels: tuple[Kernel, ...]
    statements: tuple[Statement, ...]
    iterations: int
    functions: tuple[Function, ...] = ()
    structs: tuple[Struct, ...] = ()
    mean: bool = False
    rebuilt: bool = False
    guarded: bool = False
    kept_tapes: bool = False
    reported: str = ""
    orphaned: bool = False
    notes: tuple[str, ...] = field(default=())

    def buffer(self, name: str) -> Buffer:
        return next(b for b in self.buffers if b.name == name)

    def kernel(self, name: str) -> Kernel:
        return next(k for k in self.kernels if k.name == name)

    @property
    def parameters(self) -> tuple[Buffer, ...]:
        return tuple(b for b in self.buffers if b.role == "parameter")

    @property
    def losses(self) -> tuple[Buffer, ...]:
        return tuple(b for b in self.buffers if b.role == "loss")
