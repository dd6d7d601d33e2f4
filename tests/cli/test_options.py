"""The command line itself: what it takes, and what it refuses with exit status 64."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import retrograde.cli.audit as command
from retrograde.cli.main import retrograde, run
from retrograde.request import AuditRequest
from retrograde.result import Audit, Verdict


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[AuditRequest]:
    """What the command asks of an audit, in place of audits."""
    asked: list[AuditRequest] = []

    def supervise(request: AuditRequest, **_options: object) -> Audit:
        asked.append(request)
        return Audit(Verdict.RIGHT, "")

    monkeypatch.setattr(command, "supervise", supervise)
    return asked


def test_defaults(requests):
    assert run(["audit", "train.py"]) == 0
    assert requests == [AuditRequest(script="train.py")]


def test_every_option_reaches_the_audit(requests):
    options = "--iterations 3 --objective loss --parameter k --parameter m --budget 9.5 --seed 7"
    options += " --accept RG307 --accept not-zeroed"
    assert run(["audit", *options.split(), "train.py", "--", "--seed", "1"]) == 0
    assert requests == [
        AuditRequest(
            script="train.py",
            args=("--seed", "1"),
            iterations=3,
            objective="loss",
            parameters=("k", "m"),
            budget=9.5,
            seed=7,
            accept=("RG307", "RG301"),
        )
    ]


def test_options_may_follow_the_script_and_arguments_need_no_dashes_to_be_the_programs(requests):
    assert run(["audit", "train.py", "config.yaml", "--seed", "7", "--", "--help"]) == 0
    assert requests[0].args == ("config.yaml", "--help")
    assert requests[0].seed == 7


def test_a_module_takes_all_arguments(requests):
    assert run(["audit", "-m", "pkg.train", "--", "a", "--b"]) == 0
    assert requests[0].module == "pkg.train"
    assert requests[0].args == ("a", "--b")
    assert requests[0].program == "-m pkg.train"


def test_iterations_may_be_auto(requests):
    assert run(["audit", "--iterations", "auto", "train.py"]) == 0
    assert requests[0].iterations is None


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "Usage:"),
        (["audit"], "Which program?"),
        (["audit", "--no-such-option", "train.py"], "--no-such-option"),
        (["audit", "--iterations", "0", "train.py"], "neither a positive number nor auto"),
        (["audit", "--iterations", "many", "train.py"], "neither a positive number nor auto"),
        (["audit", "--budget", "0", "train.py"], "--budget"),
        (["audit", "--budget", "nan", "train.py"], "--budget"),
        (["audit", "--seed", "-1", "train.py"], "--seed"),
        (["audit", "--format", "xml", "train.py"], "xml"),
        (["audit", "--format", "sarif", "train.py"], "sarif is not part of this version"),
        (["audit", "--format", "html", "train.py"], "html is not part of this version"),
        (["explain"], "Missing argument"),
        (["explain", "RG999"], "There is no cause RG999"),
        (["invent"], "invent"),
    ],
)
def test_what_is_not_there_is_refused(arguments, complaint, requests, capsys):
    assert run(arguments) == 64
    captured = capsys.readouterr()
    assert complaint in captured.err
    assert captured.out == ""
    assert requests == []


def test_help_names_the_exit_statuses_and_hides_what_is_not_there():
    shown = CliRunner().invoke(retrograde, ["audit", "--help"]).output
    assert "0 right, 1 wrong, 2 undecided" in " ".join(shown.split())
    assert "sarif" not in shown


@pytest.mark.parametrize(
    ("verdict", "status"),
    [("right", 0), ("wrong", 1), ("undecided", 2), ("not-run", 3), ("nothing-to-check", 4)],
)
def test_the_exit_status_tells_the_verdict(verdict, status, monkeypatch, tmp_path: Path):
    monkeypatch.setattr(command, "supervise", lambda _request, **_: Audit(Verdict(verdict), ""))
    assert run(["audit", "--output", str(tmp_path / "report"), "train.py"]) == status


def test_a_request_names_one_program():
    with pytest.raises(ValueError, match="either a script or a module"):
        AuditRequest()
    with pytest.raises(ValueError, match="either a script or a module"):
        AuditRequest(script="train.py", module="train")


def test_abort_is_an_interruption(monkeypatch):
    def abort(*_: object, **__: object) -> Audit:
        raise click.Abort

    monkeypatch.setattr(command, "supervise", abort)
    assert run(["audit", "train.py"]) == 130
