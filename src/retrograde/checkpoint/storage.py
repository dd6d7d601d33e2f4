"""Kept states, in memory or on disk."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from retrograde.checkpoint.actions import Place
from retrograde.checkpoint.states import assign, copy_contents, leaves, like, wp


class Kept:
    """The states that are kept at a time.

    Args:
        folder: Where those on disk go; the system's folder for temporary files if None.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._states: dict[int, Any] = {}
        self._files: dict[int, Path] = {}
        self._parent = folder
        self._folder: Path | None = None

    @property
    def in_memory(self) -> int:
        """How many states are in memory."""
        return len(self._states)

    def keep(self, step: int, state: Any, place: Place) -> None:
        """Keep a copy of the state before a step."""
        if place is Place.MEMORY:
            self._states[step] = like(state)
            return
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="retrograde-states-", dir=self._parent))
        path = self._folder / f"{step}.npz"
        np.savez(path, *[array.numpy() for _, array in leaves(state)])
        self._files[step] = path

    def restore(self, step: int, to: Any, drop: bool) -> None:
        """Write a kept state to another of its make.

        Raises:
            ValueError: The schedule did not keep it.
        """
        if step in self._states:
            assign(to, self._states.pop(step) if drop else self._states[step])
        elif step in self._files:
            with np.load(self._files[step], allow_pickle=False) as stored:
                for (_, array), name in zip(leaves(to), stored.files, strict=True):
                    copy_contents(array, wp.array(stored[name], dtype=array.dtype, device=array.device))
            if drop:
                self._files.pop(step).unlink()
        else:
            raise ValueError(f"the schedule restores the state before step {step}, which it has not kept")

    def clear(self) -> None:
        """Drop everything."""
        self._states.clear()
        self._files.clear()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
