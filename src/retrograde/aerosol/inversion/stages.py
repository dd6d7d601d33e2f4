"""Finished stages of an inversion, kept in a file so that an interrupted one can be taken up again."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from retrograde.aerosol.inversion.ensemble import EnsembleCheck
from retrograde.aerosol.inversion.problem import Problem
from retrograde.aerosol.inversion.search import Minimum
from retrograde.aerosol.inversion.settings import Settings
from retrograde.aerosol.inversion.stopping import Stopping
from retrograde.aerosol.inversion.strength import StrengthCurve

Arrays = dict[str, Any]

_LARGEST = 200_000_000


class Stages:
    """Results by stage, in one file of plain arrays that belongs to one problem and its settings.

    A file of another problem, or one that cannot be read, is ignored and replaced.

    Attributes:
        path: The file; None keeps nothing.
    """

    def __init__(self, path: Path | None, problem: Problem, settings: Settings) -> None:
        self.path = path
        self._key = _fingerprint(problem, settings)
        self._arrays = self._read()

    def minimum(self, compute: Callable[[], Minimum]) -> Minimum:
        """The minimum: taken from the file, or computed and kept."""
        stored = self._of("minimum")
        if stored is not None:
            curve = {name.removeprefix("curve."): value for name, value in stored.items() if name.startswith("curve.")}
            rest = {name: value for name, value in stored.items() if not name.startswith("curve.")}
            curve |= {"rule": str(curve["rule"]), "strength": float(curve["strength"])}
            made = StrengthCurve(**curve)
            rest |= {name: float(rest[name]) for name in ("objective", "start_distance")}
            rest |= {"curve": made, "stopping": Stopping[str(rest["stopping"])], "iterations": int(rest["iterations"])}
            return Minimum(**rest)
        result = compute()
        arrays = {f.name: getattr(result, f.name) for f in fields(Minimum) if f.name not in ("curve", "stopping")}
        arrays |= {f"curve.{f.name}": getattr(result.curve, f.name) for f in fields(StrengthCurve)}
        self._keep("minimum", {**arrays, "stopping": result.stopping.name})
        return result

    def ensemble(self, compute: Callable[[], EnsembleCheck]) -> EnsembleCheck:
        """The ensemble: taken from the file, or computed and kept."""
        stored = self._of("ensemble")
        if stored is not None:
            stored["members"] = int(stored["members"])
            return EnsembleCheck(**stored)
        result = compute()
        self._keep("ensemble", {f.name: getattr(result, f.name) for f in fields(EnsembleCheck)})
        return result

    def forget(self) -> None:
        """Remove the file: the inversion is finished and its results are elsewhere."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def _of(self, stage: str) -> Arrays | None:
        prefix = f"{stage}/"
        found = {n.removeprefix(prefix): v for n, v in self._arrays.items() if n.startswith(prefix)}
        return found or None

    def _keep(self, stage: str, arrays: Arrays) -> None:
        self._arrays |= {f"{stage}/{name}": np.asarray(value) for name, value in arrays.items()}
        if self.path is None:
            return
        partial = self.path.with_suffix(".partial")
        with partial.open("wb") as stream:
            np.savez(stream, key=np.asarray(self._key), **self._arrays)
        os.replace(partial, self.path)

    def _read(self) -> Arrays:
        if self.path is None or not self.path.is_file() or self.path.stat().st_size > _LARGEST:
            return {}
        try:
            with self.path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
                arrays: Arrays = {name: archive[name] for name in archive.files}
        except (OSError, ValueError, EOFError, KeyError, BadZipFile):
            return {}
        return arrays if str(arrays.pop("key", "")) == self._key else {}


def _fingerprint(problem: Problem, settings: Settings) -> str:
    terms = problem.simulation.terms
    digest = hashlib.sha256(repr(settings).encode())
    arrays = [problem.measured, problem.covariance, problem.unknown.diameters, problem.simulation.times]
    arrays += [problem.operator.matrix.data, problem.simulation.grid.volumes, terms.removal, terms.supply]
    if terms.coagulation is not None:
        arrays.append(terms.coagulation.kernel)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
