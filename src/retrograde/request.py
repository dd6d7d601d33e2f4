"""What a user asks of an audit."""

from __future__ import annotations

from dataclasses import dataclass

LIMIT = 120.0
"""Time after which an audit is over where the user names no budget [s]."""

RUNNING = "running the program"
"""What an audit says that it does as long as the program itself runs."""

MEMORY, DISK = 4.0, 16.0
"""Where what the program overwrites may be kept if the user does not say [GiB]."""


@dataclass(frozen=True)
class AuditRequest:
    """One program to audit, and how.

    Exactly one of `script` and `module` names the program.

    Attributes:
        script: Path of the program's file, as `python SCRIPT` takes it; None with `module`.
        module: Dotted name of the program's module, as `python -m MODULE` takes it; None with `script`.
        args: The program's own arguments.
        iterations: Number of iterations to judge; None leaves the choice to the audit.
        objective: Name of the loss to judge; None takes the losses that `backward` ran on.
        parameters: Names of the parameters to judge; empty judges all.
        budget: Time that the audit may take [s]; None for what it needs, up to `LIMIT`.
        seed: Seed of the random probes.
        accept: Codes of causes that are declared intended: they are noted, and are no faults.
        against: Path of an npz file with another implementation's gradients; None without one.
        memory: What the program overwrites may be kept in this much memory [GiB].
        disk: And beyond that in this much of the disk [GiB].
        evidence: Whether what a script needs to measure the same slopes again is to be kept.
        scratch: Folder for the audit's temporary files, which whoever asks removes afterwards; None makes one.
    """

    script: str | None = None
    module: str | None = None
    args: tuple[str, ...] = ()
    iterations: int | None = None
    objective: str | None = None
    parameters: tuple[str, ...] = ()
    budget: float | None = None
    seed: int = 0
    accept: tuple[str, ...] = ()
    against: str | None = None
    evidence: bool = False
    memory: float = MEMORY
    disk: float = DISK
    scratch: str | None = None

    def __post_init__(self) -> None:
        """Refuse a request without a program, or with two.

        Raises:
            ValueError: Not exactly one of `script` and `module` is given.
        """
        if (self.script is None) == (self.module is None):
            raise ValueError("An audit needs either a script or a module.")

    @property
    def program(self) -> str:
        """The program as it is written on a command line of `python`: "train.py", "-m pkg.train"."""
        return self.script if self.script is not None else f"-m {self.module}"
