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
        spec.loader = _TellingLoader(spec.loader, self._imported)
        return spec

    def _imported(self, module: ModuleType) -> None:
        self.remove()
        self._tell(module)


class _TellingLoader(importlib.abc.Loader):
    """Loads by another loader, and tells; nothing of it is left in the module."""

    def __init__(self, loader: importlib.abc.Loader, told: Callable[[ModuleType], None]) -> None:
        self._loader = loader
        self._told = told

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._told(module)
