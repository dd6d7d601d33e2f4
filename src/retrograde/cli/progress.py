"""The line that shows what an audit is doing."""

from __future__ import annotations

from rich.console import Console
from rich.status import Status


class Progress:
    """A line on a terminal that is gone once the audit is over; nothing elsewhere.

    Args:
        console: The console of standard error.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status: Status | None = None
        self._shown = ""

    def show(self, message: str) -> None:
        """Show `message` in place of the one before; an empty one changes nothing."""
        if not message or message == self._shown or not self._console.is_terminal:
            return
        self._shown = message
        if self._status is None:
            self._status = self._console.status(message)
            self._status.start()
        else:
            self._status.update(message)

    def clear(self) -> None:
        """Remove the line."""
        if self._status is not None:
            self._status.stop()
            self._status = None
