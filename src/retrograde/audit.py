"""Conducts an audit: trace, gradients, causes, verdict."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from retrograde.causes.acceptance import is_accepted
from retrograde.causes.explain import UNEXPLAINED, Explanation, explain_all, merge, remarks_on
from retrograde.causes.finding import Finding
from retrograde.conditions import own_conditions
from retrograde.gradients.clock import Clock
from retrograde.gradients.contrast import contrast_all
from retrograde.gradients.evidence import rerun_of
from retrograde.gradients.execution import Snapshots
from retrograde.gradients.judge import Judgement, Opinion, judge
from retrograde.gradients.life import Life, is_bookkeeping_clean
from retrograde.gradients.lives import find_lives
from retrograde.gradients.means import Means
from retrograde.gradients.objective import objective_of
from retrograde.gradients.other import read_others
from retrograde.gradients.parameters import reads_gradients
from retrograde.gradients.recomputed import NotRecomputableError, recomputed
from retrograde.gradients.rerun import FreshProcesses
from retrograde.gradients.rungs import Ladder
from retrograde.program import Ending, execute, remove_temporary_folders, temporary_folders
from retrograde.request import LIMIT, RUNNING, AuditRequest
from retrograde.result import Audit, Loss, Verdict
from retrograde.trace.contents import Room
from retrograde.trace.observer import Observer
from retrograde.trace.operations import Kind, Recording
from retrograde.trace.recorder import Recorder
from retrograde.trace.warp_api import wp
from retrograde.warp_version import is_of_warp, unsuitable

Progress = Callable[[str], None]
Deliver = Callable[["Audit"], None]

_ITERATIONS = 3
_MEASURING = 2.0
_LOSSES = 1000
_JUDGING = 0.6
_EXPLAINING = 0.85
_LONGEST, _LONGER = 5.0, 2.0
_ONE_OF_SEVERAL = 0.5


def run(
    request: AuditRequest, progress: Progress, deliver: Deliver | None = None, keep: Deliver | None = None
) -> Audit:
    """Run a program in this process and audit the gradients it trains on.

    Args:
        request: The program, and what to judge.
        progress: Told what is being done.
        deliver: Takes the result if the program is stopped before its end. The process then ends without
            unwinding the program, so that none of its handlers runs on half a training. Without it the
            program always runs to its end.
        keep: Takes what is known once everything is judged and causes are still to be found.
    """
    try:
        return _Conductor(request, progress, deliver, keep).run()
    except AttributeError as error:
        if not is_of_warp(error):
            raise
        return Audit(Verdict.UNDECIDED, unsuitable(error), script=request.program, args=request.args)


def _room(request: AuditRequest) -> Room:
    return Room(int(request.memory * 2**30), int(request.disk * 2**30), request.scratch)


class _Conductor:
    """One audit in progress."""

    def __init__(
        self, request: AuditRequest, progress: Progress, deliver: Deliver | None, keep: Deliver | None
    ) -> None:
        self.request = request
        self.progress = progress
        self.deliver = deliver
        self.keep = keep
        self.started = time.monotonic()
        self.clock = Clock(self.started + (request.budget or LIMIT))
        self.wanted = request.iterations or _ITERATIONS
        self.looked_at = 0
        self.spare = temporary_folders()
        self.stopped = False
        self.snapshots = Snapshots(scratch=request.scratch, otherwise=FreshProcesses(request, os.getcwd()).begin)
        self.recorder = Recorder(self._boundary, _room(request))
        self.observer = Observer(self.recorder)

    def run(self) -> Audit:
        request = self.request
        self.progress(RUNNING)
        try:
            self.observer.install()
            ending = execute(request)
            if self.recorder.thread.process != os.getpid():
                os._exit(ending.status)  # a process that the program forked
            if self.recorder.probe is not None:
                self.recorder.probe.fail("the program ended before its backward pass")
            self.observer.remove()
            with own_conditions():
                return self._conclude(ending)
        finally:
            self.observer.remove()
            self.snapshots.close()

    def _boundary(self, recorder: Recorder) -> None:
        """An iteration may be beginning: enough seen, or one more snapshot."""
        if self.deliver is not None and recorder.backwards >= self.wanted and self._seen_enough(recorder):
            self.observer.remove()
            self.stopped = True
            with own_conditions():
                self.deliver(self._conclude_safely())
            self.snapshots.close()
            sys.stdout.flush()
            sys.stderr.flush()
            remove_temporary_folders(self.spare)
            os._exit(0)
        self.snapshots.take(recorder)

    def _conclude_safely(self) -> Audit:
        """The result; a failure of ours says nothing about the program, and must not look like one of its own."""
        try:
            return self._conclude(Ending())
        except Exception as error:
            traceback.print_exception(error)
            reason = f"The audit itself failed: {type(error).__name__}: {error}"
            return self._result(Verdict.UNDECIDED, reason, time.monotonic() - self.started)

    def _seen_enough(self, recorder: Recorder) -> bool:
        """Whether some parameter has lived often enough; asked again only when the recording has grown.

        Where no gradient was read for itself yet, the update is still to come: nothing tells parameters from states.
        """
        if len(recorder.operations) < 1.2 * self.looked_at:
            return False
        self.looked_at = len(recorder.operations)
        recording = self.recorder.result()
        if not reads_gradients(recording):
            return False
        by_name: dict[str, int] = {}
        for life in _main(find_lives(recording)):
            by_name[life.name] = by_name.get(life.name, 0) + 1
        return bool(by_name) and max(by_name.values()) >= self.wanted

    def _conclude(self, ending: Ending) -> Audit:
        ran = time.monotonic() - self.started
        recording = recomputed(self.recorder.result())
        if not ending.ran:
            return self._result(Verdict.NOT_RUN, ending.reason, ran)
        if self.recorder.failure is not None:
            return self._result(Verdict.UNDECIDED, f"Recording failed: {self.recorder.failure}", ran)
        if (obstacle := self.recorder.obstacle()) is not None:
            return self._result(Verdict.UNDECIDED, obstacle, ran)
        if not any(o.kind is Kind.BACKWARD for o in recording.operations):
            return self._result(Verdict.NOTHING_TO_CHECK, _nothing(recording), ran)
        everything = find_lives(recording)
        lives = self._chosen(everything)
        if not lives:
            reason = "Backward ran, but no parameter was found whose gradient the program reads."
            return self._result(Verdict.UNDECIDED, reason, ran)
        losses = losses_of(recording, everything, self.request.objective)
        try:
            return replace(self._judge(recording, lives, ran), losses=losses)
        except NotRecomputableError as error:
            return self._result(Verdict.UNDECIDED, f"Too much is overwritten: {error}.", ran)

    def _chosen(self, lives: Sequence[Life]) -> list[Life]:
        """Lives to judge: of the wanted parameters, the first iterations."""
        names = self.request.parameters
        return [life for life in lives if (not names or life.name in names) and life.iteration < self.wanted]

    def _judge(self, recording: Recording, lives: Sequence[Life], ran: float) -> Audit:
        measuring = _JUDGING * self.clock.left
        if self.request.budget is None:
            measuring = min(measuring, max(_MEASURING, 0.6 * ran))
        means = Means(
            self.snapshots,
            np.random.default_rng(self.request.seed),
            time.monotonic() + measuring,
            self.progress,
            self.request.objective,
            others={} if self.request.against is None else read_others(Path(self.request.against)),
            clock=self.clock.share(_JUDGING),
            longest=max(_LONGEST, _LONGER * ran),
        )
        main = _main(lives)
        nested = [life for life in lives if life not in main]
        judgements, skipped = self._judge_all(recording, main, means)
        if any(j.opinion is not Opinion.RIGHT and j.case.life.in_torch and not j.case.inner for j in judgements):
            judgements += self._judge_all(recording, nested, means)[0]
        if self.keep is not None:
            self.keep(self._audit_of(recording, lives, judgements, [], (), skipped, means, ran))
        wrong = [j for j in judgements if j.opinion is Opinion.WRONG]
        self.progress("looking for causes")
        explanations = explain_all(wrong, self.clock.share(_EXPLAINING))
        remarks, hurried = remarks_on(judgements, self.clock)
        if hurried:
            skipped.append("Remarks: time was up before all were looked for.")
        return self._audit_of(recording, lives, judgements, explanations, remarks, skipped, means, ran)

    def _audit_of(
        self,
        recording: Recording,
        lives: Sequence[Life],
        judgements: Sequence[Judgement],
        explanations: Sequence[tuple[Judgement, Explanation]],
        remarks: tuple[Finding, ...],
        skipped: Sequence[str],
        means: Means,
        ran: float,
    ) -> Audit:
        """The result, where the wrong ones are explained; without explanations, what is known before."""
        if not explanations:
            explanations = [(j, UNEXPLAINED) for j in judgements if j.opinion is Opinion.WRONG]
        accept = self.request.accept
        faulty = [(j, e) for j, e in explanations if not is_accepted(e, accept)]
        found = merge([e for _, e in explanations]).findings
        accepted = tuple(f for f in found if f.code in accept)
        verdict, reason = _verdict(judgements, [j for j, _ in faulty], accepted)
        audit = self._result(verdict, reason, ran)
        ladders = tuple(j.case.ladder() for j in judgements)
        return replace(
            audit,
            device=lives[0].ref.device,
            unexplained=merge([e for _, e in faulty]).unexplained,
            causes=tuple(f for f in found if f.code not in accept),
            remarks=remarks,
            accepted=accepted,
            ladder=ladders,
            reruns=tuple(rerun_of(j.case) for j in judgements) if self.request.evidence else (),
            against=contrast_all(self.request.against, means.others, ladders) if self.request.against else None,
            checked=_checked(judgements, [j for j, e in explanations if is_accepted(e, accept)]),
            not_checked=(*_not_checked(judgements), *_not_explained(explanations), *skipped, *recording.notes),
        )

    def _judge_all(
        self, recording: Recording, lives: Sequence[Life], means: Means
    ) -> tuple[list[Judgement], list[str]]:
        """Judge one life after another; where time is short, what an earlier one tells already is left out."""
        judgements: list[Judgement] = []
        skipped: list[str] = []
        longest = 0.0
        for number, life in enumerate(lives):
            short = means.remaining <= longest
            refuted = {j.case.life.name for j in judgements if j.opinion is Opinion.WRONG}
            if life.name in refuted and short and is_bookkeeping_clean(life):
                skipped.append(f"{life.name}, iteration {life.iteration}: wrong already in an earlier iteration.")
                continue
            trusted = frozenset(j.case.life.name for j in judgements if j.opinion is Opinion.RIGHT and j.ideal_holds)
            if life.name in trusted and means.remaining <= 0.0 and is_bookkeeping_clean(life):
                skipped.append(
                    f"{life.name}, iteration {life.iteration}: for want of time only its bookkeeping, which is clean."
                )
                continue
            share = max(means.remaining, 0.0) / (len(lives) - number)
            # Too short to measure: whether the gradient is the ideal one, which was measured, is soon seen.
            share = 0.0 if short and life.name in trusted else share
            limit = means.deadline if means.remaining <= 0.0 else time.monotonic() + share
            clock = means.clock.share(1.0 if number == len(lives) - 1 else _ONE_OF_SEVERAL)
            own = replace(means, deadline=limit, trusted=trusted, clock=clock)
            started = time.monotonic()
            judgements.append(judge(recording, life, own))
            longest = max(longest, time.monotonic() - started)
        return judgements, skipped

    def _result(self, verdict: Verdict, reason: str, ran: float) -> Audit:
        seconds = time.monotonic() - self.started
        return Audit(
            verdict=verdict,
            reason=reason,
            script=self.request.program,
            args=self.request.args,
            warp=str(wp.__version__),
            seconds=seconds,
            overhead=None if self.stopped or ran <= 0.0 else seconds / ran,
        )


def _main(lives: Sequence[Life]) -> list[Life]:
    """Lives to judge for themselves: not those that parameters of torch stand for, where there are any."""
    return [life for life in lives if not life.nested or not any(other.in_torch for other in lives)]


def losses_of(recording: Recording, lives: Sequence[Life], only: str | None = None) -> tuple[Loss, ...]:
    """The objectives of all lives as they were in the program's own run, each once an iteration."""
    found: dict[tuple[int, str], Loss] = {}
    for life in lives[:_LOSSES]:
        objective = objective_of(recording, life, only)
        if objective.value is not None:
            key = (life.iteration, objective.description)
            found.setdefault(key, Loss(life.iteration, objective.description, objective.value))
    return tuple(sorted(found.values(), key=lambda loss: (loss.iteration, loss.objective)))


def _nothing(recording: Recording) -> str:
    elsewhere = " Processes that it starts are not looked into." if "multiprocessing" in sys.modules else ""
    if not any(o.tape is not None for o in recording.operations):
        return f"The program never opens a tape.{elsewhere}"
    return f"The program opens a tape but never calls backward.{elsewhere}"


def _verdict(
    judgements: Sequence[Judgement], wrong: Sequence[Judgement], accepted: Sequence[Finding]
) -> tuple[Verdict, str]:
    if wrong:
        first = wrong[0]
        life = first.case.life
        where = f"{life.name}, iteration {life.iteration}: "
        return Verdict.WRONG, where + first.reason
    undecided = [j for j in judgements if j.opinion is Opinion.UNDECIDED]
    decided = [j for j in judgements if j.opinion is Opinion.RIGHT]
    if (undecided and not decided) or any(j.case.life.iteration == 0 for j in undecided):
        life = undecided[0].case.life
        return Verdict.UNDECIDED, f"{life.name}, iteration {life.iteration}: {undecided[0].reason}"
    unseen = [j for j in decided if j.case.directions and not _slopes(j)]
    if unseen:
        life = unseen[0].case.life
        return Verdict.RIGHT, f"{life.name}, iteration {life.iteration}: {unseen[0].reason}"
    measured = [j for j in decided if j.case.directions]
    slopes = sum(map(_slopes, measured))
    intended = sum(j.opinion is Opinion.WRONG for j in judgements)
    if intended:
        codes = ", ".join(sorted({f.code for f in accepted}))
        agreeing = (
            f"{len(measured)} gradients agree with {slopes} measured slopes of the objective; " if measured else ""
        )
        return Verdict.RIGHT, f"{agreeing}{intended} differ from them by what was accepted alone ({codes})."
    others = len(decided) - len(measured)
    rest = f" {others} more equal the ideal gradient, which was measured in an earlier iteration." if others else ""
    return Verdict.RIGHT, f"{len(measured)} gradients agree with {slopes} measured slopes of the objective.{rest}"


def _slopes(judgement: Judgement) -> int:
    """How many slopes of the objective could be measured."""
    return sum(bool(np.isfinite(d.error)) for d in judgement.case.directions)


def _checked(judgements: Sequence[Judgement], accepted: Sequence[Judgement]) -> tuple[str, ...]:
    lines: list[str] = []
    for j in judgements:
        life = j.case.life
        opinion = "accepted" if j in accepted else j.opinion.value
        hows = ", ".join(sorted({d.how.value for d in j.case.directions})) or "nothing"
        lines.append(
            f"{life.name}, iteration {life.iteration}: {_slopes(j)} slopes of "
            f"{j.case.objective.description} by {hows}: {opinion}."
        )
    return tuple(lines)


def _not_explained(explanations: Sequence[tuple[Judgement, Explanation]]) -> tuple[str, ...]:
    return tuple(
        f"{j.case.life.name}, iteration {j.case.life.iteration}: time was up before all possible causes were tried."
        for j, e in explanations
        if e.cut
    )


def _not_checked(judgements: Sequence[Judgement]) -> tuple[str, ...]:
    lines: list[str] = []
    for j in judgements:
        elements = {d.label for d in j.case.directions if d.label.startswith("element ")}
        size = j.case.life.ref.size
        name = f"{j.case.life.name}, iteration {j.case.life.iteration}"
        if len(elements) < size:
            lines.append(f"{name}: {size - len(elements)} of {size} elements only in random directions.")
        if j.opinion is Opinion.UNDECIDED:
            lines.append(f"{name}: {j.reason}")
        if j.caveat is not None:
            lines.append(f"{name}: {j.caveat}.")
        if j.cut:
            lines.append(f"{name}: for want of time, {', '.join(dict.fromkeys(j.cut))}: cut short.")
        if j.unobserved:
            lines.append(f"{name}: {', '.join(j.unobserved)} written by something that could not be observed.")
    return tuple(lines)


__all__ = ["Audit", "AuditRequest", "Finding", "Ladder", "Verdict", "run"]
