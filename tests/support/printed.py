"""What training programs print: `iter 0 loss 1.5 w [0.1, 0.2] grad_w [3.0, 4.0]`."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.float64]

_LINE = re.compile(r"^iter (\d+) loss (\S+) (.*)$", re.MULTILINE)
_ARRAY = re.compile(r"(\w+) (\[.*?\])(?= [A-Za-z_]|$)")
_GRADIENT = "grad_"


@dataclass(frozen=True)
class Printed:
    """One iteration.

    Attributes:
        iteration: Its number.
        objective: The objective that it reported.
        arrays: Arrays by name, flat: parameters, their gradients under "grad_" and their name, and others.
    """

    iteration: int
    objective: float
    arrays: dict[str, Float]

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the arrays that have a gradient."""
        return tuple(name[len(_GRADIENT) :] for name in self.arrays if name.startswith(_GRADIENT))

    def gradient(self, parameter: str) -> Float:
        """The gradient that was consumed for a parameter."""
        return self.arrays[_GRADIENT + parameter]


def read_printed(text: str) -> list[Printed]:
    """The iterations that a program printed; the first of each number."""
    seen: dict[int, Printed] = {}
    for match in _LINE.finditer(text):
        arrays = {name: _array(value) for name, value in _ARRAY.findall(match[3])}
        seen.setdefault(int(match[1]), Printed(int(match[1]), float(match[2]), arrays))
    return [seen[number] for number in sorted(seen)]


def _array(text: str) -> Float:
    text = re.sub(r"\bnan\b", "NaN", re.sub(r"\binf\b", "Infinity", text))
    return np.asarray(json.loads(text), dtype=np.float64).ravel()
