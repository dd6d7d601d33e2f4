"""`--baseline`: the complaint itself is seen to be cured; a file that is no report is refused before anything runs."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from tests.programs.labels import HERE
from tests.support.printed import read_printed

import retrograde.report.baseline as reading
from retrograde.cli.main import run
from retrograde.report.json import render_json
from retrograde.result import Audit, Verdict


@pytest.mark.programs
def test_a_cured_program_beside_the_report_of_the_faulty_one(real):
    before, after = HERE / "RG307" / "encoder_decoder.py", HERE / "RG307" / "encoder_decoder_mended.py"
    old = real.folder / "old.json"
    options = ("--budget", "60", "--format", "json", "--output")
    assert real.run("audit", *options, str(old), str(before)).returncode == 1
    done = real.run("audit", *options, "new.json", "--baseline", "old.json", str(after))
    assert done.returncode == 0
    comparison = json.loads((real.folder / "new.json").read_text())["baseline"]
    assert comparison["verdict"] == "wrong"
    assert [cause["code"] for cause in comparison["gone"]] == ["RG307"]
    assert comparison["new"] == comparison["remaining"] == []
    first = comparison["gradients"][0]
    assert first["before"]["error"] > 0.5
    assert first["now"]["error"] < 1e-3
    # The program prints its loss: what the report says of it must be that.
    printed = [printed.objective for printed in read_printed(done.stdout)]
    now = [change["now"] for change in comparison["losses"]]
    assert now == pytest.approx(printed[: len(now)], rel=1e-6)
    assert comparison["losses"][0]["before"] == comparison["losses"][0]["now"]
    assert comparison["losses"][-1]["now"] < comparison["losses"][-1]["before"]


def _report(folder: Path) -> dict[str, object]:
    return json.loads(render_json(Audit(Verdict.RIGHT, "", losses=())))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON: "),
        ("\xff\xfe", "is not JSON"),
        ("[1]", "is no report of schema 1: it names no schema"),
        ('{"schema": 2}', "is no report of schema 1: its schema is 2"),
        ('{"schema": 1}', "is no report: $: "),
        ('{"schema": NaN}', "NaN is not JSON"),
    ],
)
def test_a_file_that_is_no_report_is_refused(text, complaint, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("retrograde.cli.audit.supervise", lambda *_a, **_k: pytest.fail("the program ran"))
    path = tmp_path / "old.json"
    path.write_bytes(text.encode("latin-1"))
    assert run(["audit", "--baseline", str(path), "train.py"]) == 64
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"verdict": "splendid"}, "$.verdict"),
        ({"causes": [{"code": "RG101"}]}, "$.causes[0]"),
        ({"losses": [{"iteration": -1, "objective": "loss", "value": 1.0}]}, "$.losses[0].iteration"),
        ({"more": 1}, "$: "),
    ],
)
def test_what_is_wrong_with_a_report_is_named(change, place, tmp_path, capsys):
    path = tmp_path / "old.json"
    path.write_text(json.dumps(_report(tmp_path) | change))
    assert run(["audit", "--baseline", str(path), "train.py"]) == 64
    assert place in capsys.readouterr().err


def test_a_missing_and_an_endless_file_are_refused(tmp_path, capsys, monkeypatch):
    assert run(["audit", "--baseline", str(tmp_path / "none.json"), "train.py"]) == 64
    assert "No such file" in capsys.readouterr().err
    assert run(["audit", "--baseline", str(tmp_path), "train.py"]) == 64
    assert "cannot be read" in capsys.readouterr().err
    monkeypatch.setattr(reading, "LARGEST", 10)
    path = tmp_path / "old.json"
    path.write_text(json.dumps(_report(tmp_path)))
    assert run(["audit", "--baseline", str(path), "train.py"]) == 64
    assert "reports of more than 10 are not read" in capsys.readouterr().err


def test_a_report_of_a_version_without_losses_is_read(tmp_path):
    document = _report(tmp_path)
    del document["losses"], document["accepted"]
    path = tmp_path / "old.json"
    path.write_text(json.dumps(document))
    assert reading.read_document(path) == document
    assert math.isfinite(document["seconds"])
