"""Claim: the auditor finds faults that Warp's own overwrite tracker does not look for, without its false alarms.

Runs every program of `tests/programs`, and the cases beside the repository where there are any, plainly, under
`wp.config.verify_autograd_array_access`, and under audit, each in a process of its own, and counts: faulty programs
that were flagged, right ones that were, and seconds. A program is flagged by the tracker if it warns of any array,
by the audit if its verdict is "wrong".

    python benchmarks/auditor/tracker.py [EVERY]     # every EVERYth program only
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.auditor.processes import ROOT, run

from retrograde.stock.words import overwrite_warnings

_TIMED = 10


@dataclass(frozen=True)
class Subject:
    """A program and the truth about it.

    Attributes:
        path: Its file.
        wrong: Whether the gradient it consumes is wrong.
        overwrites: Whether contents that backward needs are overwritten, which is what the tracker looks for.
    """

    path: Path
    wrong: bool
    overwrites: bool


@dataclass(frozen=True)
class Outcome:
    """What became of one program.

    Attributes:
        subject: The program.
        tracker: Whether the tracker warned.
        lines: How many lines of warning it printed.
        audit: Whether the audit called it wrong.
        seconds: Plain, under the tracker, under audit [s]; None where caches were not warm.
    """

    subject: Subject
    tracker: bool
    lines: int
    audit: bool
    seconds: tuple[float, float, float] | None


def own_programs() -> Iterator[Subject]:
    """The labelled programs of the test suite."""
    for path in sorted((ROOT / "tests" / "programs").glob("*/*.py")):
        source = path.read_text(encoding="utf-8")
        if source.startswith("# expect: "):
            yield Subject(path, source.startswith("# expect: wrong"), "# <- RG10" in source)


def cases() -> Iterator[Subject]:
    """Cases with a truth beside them, in the folder named by RETROGRADE_SHARED or next to the repository."""
    folder = Path(os.environ.get("RETROGRADE_SHARED", ROOT.parent / "shared")) / "cases"
    for path in sorted(folder.glob("*/train.py")):
        truth = json.loads((path.parent / "truth.json").read_text(encoding="utf-8"))
        codes = {code for alternatives in truth["causes"] for code in alternatives}
        yield Subject(path, truth["verdict"] == "wrong", any(code.startswith("RG10") for code in codes))


def examine(subject: Subject, folder: Path, timed: bool) -> Outcome:
    """Run one program in the three ways; where it is timed, a run beforehand fills the kernel caches of each."""
    output = folder / "audit.json"
    tracked = [Path(__file__).parent / "tracked.py", subject.path]
    audited = ["-m", "retrograde", "audit", "--format", "json", "--output", output, subject.path]
    output.unlink(missing_ok=True)
    if timed:
        for way in ([subject.path], tracked, audited):
            run(way)
        output.unlink(missing_ok=True)
    plain, tracker, audit = run([subject.path]), run(tracked), run(audited)
    lines = len(overwrite_warnings(tracker.stdout + tracker.stderr))
    verdict = json.loads(output.read_text(encoding="utf-8"))["verdict"] if output.exists() else "none"
    seconds = (plain.seconds, tracker.seconds, audit.seconds) if timed else None
    return Outcome(subject, lines > 0, lines, verdict == "wrong", seconds)


def table(outcomes: list[Outcome]) -> str:
    """Counts of both, one line a question."""
    wrong = [o for o in outcomes if o.subject.wrong]
    right = [o for o in outcomes if not o.subject.wrong]
    overwrites = [o for o in wrong if o.subject.overwrites]
    groups = {
        "faulty programs flagged": wrong,
        "... by overwritten contents": overwrites,
        "right programs flagged": right,
    }
    rows = [(name, sum(o.tracker for o in g), sum(o.audit for o in g), len(g)) for name, g in groups.items()]
    lines = [f"{'':30} {'tracker':>8} {'audit':>8} {'of':>5}"]
    lines += [f"{name:30} {tracker:8} {audit:8} {count:5}" for name, tracker, audit, count in rows]
    times = [o.seconds for o in outcomes if o.seconds is not None]
    plain, tracker, audit = (sum(t[way] for t in times) for way in range(3))
    lines.append(f"{'seconds over a plain run':30} {tracker / plain:7.2f}x {audit / plain:7.2f}x {len(times):5}")
    lines.append(f"{'seconds a program':30} {tracker / len(times):8.2f} {audit / len(times):8.2f} {len(times):5}")
    lines.append(f"{'lines of warning, most':30} {max(o.lines for o in outcomes):8}")
    return "\n".join(lines)


def main(every: int) -> None:
    """Examine all programs and print the table."""
    subjects = [*own_programs(), *cases()][::every]
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory() as folder:
        for number, subject in enumerate(subjects):
            outcome = examine(subject, Path(folder), timed=number % _TIMED == 0)
            outcomes.append(outcome)
            name = f"{subject.path.parent.name}/{subject.path.stem}"
            missed = "" if outcome.audit == subject.wrong else "  AUDIT MISTAKEN"
            print(
                f"{name:40} {'wrong' if subject.wrong else 'right'}  tracker {outcome.lines:4} lines"
                f"  audit {'wrong' if outcome.audit else 'not wrong'}{missed}",
                flush=True,
            )
    print(table(outcomes))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
