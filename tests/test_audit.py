"""In which order lives are judged, and what is left out where time is short."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import pytest

import retrograde.audit as module
from retrograde.gradients.clock import Clock
from retrograde.gradients.judge import Judgement, Opinion
from retrograde.gradients.life import Life
from retrograde.gradients.means import Means
from retrograde.request import AuditRequest


@dataclass
class _Watch:
    """Time that passes when the test says so."""

    now: float = 1000.0

    def monotonic(self) -> float:
        return self.now


@dataclass
class _Case:
    life: Life


@dataclass
class _Judge:
    """Takes its time over every life, and notes which it saw and until when it might measure."""

    watch: _Watch
    seconds: float
    opinion: Opinion
    seen: list[int] = field(default_factory=list)
    left: list[float] = field(default_factory=list)

    def __call__(self, recording: Any, life: Life, means: Means) -> Judgement:
        self.seen.append(life.iteration)
        self.left.append(means.remaining)
        self.watch.now += self.seconds
        return Judgement(cast("Any", _Case(life)), self.opinion, "", self.opinion is Opinion.RIGHT)


def _life(iteration: int) -> Life:
    nothing = cast("Any", None)
    return Life("x", nothing, iteration, nothing, 0, 0, (), None, (), np.ones(2), np.ones(2))


def _judged(
    monkeypatch: pytest.MonkeyPatch, seconds: float, measuring: float, opinion: Opinion, lives: int = 3
) -> tuple[_Judge, list[str]]:
    watch = _Watch()
    judge = _Judge(watch, seconds, opinion)
    monkeypatch.setattr(time, "monotonic", watch.monotonic)
    monkeypatch.setattr(module, "judge", judge)
    monkeypatch.setattr(module, "is_bookkeeping_clean", lambda life: True)
    conductor = module._Conductor(AuditRequest(script="x.py"), lambda _: None, None, None)
    deadline = watch.now + measuring
    means = Means(conductor.snapshots, np.random.default_rng(0), deadline, lambda _: None, clock=Clock(watch.now + 1e3))
    try:
        _, skipped = conductor._judge_all(cast("Any", None), [_life(n) for n in range(lives)], means)
    finally:
        conductor.snapshots.close()
    return judge, skipped


def test_with_time_every_iteration_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    judge, skipped = _judged(monkeypatch, 1.0, 100.0, Opinion.RIGHT)
    assert judge.seen == [0, 1, 2]
    assert min(judge.left) > 30.0
    assert skipped == []


def test_another_iteration_is_not_measured_where_it_would_take_longer_than_there_is_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first took 6 of 10 s: of the second only whether it is the ideal gradient is looked at."""
    judge, skipped = _judged(monkeypatch, 6.0, 10.0, Opinion.RIGHT)
    assert judge.seen == [0, 1]
    assert judge.left[1] <= 0.0
    assert [line.split(":")[0] for line in skipped] == ["x, iteration 2"]


def test_what_is_refuted_is_not_refuted_again_where_time_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    judge, skipped = _judged(monkeypatch, 6.0, 10.0, Opinion.WRONG)
    assert judge.seen == [0]
    assert len(skipped) == 2
    assert all("wrong already" in line for line in skipped)


def test_what_is_undecided_is_tried_as_long_as_there_is_time(monkeypatch: pytest.MonkeyPatch) -> None:
    judge, _ = _judged(monkeypatch, 6.0, 10.0, Opinion.UNDECIDED)
    assert judge.seen == [0, 1, 2]
    assert judge.left[1] > 0.0
