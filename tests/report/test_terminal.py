"""The report at a terminal."""

from __future__ import annotations

import re
from dataclasses import replace

import audits
import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from retrograde.report.ladder_table import MAX_LADDERS
from retrograde.report.terminal import render_terminal


@pytest.mark.parametrize("audit", audits.ALL.values(), ids=audits.ALL)
def test_report(audit, snapshot: SnapshotAssertion):
    assert render_terminal(audit) == snapshot


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_it_fits_the_terminal_and_loses_no_word(width):
    text = render_terminal(audits.WRONG, width=width)
    assert max(map(len, text.split("\n"))) <= width
    assert "…" not in text or width < 80
    words = re.sub(r"\s+", "", text)
    for sentence in (audits.OVERWRITTEN.message, audits.OVERWRITTEN.fix, audits.WRONG.reason):
        assert re.sub(r"\s+", "", sentence) in words


def test_the_verdict_comes_first_and_in_colour_where_wanted():
    assert render_terminal(audits.WRONG).startswith("WRONG  train.py --steps 10\n")
    coloured = render_terminal(audits.WRONG, color=True)
    assert coloured.startswith("\x1b[1;31mWRONG\x1b[0m")
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured).split() == render_terminal(audits.WRONG).split()


def test_the_worst_ladders_are_shown_and_the_others_counted():
    many = tuple(
        replace(audits.BROKEN, parameter=f"p{index}", consumed=np.array([4.0 + 0.1 * index])) for index in range(9)
    )
    text = render_terminal(replace(audits.UNEXPLAINED, ladder=many))
    shown = re.findall(r"^p(\d)", text, re.MULTILINE)
    assert shown == [str(index) for index in range(9 - MAX_LADDERS, 9)]
    assert "and 3 more" in text


def test_words_of_the_program_are_not_taken_for_markup():
    odd = replace(audits.WRONG, script="[red]train[/red].py", reason="x[0] :smile: [/]")
    text = render_terminal(odd)
    assert "[red]train[/red].py" in text
    assert "x[0] :smile: [/]" in text
