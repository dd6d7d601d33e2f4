"""The long run: what it tries, what it counts, and that it goes on where it stopped."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.properties import fuzz
from tests.properties.tally import Row, fault_of, row
from tests.properties.trials import PLANTABLE, Result, Trial, plan, read_results
from tests.support.auditing import Auditor

_EXPECTED = {10: ("RG101",), 20: ("RG301",)}


def _result(*found: tuple[str, int], verdict: str = "wrong") -> Result:
    return Result(("RG101", "RG301"), 7, "audited", verdict, expected=_EXPECTED, found=found)


def test_plan_has_what_was_asked_for_and_no_trial_twice() -> None:
    trials = plan(right=30, each=3, pairs=40, kernels=2, first_seed=500)
    assert len(set(trials)) == len(trials)
    kinds = Counter(len(t.causes) for t in trials)
    inside = sum(c.startswith("RG4") for c in PLANTABLE)
    assert kinds == {0: 30, 1: 3 * (len(PLANTABLE) - inside) + 2 * inside, 2: 40}
    assert trials == plan(right=30, each=3, pairs=40, kernels=2, first_seed=500)


@pytest.mark.parametrize("label", ["right:3", "RG101:3", "RG101+RG301:3"])
def test_label_is_read_as_it_is_written(label: str) -> None:
    assert Trial.parse(label).label == label


@pytest.mark.parametrize("label", ["RG101", "RG999:3", "RG101+RG301+RG305:3", "right:x"])
def test_label_that_is_none_is_refused(label: str) -> None:
    with pytest.raises(ValueError, match="is no trial"):
        Trial.parse(label)


def test_result_survives_its_line_and_a_cut_line_is_left_out() -> None:
    result = _result(("RG101", 10), ("RG301", 21))
    lines = [result.to_line() + "\n", result.to_line()[:20]]
    assert list(read_results(iter(lines))) == [result]


def test_counts_are_of_what_was_planted() -> None:
    results = [
        _result(("RG101", 10), ("RG301", 20)),
        _result(("RG101", 11), ("RG301", 20)),
        _result(("RG301", 20), ("RG201", 4)),
        _result(verdict="right"),
        _result(verdict="undecided"),
    ]
    assert row(results, "RG101") == Row(programs=5, found=3, named=2, line=1, invented=1, undecided=1)
    assert row(results) == Row(programs=5, found=3, named=2, line=1, invented=1, undecided=1)
    assert [fault_of(r) for r in results] == [
        "",
        "line of RG101",
        "not named: RG101; invented: RG201",
        "not found: right",
        "not found: undecided",
    ]


def test_run_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    performed: list[Trial] = []
    shown: list[Result] = []

    def perform(trial: Trial, auditor: Auditor, budget: float | None) -> Result:
        performed.append(trial)
        return Result(trial.causes, trial.seed, "audited", "right")

    def show(run: object, result: Result, total: int, pace: float) -> None:
        shown.append(result)
        if len(shown) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(fuzz, "perform", perform)
    monkeypatch.setattr(fuzz._Run, "_show", show)
    monkeypatch.setattr(fuzz.signal, "signal", lambda *_: None)
    command = ["fuzz", "--right", "6", "--each", "0", "--pairs", "0", "--kernels", "0", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", [*command, "--workers", "1"])
    assert fuzz.main() == 1
    assert "the same command goes on" in capsys.readouterr().out
    performed.clear()
    assert fuzz.main() == 0
    assert len(performed) == 3
    assert {r.trial for r in shown} == {Trial((), 1000 + k) for k in range(6)}
    assert "| 6 | 6 | 0 | 0 |" in (tmp_path / "table.md").read_text(encoding="utf-8")
    monkeypatch.setattr(sys, "argv", [*command, "--seed", "5"])
    assert fuzz.main() == 2
    assert "holds another run" in capsys.readouterr().err
