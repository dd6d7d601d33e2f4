"""The files through which the command and the process that runs the program talk."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
from dataclasses import asdict, dataclass
from os import open as _open
from pathlib import Path

from retrograde.request import AuditRequest
from retrograde.result import Audit

UNDELIVERED = 191
"""Exit status of a process that had no room to leave its result."""


@dataclass(frozen=True)
class Exchange:
    """A private folder of one audit.

    The result crosses whole, as the dataclasses it is: the report's JSON leaves out the values of large gradients,
    which the terminal report still needs.

    Attributes:
        folder: The folder, made and removed by the command.
    """

    folder: Path

    @property
    def request_path(self) -> Path:
        """Where the request lies."""
        return self.folder / "request.json"

    @property
    def _result_path(self) -> Path:
        return self.folder / "result.pickle"

    @property
    def _provisional_path(self) -> Path:
        return self.folder / "provisional.pickle"

    @property
    def _progress_path(self) -> Path:
        return self.folder / "progress.txt"

    def write_request(self, request: AuditRequest) -> None:
        """Leave the request for the other process."""
        self.request_path.write_text(json.dumps(asdict(request)), encoding="utf-8")

    def read_request(self) -> AuditRequest:
        """Read what `write_request` left."""
        fields = json.loads(self.request_path.read_text(encoding="utf-8"))
        for name in ("args", "parameters", "accept"):
            fields[name] = tuple(fields[name])
        return AuditRequest(**fields)

    def write_result(self, audit: Audit) -> None:
        """Leave the result for the command; it appears whole or not at all.

        Raises:
            OSError: There is no room for it.
        """
        _leave(audit, self._result_path)

    def write_provisional(self, audit: Audit) -> None:
        """Leave what is known so far, for the case that the process has to be ended before its result.

        Where there is no room for it, the result is all that there will be.
        """
        with contextlib.suppress(OSError):
            _leave(audit, self._provisional_path)

    def read_result(self) -> Audit | None:
        """Read what `write_result` left; None where it left nothing yet."""
        return _take(self._result_path)

    def read_provisional(self) -> Audit | None:
        """Read what `write_provisional` left last; None where it left nothing yet."""
        return _take(self._provisional_path)

    def has_result(self) -> bool:
        """Whether a whole result lies there."""
        return self._result_path.exists()

    def say(self, message: str) -> None:
        """Tell the command, in one line, what is being done; where there is no room for it, it is not told."""
        with contextlib.suppress(OSError):
            _write(self._progress_path, (message.replace("\n", " ") + "\n").encode(), os.O_APPEND)

    def last_said(self) -> str:
        """The latest whole line that `say` wrote; empty before the first."""
        if not self._progress_path.exists():
            return ""
        lines = self._progress_path.read_text(encoding="utf-8").split("\n")[:-1]
        return lines[-1] if lines else ""


def _leave(audit: Audit, path: Path) -> None:
    partial = path.with_suffix(".partial")
    _write(partial, pickle.dumps(audit), os.O_TRUNC)
    os.replace(partial, path)


def _write(path: Path, data: bytes, how: int) -> None:
    """Write as the system does; the program may have put something else in place of `open`."""
    descriptor = _open(path, os.O_WRONLY | os.O_CREAT | how, 0o600)
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    finally:
        os.close(descriptor)


def _take(path: Path) -> Audit | None:
    if not path.exists():
        return None
    audit = pickle.loads(path.read_bytes())
    assert isinstance(audit, Audit)
    return audit
