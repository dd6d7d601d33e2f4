"""Re-execution: the user's own program run again from a snapshot, perturbed, up to the loss.

A snapshot is a forked copy of the process that waits where an iteration may begin. Told to re-execute,
it forks again; the copy goes on with the program, writes the perturbation where the parameter is first
read, reports the objective and ends. Nothing of it reaches the program under audit: streams go to the
null device, files open for writing are detached, files opened for writing later are private copies.
"""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import io
import os
import platform
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from retrograde.gradients.pipes import receive, send
from retrograde.trace.plan import Outcome, Plan
from retrograde.trace.recorder import Recorder
from retrograde.trace.warp_api import wp

DIED = Outcome(failure="the re-executed program died")
TOO_LONG = Outcome(failure="a re-execution took too long")

Begin = Callable[[Sequence[Plan], int, float], Callable[[], list[Outcome]]]
"""Begins several plans, some side by side, each with a limit of time [s]; what it returns waits for the outcomes."""


def can_fork() -> bool:
    """Whether this process may be forked: POSIX, and no CUDA context that a copy could not use."""
    if not hasattr(os, "fork"):
        return False
    return not any(d.is_cuda for d in wp.get_devices())


def try_to_fork() -> int | None:
    """Fork this process: as `os.fork`, or None where the system has no room for another one."""
    try:
        return os.fork()
    except OSError:
        return None


@dataclass(eq=False)
class Snapshot:
    """A waiting copy of the process.

    Attributes:
        ordinal: Ordinal of the call that it waits before.
        process: Its process id.
        requests, replies: File descriptors.
    """

    ordinal: int
    process: int
    requests: int
    replies: int

    def begin(self, plans: Sequence[Plan], workers: int, limit: float) -> Callable[[], list[Outcome]]:
        """Begin to re-execute several plans, some side by side; the outcomes must be waited for before the next.

        Args:
            plans: What to do.
            workers: How many at once.
            limit: Time allowed for each [s].
        """
        send(self.requests, (list(plans), workers, limit))

        def wait() -> list[Outcome]:
            reply = receive(self.replies)
            return reply if reply is not None else [DIED for _ in plans]

        return wait

    def close(self) -> None:
        """End the copy."""
        for descriptor in (self.requests, self.replies):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        with contextlib.suppress(OSError):
            os.kill(self.process, signal.SIGKILL)
        with contextlib.suppress(OSError):
            os.waitpid(self.process, 0)


class Snapshots:
    """The snapshots of one program.

    Args:
        most: How many to keep.
        otherwise: Begins plans where no snapshot can be used.
    """

    def __init__(self, most: int = 6, scratch: str | None = None, otherwise: Begin | None = None) -> None:
        self._snapshots: list[Snapshot] = []
        self._most = most
        self._scratch = tempfile.mkdtemp(prefix="retrograde-", dir=scratch)
        self._otherwise = otherwise

    def take(self, recorder: Recorder) -> None:
        """Take a snapshot before the call that the recorder has just been told of.

        Returns in the program under audit, and again in every re-execution.
        """
        if len(self._snapshots) >= self._most or not can_fork():
            return
        request_read, request_write = os.pipe()
        reply_read, reply_write = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        process = try_to_fork()
        if process is None:
            for descriptor in (request_read, request_write, reply_read, reply_write):
                os.close(descriptor)
            self._most = 0
            return
        if process:
            os.close(request_read)
            os.close(reply_write)
            self._snapshots.append(Snapshot(recorder.ordinal, process, request_write, reply_read))
            return
        os.close(request_write)
        os.close(reply_read)
        for other in self._snapshots:
            os.close(other.requests)
            os.close(other.replies)
        _die_with_parent()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # A pipe that the program writes to must not stay open here after the program has closed it.
        detach_descriptors(keep=(request_read, reply_write))
        _serve(recorder, request_read, reply_write, self._scratch)

    def beginner(self, ordinal: int) -> Begin | None:
        """How to re-execute up to and beyond a call: from the latest snapshot before it, else from the start."""
        usable = [s for s in self._snapshots if s.ordinal <= ordinal]
        if not usable:
            return self._otherwise
        return max(usable, key=lambda s: s.ordinal).begin

    def close(self) -> None:
        """End all copies."""
        for snapshot in self._snapshots:
            snapshot.close()
        self._snapshots.clear()
        shutil.rmtree(self._scratch, ignore_errors=True)


def _serve(recorder: Recorder, requests: int, replies: int, scratch: str) -> None:
    """Wait for requests; returns only in a re-execution."""
    while True:
        request = receive(requests)
        if request is None:
            os._exit(0)
        plans: list[Plan] = request[0]
        workers, limit = int(request[1]), float(request[2])
        outcomes: list[Outcome] = [DIED] * len(plans)
        waiting = list(enumerate(plans))
        running: dict[int, _Running] = {}
        while waiting or running:
            while waiting and len(running) < workers:
                position, plan = waiting.pop(0)
                read, write = os.pipe()
                process = os.fork()
                if process == 0:
                    os.close(read)
                    os.close(requests)
                    os.close(replies)
                    _become_probe(recorder, plan, write, scratch)
                    return
                os.close(write)
                running[read] = _Running(position, process, time.monotonic(), limit)
            _collect(running, outcomes)
        send(replies, outcomes)


@dataclass(frozen=True)
class _Running:
    """A re-execution under way: whose outcome it is, its process, when it began, and the time it may take [s]."""

    position: int
    process: int
    began: float
    limit: float

    @property
    def deadline(self) -> float:
        return self.began + self.limit


def _collect(running: dict[int, _Running], outcomes: list[Outcome]) -> None:
    """Take in what is ready, and end what takes too long."""
    soonest = min(one.deadline for one in running.values())
    ready, _, _ = select.select(list(running), [], [], max(0.0, soonest - time.monotonic()))
    for read in ready:
        one = running.pop(read)
        reply: Outcome | None = receive(read)
        seconds = time.monotonic() - one.began
        outcomes[one.position] = replace(DIED if reply is None else reply, seconds=seconds)
        os.close(read)
        os.waitpid(one.process, 0)
    now = time.monotonic()
    for read, one in list(running.items()):
        if now >= one.deadline:
            os.kill(one.process, signal.SIGKILL)
            os.waitpid(one.process, 0)
            os.close(read)
            outcomes[one.position] = replace(TOO_LONG, seconds=now - one.began)
            del running[read]


def _become_probe(recorder: Recorder, plan: Plan, write: int, scratch: str) -> None:
    _die_with_parent()
    detach_from_world(scratch, keep=(write,))

    def finish(outcome: Outcome) -> None:
        send(write, outcome)
        os._exit(0)

    _use_one_thread()
    recorder.begin_re_execution(plan, finish)
    recorder.thread.process = os.getpid()
    refuse_programs(finish)


def _use_one_thread() -> None:
    """Torch waits for ever for the threads of its pool, which a forked process does not have."""
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)


def refuse_programs(finish: Callable[[Outcome], None]) -> None:
    """End a re-execution that starts another program: what that does could not be undone."""
    # Warp asks for it when it initialises, and Python starts a program to find it, once.
    platform.processor()

    def refuse(*args: Any, **kwargs: Any) -> None:
        finish(Outcome(failure="the program starts other programs"))

    subprocess.Popen.__init__ = refuse  # type: ignore[method-assign]
    os.system = refuse  # type: ignore[assignment]


def _die_with_parent() -> None:
    """On Linux, ask to be killed when the parent ends, however it ends."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, int(signal.SIGKILL))


def detach_from_world(scratch: str, keep: tuple[int, ...] = ()) -> None:
    """Keep a re-execution's output away from the program's streams and files.

    Args:
        scratch: Folder for private copies of the files that it writes.
        keep: Descriptors to leave alone.
    """
    detach_descriptors(keep)
    _redirect_writes(scratch)


def detach_descriptors(keep: tuple[int, ...]) -> None:
    """Keep what is open away from this process: standard streams, files, pipes and sockets."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    for descriptor in _open_files():
        if descriptor not in keep:
            _detach(descriptor)


def _open_files() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc/self/fd")]
    except OSError:
        return []


def _detach(descriptor: int) -> None:
    """Give an open file an offset of its own; what is written to files, pipes and sockets goes nowhere."""
    if descriptor <= 2:
        return
    import fcntl  # not on every system; where it is not, there is no /proc to list files either

    with contextlib.suppress(OSError):
        kind = os.fstat(descriptor).st_mode
        access = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE
        if stat.S_ISREG(kind) and access == os.O_RDONLY:
            offset = os.lseek(descriptor, 0, os.SEEK_CUR)
            fresh = os.open(os.readlink(f"/proc/self/fd/{descriptor}"), os.O_RDONLY)
            os.lseek(fresh, offset, os.SEEK_SET)
        elif stat.S_ISREG(kind) or ((stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)) and access != os.O_RDONLY):
            fresh = os.open(os.devnull, os.O_RDWR)
        else:
            return
        os.dup2(fresh, descriptor)
        os.close(fresh)


def _redirect_writes(scratch: str) -> None:
    """Files that a re-execution opens for writing are copies of its own; nothing is removed or renamed.

    Warp's kernel cache is left alone: it is shared on purpose. Where it lies is known once Warp has initialised,
    which a program started anew may not have done yet.
    """
    # Temporary files are private too; and to look for a place for them would write to one, under a lock.
    tempfile.tempdir = scratch
    original: Any = io.open
    overlay: dict[str, str] = {}

    def is_shared(path: str) -> bool:
        cache = wp.config.kernel_cache_dir
        return path.startswith((os.path.abspath(cache) if cache else scratch, scratch, os.devnull))

    def private_open(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if isinstance(file, int):
            return original(file, mode, *args, **kwargs)
        path = os.path.abspath(os.fsdecode(file))
        if path not in overlay and any(c in mode for c in "wax+") and not is_shared(path):
            overlay[path] = _private_copy(path, mode, scratch)
        return original(overlay.get(path, file), mode, *args, **kwargs)

    builtins.open = private_open  # type: ignore[assignment]
    io.open = private_open  # type: ignore[assignment]
    original_os_open: Any = os.open

    def private_os_open(path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        writes = flags & (os.O_WRONLY | os.O_RDWR)
        where = os.path.abspath(os.fsdecode(path))
        if writes and where not in overlay and not is_shared(where):
            overlay[where] = _private_copy(where, "w" if flags & os.O_TRUNC else "a", scratch)
        return original_os_open(overlay.get(where, path), flags & ~os.O_EXCL, *args, **kwargs)

    os.open = private_os_open  # type: ignore[assignment]
    for name in ("remove", "unlink", "rename", "replace", "rmdir", "truncate", "mkdir"):
        setattr(os, name, _unless_outside(getattr(os, name), is_shared))


def _private_copy(path: str, mode: str, scratch: str) -> str:
    handle, copy = tempfile.mkstemp(dir=scratch)
    os.close(handle)
    if "x" in mode:
        os.unlink(copy)
    elif os.path.isfile(path) and "w" not in mode:
        shutil.copyfile(path, copy)
    return copy


def _unless_outside(function: Any, is_shared: Callable[[str], bool]) -> Any:
    def guarded(path: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(path, int) or not is_shared(os.path.abspath(os.fsdecode(path))):
            return None
        return function(path, *args, **kwargs)

    return guarded
