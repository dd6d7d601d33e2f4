"""The programs of this folder: what each one's header expects, and its twin in NumPy."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from tests.support.printed import Printed

HERE = Path(__file__).parent
_HEADER = re.compile(r"# expect: (right|wrong|wrong by all|right, today undecided)((?:, remark RG\d{3})*)$")
_MARK = re.compile(r"# <- ((?:RG\d{3} ?)+)$")
_MENDED = "_mended"
_STEP = 1e-5

Float = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Labelled:
    """A program with its labels.

    Attributes:
        path: Its file.
        verdict: The expected verdict.
        today: What this version says where it cannot judge yet, else the verdict.
        remarks: Codes of expected remarks.
        marks: Line and code of the expected causes; lines with the same code are alternatives.
        all_codes: Every marked code must be found; otherwise one is enough.
        objective: Its twin: the objective in double precision, of the printed arrays by name.
        needs: Packages that it needs beyond the project's own.
    """

    path: Path
    verdict: str
    today: str
    remarks: tuple[str, ...]
    marks: tuple[tuple[int, str], ...]
    all_codes: bool
    objective: Callable[..., float]
    needs: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.path.parent.name}/{self.path.stem}"

    @property
    def codes(self) -> frozenset[str]:
        return frozenset(code for _, code in self.marks)

    def at(self, printed: Printed) -> Callable[[dict[str, Float]], float]:
        """The objective of one iteration, as a function of its parameters alone."""
        wanted = inspect.signature(self.objective).parameters
        known = {n: a for n, a in printed.arrays.items() if n in wanted}
        if "iteration" in wanted:
            return lambda moved: self.objective(**(known | moved), iteration=printed.iteration)
        return lambda moved: self.objective(**(known | moved))

    def gradient(self, printed: Printed) -> Float:
        """The twin's gradient by all printed parameters, by central differences of fourth order."""
        objective = self.at(printed)
        parts: list[float] = []
        for name in printed.parameters:
            at = printed.arrays[name]
            for element in range(at.size):
                step = _STEP * max(1.0, abs(float(at[element])))

                def value(
                    turns: float, name: str = name, at: Float = at, element: int = element, step: float = step
                ) -> float:
                    moved = at.copy()
                    moved[element] += turns * step
                    return objective({name: moved})

                near, far = value(1) - value(-1), value(2) - value(-2)
                parts.append((8.0 * near - far) / (12.0 * step))
        return np.array(parts)


def labelled_programs() -> list[Labelled]:
    """All programs of this folder, by name."""
    paths = sorted(p for p in HERE.glob("*/*.py") if p.parent.name != "twins")
    return [_read(path) for path in paths]


def skip_without(program: Labelled) -> None:
    """Skip a test where a package that the program needs is not installed."""
    for package in program.needs:
        pytest.importorskip(package, reason=f"{package} is not installed: pip install {package}")


def _read(path: Path) -> Labelled:
    lines = path.read_text(encoding="utf-8").splitlines()
    header = _HEADER.match(lines[0])
    if header is None:
        raise ValueError(f"{path} begins with no header.")
    marks = [(n, code) for n, line in enumerate(lines, 1) if (m := _MARK.search(line)) for code in m[1].split()]
    twins = importlib.import_module(f"tests.programs.twins.{path.parent.name.lower()}")
    objective = getattr(twins, path.stem.removesuffix(_MENDED))
    return Labelled(
        path,
        re.split(r"\W", header[1])[0],
        header[1].split()[-1] if "today" in header[1] else re.split(r"\W", header[1])[0],
        tuple(re.findall(r"RG\d{3}", header[2])),
        tuple(marks),
        header[1].endswith("all"),
        objective,
        ("torch",) if "import torch" in lines else (),
    )
