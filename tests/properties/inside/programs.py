"""Small training programs around one construct in a kernel, and their exact objective and gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from tests.properties.inside.constructs import Construct, Make, Place, indented
from tests.properties.inside.reading import Array, Contents, Launch, Reading, constant, parameter, slope_of
from tests.support.printed import read_printed

Layout = Literal["plain", "rows", "struct", "vectors"]
_LAYOUTS: tuple[Layout, ...] = ("plain", "rows", "struct", "vectors")


@dataclass(frozen=True)
class Program:
    """A training program.

    Attributes:
        route: What is in it, in words.
        source: Its text.
        kernels: The part of it that defines kernels.
        launches: What one iteration launches.
        starts: Contents of its arrays where an iteration begins, without the parameters.
        shape: Shape of the parameters, components of vectors last.
        layout: How the kernels see the parameters.
    """

    route: str
    source: str
    kernels: str
    launches: tuple[Launch, ...]
    starts: dict[str, np.ndarray]
    shape: tuple[int, ...]
    layout: Layout

    def objective(self, values: np.ndarray) -> tuple[float, np.ndarray]:
        """The objective and its gradient at given parameters, by the kernels read as Python."""
        reading = Reading(self.kernels)
        width = self.shape[-1] if self.layout == "vectors" else 1
        contents: Contents = {name: constant(start, 1) for name, start in self.starts.items()}
        contents["theta"] = parameter(values.reshape(self.shape), width)
        if self.layout == "struct":
            contents["given"] = reading.struct("Given", {k: contents[k] for k in ("theta", "data", "counts")})
            contents["given"].scale = 0.8
        for launch in self.launches:
            reading.launch(launch, contents)
        loss = contents["loss"]
        assert isinstance(loss, Array)
        return loss.values[0].value, slope_of(loss, values.size)


@dataclass(frozen=True)
class Compared:
    """What a program printed beside the exact objective and gradient; errors relative to the exact values."""

    objective_error: float
    error: float
    size: float


def compare(program: Program, printed: str) -> list[Compared]:
    """Every printed iteration.

    Raises:
        ValueError: Nothing was printed.
    """
    found: list[Compared] = []
    for seen in read_printed(printed):
        value, gradient = program.objective(seen.arrays["theta"])
        size = float(np.linalg.norm(gradient))
        error = float(np.linalg.norm(seen.gradient("theta") - gradient)) / max(size, 1e-12)
        found.append(Compared(abs(seen.objective - value) / max(1e-3, abs(value)), error, size))
    if not found:
        raise ValueError(f"No iteration was printed:\n{printed[-500:]}")
    return found


def build(make: Make, seed: int) -> Program:
    """A program around a construct.

    Args:
        make: Makes the construct.
        seed: Decides everything else.
    """
    rng = np.random.default_rng([seed, 41])
    return _Builder(rng, make).program()


class _Builder:
    def __init__(self, rng: np.random.Generator, make: Make) -> None:
        self.rng = rng
        self.double = bool(rng.random() < 0.4)
        self.real = "wp.float64" if self.double else "float"
        self.layout: Layout = _LAYOUTS[int(rng.choice(4, p=[0.4, 0.25, 0.2, 0.15]))]
        self.dim = (
            (int(rng.integers(2, 4)), int(rng.integers(2, 4))) if self.layout == "rows" else (int(rng.integers(4, 9)),)
        )
        self.threads = int(np.prod(self.dim))
        self.here = "i, j" if self.layout == "rows" else "i"
        self.before = bool(rng.random() < 0.5)
        place = Place(rng, self.double, self.here, self.threads)
        self.place = place
        self.construct = self._wrapped(make, place)

    def c(self, value: float) -> str:
        return self.place.c(value)

    # -- the construct, perhaps inside functions

    def _wrapped(self, make: Make, place: Place) -> Construct:
        """The construct as it is, or inside a function, or inside a function that a function calls."""
        construct = make(replace(place, x="a", y="b", turns="count"))
        depth = int(self.rng.integers(3))
        if construct.in_kernel or not depth:
            renamed = [f"a = {place.x}", f"b = {place.y}", f"count = {place.turns}"]
            return replace(construct, body=(*renamed, *construct.body))
        arguments = f"a: {self.real}, b: {self.real}, count: int"
        inner = "\n".join(
            ["@wp.func", f"def respond({arguments}):", *indented([*construct.body, f"return {construct.value}"])]
        )
        functions, name = (*construct.functions, inner), "respond"
        if depth == 2:
            rest = "" if construct.alone else f" + {place.any()} * wp.sin(half) * b"
            outer = ["half = respond(a, b, count)", f"return half{rest}"]
            functions, name = (
                (*functions, "\n".join(["@wp.func", f"def outer({arguments}):", *indented(outer)])),
                "outer",
            )
        value = f"{name}({place.x}, {place.y}, {place.turns})"
        return replace(construct, body=(), value=value, functions=functions)

    # -- kernels

    def _array(self, kind: str = "", ndim: int | None = None) -> str:
        ndim = len(self.dim) if ndim is None else ndim
        return f"wp.array(dtype={kind or self.real}" + (f", ndim={ndim})" if ndim > 1 else ")")

    def _signature(self) -> list[str]:
        given = {
            "plain": [f"theta: {self._array()}", f"data: {self._array()}", f"counts: {self._array('int', 1)}"],
            "rows": [f"theta: {self._array()}", f"data: {self._array()}", f"counts: {self._array('int', 1)}"],
            "vectors": [
                f"theta: {self._array('wp.vec2' + self.place.suffix)}",
                f"data: {self._array()}",
                f"counts: {self._array('int', 1)}",
            ],
            "struct": ["given: Given"],
        }[self.layout]
        integers = self._array("int", 1)
        return [
            *given, f"counter: {integers}", f"kept: {integers}",
            f"listed: {self._array(ndim=1)}", f"out: {self._array()}",
        ]  # fmt: skip

    def _field(self, name: str) -> str:
        return f"given.{name}" if self.layout == "struct" else name

    def _loads(self) -> list[str]:
        """x and y between about 0.2 and 1.5."""
        theta, data = f"{self._field('theta')}[{self.here}]", f"{self._field('data')}[{self.here}]"
        x = {
            "vectors": self.place.one_of(f"{theta}[0] * {theta}[1]", f"{self.c(0.5)} * wp.dot({theta}, {theta})"),
            "struct": f"{theta} * given.scale",
        }.get(self.layout, theta)
        if self.before and self.layout != "vectors":
            x = f"wp.sin({x})"
        thread = f"i * {self.dim[1]} + j" if self.layout == "rows" else "i"
        y = self.place.one_of(data, f"{data} * {self.c(0.5)} + {self.c(0.3)} * {x}", f"{data} * wp.cos({x})")
        return [
            f"{self.here} = wp.tid()",
            f"thread = {thread}",
            f"x = {x}",
            f"y = {y}",
            f"turns = {self._field('counts')}[thread % 3]",
        ]

    def _work(self) -> str:
        construct, lines = self.construct, self._loads()
        result = construct.value
        extra = self.place.one_of("", f" + {self.place.any()} * wp.sin(x)", f" + {self.place.any(0.2, 0.4)} * x * y")
        if construct.alone:
            extra = ""
        elif self.rng.random() < 0.3:
            lines += [
                f"more = {self.c(0.1)} * x",
                "for m in range(3):",
                f"    more = more + {self.c(0.2)} * wp.sin(more * y)",
            ]
            extra += " + more"
        lines += [*construct.body, f"value = {result}"]
        if f"out[{self.here}]" in result:
            lines.append(f"result[{self.here}] = value{extra}")
        else:
            lines.append(f"result[{self.here}] = {self.place.one_of('value', 'wp.tanh(value)')}{extra}")
        signature = [*self._signature(), f"result: {self._array()}"]
        return "\n".join(["@wp.kernel", f"def work({', '.join(signature)}):", *indented(lines)])

    def _score(self) -> str:
        head = f"def score(result: {self._array()}, wanted: {self._array()}, loss: {self._array(ndim=1)}):"
        residual = f"rest = result[{self.here}] - wanted[{self.here}]"
        lines = [f"{self.here} = wp.tid()", residual, "wp.atomic_add(loss, 0, rest * rest)"]
        return "\n".join(["@wp.kernel", head, *indented(lines)])

    def _struct(self) -> str:
        fields = [
            f"theta: {self._array()}", f"data: {self._array()}",
            f"counts: {self._array('int', 1)}", f"scale: {self.real}",
        ]  # fmt: skip
        return "\n".join(["@wp.struct", "class Given:", *indented(fields)])

    # -- the program

    def program(self) -> Program:
        blocks = [self._struct()] if self.layout == "struct" else []
        blocks += [*self.construct.functions, self._work(), self._score()]
        kernels = "\n\n\n".join(blocks)
        shape = (*self.dim, 2) if self.layout == "vectors" else self.dim
        theta = np.round(self.rng.uniform(0.25, 1.2, shape), 2)
        starts = {
            "data": np.round(self.rng.uniform(0.4, 1.2, self.dim), 2),
            "counts": self.rng.integers(2, 5, 3),
            "counter": np.zeros(1, dtype=int),
            "kept": np.zeros(self.threads, dtype=int),
            "listed": np.zeros(3 * self.threads),
            "out": np.zeros(self.dim),
            "result": np.zeros(self.dim),
            "wanted": np.round(self.rng.uniform(0.2, 0.8, self.dim), 2),
            "loss": np.zeros(1),
        }
        given = ("given",) if self.layout == "struct" else ("theta", "data", "counts")
        launches = (
            Launch("work", self.dim, (*given, "counter", "kept", "listed", "out", "result")),
            Launch("score", self.dim, ("result", "wanted", "loss")),
        )
        source = self._source(kernels, theta, starts, launches)
        route = f"{self.construct.route}, {self.layout}, {'double' if self.double else 'single'}"
        return Program(route, source, kernels, launches, starts, shape, self.layout)

    def _source(
        self, kernels: str, theta: np.ndarray, starts: dict[str, np.ndarray], launches: Sequence[Launch]
    ) -> str:
        host = "np.float64" if self.double else "np.float32"
        kind = f"wp.vec2{self.place.suffix}" if self.layout == "vectors" else self.real
        setup = [f"theta = wp.array(np.array({theta.tolist()}, dtype={host}), dtype={kind}, requires_grad=True)"]
        setup += [
            f"{name} = wp.array(np.array({starts[name].tolist()}), dtype={self.real if name != 'counts' else 'int'})"
            for name in ("data", "counts", "wanted")
        ]
        if self.layout == "struct":
            setup += [
                "given = Given()",
                "given.theta = theta",
                "given.data = data",
                "given.counts = counts",
                "given.scale = 0.8",
            ]
        fresh = [
            f"{n} = wp.zeros({starts[n].shape}, dtype={self.real}, requires_grad=True)"
            for n in ("listed", "out", "result", "loss")
        ]
        fresh += [f"{n} = wp.zeros({starts[n].shape}, dtype=int)" for n in ("counter", "kept")]
        calls = [
            f"wp.launch({call.kernel}, dim={call.dim}, inputs=[{', '.join(map(str, call.arguments))}])"
            for call in launches
        ]
        print_line = (
            'print("iter", it, "loss", float(loss.numpy()[0]), "theta", theta.numpy().tolist(), '
            '"grad_theta", gradient.tolist())'
        )
        body = [
            *fresh, "tape = wp.Tape()", "with tape:", *indented(calls), "tape.backward(loss)",
            "gradient = theta.grad.numpy().copy()", print_line,
            f"theta.assign((theta.numpy() - 0.01 * gradient).astype({host}))", "tape.zero()",
        ]  # fmt: skip
        head = [
            '"""Fits theta by gradient descent."""',
            "",
            "import numpy as np",
            "import warp as wp",
            "",
            'wp.set_device("cpu")',
        ]
        return (
            "\n".join(
                [
                    *head,
                    "",
                    "",
                    kernels,
                    "",
                    "",
                    *setup,
                    "",
                    f"for it in range({min(2, self.construct.iterations)}):",
                    *indented(body),
                ]
            )
            + "\n"
        )
