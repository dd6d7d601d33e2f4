"""Audits many random programs and counts what was found: `python -m tests.properties.fuzz`, or `make fuzz`.

Every program is made from a seed: a right one, one with a planted fault, or one with two. Results are kept as they
come; the same command goes on where an interrupted one stopped. One program again: `--only RG101:1003`.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from tests.properties.tally import fault_of, table
from tests.properties.trials import Result, Trial, perform, plan, read_results
from tests.support.auditing import ROOT, Auditor

_RESULTS = "results.jsonl"
_RUN = "run.json"
_TABLE = "table.md"
_FAULTS = "faults.txt"


def main() -> int:
    """Run what the command line asks for; 1 where the auditor gave a wrong answer, 2 where the folder is in use."""
    options = _options()
    if options.only:
        return _once(options)
    trials = plan(options.right, options.each, options.pairs, options.kernels, options.seed)
    if options.causes:
        trials = [t for t in trials if t.causes and set(t.causes) <= set(options.causes)]
    folder: Path = options.out
    try:
        done = _begin(folder, _about(options))
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    known = {r.trial for r in done}
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    run = _Run(folder, [t for t in trials if t not in known], done, options.budget)
    finished = run.go(options.workers)
    _report(folder, run.results, len(trials))
    if not finished:
        print(f"\nstopped; the same command goes on ({len(run.results)} of {len(trials)} are done)")
    return int(not finished or any(fault_of(r) for r in run.results))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--right", type=int, default=250, help="right programs (250)")
    parser.add_argument("--each", type=int, default=25, help="programs for each cause outside kernels (25)")
    parser.add_argument("--pairs", type=int, default=225, help="programs with two faults (225)")
    parser.add_argument("--kernels", type=int, default=10, help="programs for each cause inside kernels (10)")
    parser.add_argument("--seed", type=int, default=1000, help="the least seed (1000)")
    parser.add_argument("--causes", nargs="+", default=[], metavar="CAUSE", help="only programs with these faults")
    parser.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 1) // 2))
    parser.add_argument("--budget", type=float, help="an audit's time for measuring [s]; as long as it likes without")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "fuzz", help="folder for the results (build/fuzz)")
    parser.add_argument("--only", nargs="+", default=[], metavar="CAUSE:SEED", help="these alone, and show them")
    return parser.parse_args()


def _about(options: argparse.Namespace) -> dict[str, object]:
    """What results depend on: results of different runs are never mixed."""
    names = ("right", "each", "pairs", "kernels", "seed", "budget", "causes")
    return {"commit": _commit(), "warp": version("warp-lang"), **{n: getattr(options, n) for n in names}}


def _commit() -> str:
    def git(*words: str) -> str:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "src", "tests")
    return git("rev-parse", "--short=12", "HEAD") + (" with changes" if changed else "")


def _begin(folder: Path, about: dict[str, object]) -> list[Result]:
    """Open the folder of a run: what is already there of the same one.

    Raises:
        ValueError: It holds another run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    header = folder / _RUN
    if header.exists() and json.loads(header.read_text(encoding="utf-8")) != about:
        raise ValueError(f"{folder} holds another run ({header}); remove it, or choose another folder with --out.")
    header.write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    results = folder / _RESULTS
    if not results.exists():
        return []
    with results.open(encoding="utf-8") as lines:
        found = list(read_results(iter(lines)))
    results.write_text("".join(r.to_line() + "\n" for r in found), encoding="utf-8")
    return found


@dataclass
class _Run:
    """Trials that are still to be done, and the results so far."""

    folder: Path
    trials: list[Trial]
    results: list[Result]
    budget: float | None

    def go(self, workers: int) -> bool:
        """Perform the trials, each worker with a process of its own; False where it was interrupted."""
        began, before = time.monotonic(), len(self.results)
        total = before + len(self.trials)
        auditors = _Auditors()
        pool = ThreadPoolExecutor(max_workers=workers)
        pending: set[Future[Result]] = {pool.submit(auditors.perform, t, self.budget) for t in self.trials}
        try:
            with (self.folder / _RESULTS).open("a", encoding="utf-8") as lines:
                while pending:
                    done, pending = wait(pending, return_when=FIRST_COMPLETED)
                    for future in done:
                        self.results.append(future.result())
                        lines.write(self.results[-1].to_line() + "\n")
                        lines.flush()
                        pace = (time.monotonic() - began) / (len(self.results) - before)
                        self._show(self.results[-1], total, pace)
        except KeyboardInterrupt:
            return False
        finally:
            auditors.stop()
            pool.shutdown(cancel_futures=True)
            auditors.close()
        return True

    def _show(self, result: Result, total: int, pace: float) -> None:
        left = pace * (total - len(self.results)) / 60.0
        fault = fault_of(result)
        faults = sum(bool(fault_of(r)) for r in self.results)
        if fault:
            print(f"\r{result.trial.label}  {result.route}  {fault}\x1b[K", flush=True)
        if sys.stdout.isatty() or len(self.results) % 20 == 0:
            end = "" if sys.stdout.isatty() else "\n"
            print(f"\r{len(self.results)} of {total}, {faults} at fault, {left:.0f} min left", end=end, flush=True)


class _Auditors:
    """One auditor for each thread, made when it is first needed, and again where one failed."""

    def __init__(self) -> None:
        self._own = threading.local()
        self._all: list[Auditor] = []

    def perform(self, trial: Trial, budget: float | None) -> Result:
        if not hasattr(self._own, "auditor"):
            self._own.auditor = Auditor()
            self._all.append(self._own.auditor)
        try:
            return perform(trial, self._own.auditor, budget)
        except Exception as error:  # one program must not end a run of a thousand
            del self._own.auditor
            return Result(trial.causes, trial.seed, "failed", reason=f"{type(error).__name__}: {error}")

    def stop(self) -> None:
        for auditor in self._all:
            auditor.stop()

    def close(self) -> None:
        for auditor in self._all:
            auditor.close()


def _report(folder: Path, results: list[Result], planned: int) -> None:
    tables = table(results)
    faults = [f"{r.trial.label}  {r.route}  {fault_of(r)}" for r in results if fault_of(r)]
    (folder / _TABLE).write_text(tables, encoding="utf-8")
    (folder / _FAULTS).write_text("".join(f + "\n" for f in faults), encoding="utf-8")
    print(f"\n\n{tables}")
    none = sum(r.state == "no program" for r in results)
    print(f"{len(results)} of {planned} trials; {none} without a place for the fault.")
    if faults:
        print(f"{len(faults)} answers at fault, in {folder / _FAULTS}. To see one again:")
        print("  python -m tests.properties.fuzz --only " + faults[0].split(" ", 1)[0])


def _once(options: argparse.Namespace) -> int:
    """Show single trials: the program, and what the audit says of it."""
    options.out.mkdir(parents=True, exist_ok=True)
    status = 0
    with Auditor() as auditor:
        for trial in map(Trial.parse, options.only):
            result = perform(trial, auditor, options.budget)
            path = options.out / f"{trial.label.replace(':', '_').replace('+', '_')}.py"
            path.write_text(result.source, encoding="utf-8")
            print(f"{trial.label}  {result.route}  error {result.error:.3g}  {path}")
            print(f"  {result.state} {result.verdict}: {result.reason}")
            print(f"  expected {dict(result.expected)}\n  found {list(result.found)} {list(result.alternatives)}")
            print(f"  {fault_of(result) or 'as it should be'}  {result.seconds} s")
            status |= bool(fault_of(result))
    return status


if __name__ == "__main__":
    sys.exit(main())
