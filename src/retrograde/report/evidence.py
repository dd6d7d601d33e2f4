"""Leaves the evidence of an audit in a folder: the report, the arrays behind its numbers, and a script to redo them."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from retrograde.gradients.reruns import Rerun
from retrograde.gradients.rungs import Array, Direction, Ladder
from retrograde.report.json import render_json
from retrograde.report.numbers import number
from retrograde.report.terminal import render_terminal
from retrograde.request import AuditRequest
from retrograde.result import Audit

SCRIPT = "differences.py"
"""Name of the script in the folder."""

_README = """\
# Evidence of an audit of {program}

- `report.txt` and `report.json`: what was concluded.
- `{script}`: measures the slopes again, by differences of the program itself. It needs numpy, warp and the program:

      python {script}                    # all
      python {script} NAME ITERATION     # of one parameter

  Every value is a run of the program from its beginning, so this takes {runs} runs. It prints the slope measured
  again beside the one in the report, its error bar, and what the gradient that was used says, and leaves the same in
  `measured.json`. The report fits more steps, so the two agree within the noise of single precision.
- `plan.json`: where the parameter is first read, where the objective is, and the slopes.
- `arrays.npz`: the arrays behind the numbers, one group a parameter and iteration N, in the order of `plan.json`:
  `N.contents`, `N.consumed`, `N.taped`, `N.ideal`, `N.reference`, `N.reference_error` (not a number where an element
  was not measured alone), and `N.M.direction` for direction M, so that `N.consumed . N.M.direction` is the slope that
  the gradient used predicts. `N.weights.I.J` are the weights of part I of the objective on its array J.

The program was run in `{folder}`.
"""


def write_evidence(folder: Path, audit: Audit, request: AuditRequest) -> None:
    """Leave everything in an empty folder, which is made if it is not there; or nothing.

    Raises:
        OSError: It cannot be written.
    """
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        _write_all(folder, audit, request)
    except OSError:
        with contextlib.suppress(OSError):
            for path in folder.iterdir():
                path.unlink()
            for place in made:
                place.rmdir()
        raise


def _write_all(folder: Path, audit: Audit, request: AuditRequest) -> None:
    pairs = list(zip(audit.ladder, audit.reruns, strict=True))
    entries = [_entry(ladder, rerun) for ladder, rerun in pairs]
    place = os.getcwd()
    program = {"script": request.script, "module": request.module, "args": list(request.args), "folder": place}
    (folder / "plan.json").write_text(
        json.dumps({"program": program, "parameters": entries}, indent=1, allow_nan=False)
    )
    arrays: Any = _arrays(pairs)
    np.savez_compressed(folder / "arrays.npz", **arrays)
    (folder / "report.json").write_text(render_json(audit) + "\n", encoding="utf-8")
    (folder / "report.txt").write_text(render_terminal(audit), encoding="utf-8")
    script = files("retrograde.report").joinpath("evidence_kit", SCRIPT).read_text(encoding="utf-8")
    (folder / SCRIPT).write_text(script, encoding="utf-8")
    runs = 4 * sum(d.step > 0.0 for ladder, rerun in pairs if rerun.obstacle is None for d in ladder.directions)
    text = _README.format(program=audit.script, script=SCRIPT, runs=runs, folder=place)
    (folder / "README.md").write_text(text, encoding="utf-8")


def _entry(ladder: Ladder, rerun: Rerun) -> dict[str, Any]:
    return {
        "parameter": rerun.parameter,
        "iteration": rerun.iteration,
        "obstacle": rerun.obstacle,
        "call": rerun.call,
        "number": rerun.number,
        "kernel": rerun.kernel,
        "position": rerun.position,
        "fields": list(rerun.fields),
        "offset": rerun.offset,
        "strides": list(rerun.strides),
        "dtype": rerun.dtype,
        "readings": [{"backward": r.backward, "weights": len(r.weights)} for r in rerun.readings],
        "directions": [_direction(direction) for direction in ladder.directions],
    }


def _direction(direction: Direction) -> dict[str, Any]:
    names = ("consumed", "taped", "ideal", "reference", "error", "left", "right", "step")
    return {"label": direction.label, **{name: number(getattr(direction, name)) for name in names}}


def _arrays(pairs: Sequence[tuple[Ladder, Rerun]]) -> dict[str, npt.NDArray[Any]]:
    found: dict[str, npt.NDArray[Any]] = {}
    for n, (ladder, rerun) in enumerate(pairs):
        rungs: dict[str, Array | None] = {
            "consumed": ladder.consumed,
            "taped": ladder.taped,
            "ideal": ladder.ideal,
            "reference": ladder.reference,
            "reference_error": ladder.reference_error,
        }
        found[f"{n}.contents"] = rerun.contents
        found |= {f"{n}.{name}": a.reshape(ladder.shape) for name, a in rungs.items() if a is not None}
        found |= {f"{n}.{m}.direction": d.vector for m, d in enumerate(ladder.directions)}
        for i, reading in enumerate(rerun.readings):
            found |= {f"{n}.weights.{i}.{j}": w for j, w in enumerate(reading.weights)}
    return found
