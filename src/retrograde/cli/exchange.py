"""The files through which the command and the process that runs the program talk."""

from __future__ import annotations

import json
import os
import pickle
from dataclasses import asdict, dataclass
from pathlib import Path

from retrograde.request import AuditRequest
from retrograde.result import Audit


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
        """Leave the result for the command; it appears whole or not at all."""
        _leave(audit, self._result_path)

    def write_provisional(self, audit: Audit) -> None:
        """Leave what is known so far, for the case that the process has to be ended before its result."""
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
        """Tell the command, in one line, what is being done."""
        with self._progress_path.open("a", encoding="utf-8") as file:
            file.write(message.replace("\n", " ") + "\n")

    def last_said(self) -> str:
        """The latest whole line that `say` wrote; empty before the first."""
        if not self._progress_path.exists():
            return ""
        lines = self._progress_path.read_text(encoding="utf-8").split("\n")[:-1]
        return lines[-1] if lines else ""


def _leave(audit: Audit, path: Path) -> None:
    partial = path.with_suffix(".partial")
    partial.write_bytes(pickle.dumps(audit))
    os.replace(partial, path)


def _take(path: Path) -> Audit | None:
    if not path.exists():
        return None
    audit = pickle.loads(path.read_bytes())
    assert isinstance(audit, Audit)
    return audit
