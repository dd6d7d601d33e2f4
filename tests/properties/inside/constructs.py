"""What a construct is made of: text for a kernel or a function, with the line at fault marked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Construct:
    """A piece of a kernel that computes one number.

    Attributes:
        route: What it is, in words.
        body: Its statements.
        value: The expression of its result.
        functions: Definitions that it needs before the kernel, one a text.
        in_kernel: Whether its body must lie in the kernel itself.
        iterations: Most iterations that the program may run.
        alone: Whether nothing else is to carry a gradient.
    """

    route: str
    body: tuple[str, ...]
    value: str
    functions: tuple[str, ...] = ()
    in_kernel: bool = False
    iterations: int = 3
    alone: bool = False


@dataclass(frozen=True)
class Place:
    """What a construct finds where it is put.

    Attributes:
        rng: Random choices.
        double: Whether numbers are of double precision.
        here: Index of the thread's element, as text.
        threads: Number of threads.
        x, y: Local numbers between about 0.2 and 1.5 that depend on the parameters.
        turns: A local integer between 2 and 5 that is known at run time only.
        out: An array whose element `here` is this thread's, and zero.
        counter: An array of one integer, zero.
        name: A prefix for names.
    """

    rng: np.random.Generator
    double: bool
    here: str
    threads: int
    x: str = "x"
    y: str = "y"
    turns: str = "turns"
    out: str = "out"
    counter: str = "counter"
    name: str = "t"

    @property
    def real(self) -> str:
        """The type of its numbers."""
        return "wp.float64" if self.double else "float"

    @property
    def suffix(self) -> str:
        """What the types of vectors end in."""
        return "d" if self.double else ""

    def c(self, value: float) -> str:
        """A number written out."""
        return f"wp.float64({value!r})" if self.double else repr(value)

    def any(self, low: float = 0.3, high: float = 0.9) -> str:
        """Some number written out."""
        return self.c(round(float(self.rng.uniform(low, high)), 2))

    def one_of(self, *choices: str) -> str:
        """One of several texts."""
        return choices[int(self.rng.integers(len(choices)))]

    def factor(self, *of: str) -> str:
        """An expression of order one that depends on some locals, nonlinearly."""
        x = self.one_of(*(of or (self.x, self.y)))
        return self.one_of(
            f"({self.c(1.0)} + {self.any(0.2, 0.5)} * wp.sin({self.any(0.7, 1.4)} * {x}))",
            f"({self.any(0.6, 0.9)} + {self.any(0.2, 0.4)} * {x} * {x})",
            f"(wp.exp({self.c(-0.4)} * {x}) + {self.any(0.3, 0.5)})",
            f"({self.c(1.1)} - {self.any(0.2, 0.4)} * wp.cos({x}))",
        )

    def start(self) -> str:
        """An expression of order one that depends on the parameters."""
        return self.one_of(
            f"({self.x} + {self.any(0.3, 0.6)})", f"(wp.sin({self.x}) + {self.c(0.8)})", f"({self.x} * {self.y})"
        )


Make = Callable[[Place], Construct]


@dataclass(frozen=True)
class Family:
    """A cause: constructs that have its fault, and their right twins.

    Attributes:
        code: The cause.
        faulty, right: What makes them.
        verdict: What an audit of a program with the fault must say.
    """

    code: str
    faulty: tuple[Make, ...]
    right: tuple[Make, ...] = field(default=())
    verdict: str = "wrong"


def indented(lines: tuple[str, ...] | list[str], levels: int = 1) -> tuple[str, ...]:
    """Lines of an inner block."""
    return tuple("    " * levels + line for line in lines)
