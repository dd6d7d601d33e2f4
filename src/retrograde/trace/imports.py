"""Is told when the program has imported a package that the auditor does not need."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Sequence
from types import ModuleType


class WhenImported(importlib.abc.MetaPathFinder):
    """Calls back once a package has been imported; at once if it has been already.

    Args:
        name: Name of the package.
        tell: Takes the package.
    """

    def __init__(self, name: str, tell: Callable[[ModuleType], None]) -> None:
        self._name = name
        self._tell = tell
        self._busy = False
        if name in sys.modules:
            tell(sys.modules[name])
        else:
            sys.meta_path.insert(0, self)

    def remove(self) -> None:
        """No longer wait for it."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The package's own spec, with a loader that calls back; None for everything else."""
        if fullname != self._name or self._busy:
            return None
        self._busy = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._busy = False
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            load(module)
            self.remove()
            self._tell(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
