"""How a program is run with other contents of a parameter, in terms that need no auditor.

A call is named by its kind and number, "the 7th launch"; the objective by the backward passes that begin from it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Reading:
    """A part of the objective.

    Attributes:
        backward: Number of the backward pass at whose beginning it is read, from 1.
        weights: Weights on the elements of each seeded array; empty where the loss itself is read.
    """

    backward: int
    weights: tuple[Float, ...] = ()


@dataclass(frozen=True, eq=False)
class Rerun:
    """How to run a program with other contents of a parameter.

    Attributes:
        parameter, iteration: Which.
        obstacle: Why it cannot be done without the auditor; None where it can.
        call: What first reads the parameter: "launch" or "numpy".
        number: Which of the calls of that kind it is, from 1.
        kernel: Name of the launched kernel, to be sure.
        position, fields: Index of the argument, and the fields of structs below it.
        offset: Address of the parameter minus that of the argument [byte].
        strides: Of the parameter, components of vectors as trailing axes [byte].
        dtype: Name of its scalar type.
        contents: What it holds there.
        readings: The objective.
    """

    parameter: str
    iteration: int
    obstacle: str | None
    call: str
    number: int
    kernel: str
    position: int
    fields: tuple[str, ...]
    offset: int
    strides: tuple[int, ...]
    dtype: str
    contents: Float
    readings: tuple[Reading, ...]
