"""What changed since an earlier report: causes, gradients, and the loss over the same iterations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from retrograde.causes.finding import Finding
from retrograde.gradients.rungs import Ladder
from retrograde.report.measures import norm, reference_norm, relative_error
from retrograde.report.numbers import number, read_number
from retrograde.result import Audit, Comparison, GradientChange, Loss, LossChange, Used, Verdict

Document = dict[str, Any]


def compare(source: str, before: Document, now: Audit) -> Comparison:
    """Hold an audit against the document of an earlier one.

    A cause is the same if its code, the name of its file and its array are: lines move when a program is edited.

    Args:
        source: Where the document was read from.
        before: The earlier report, valid under the schema.
        now: The audit.
    """
    old = [_finding(entry) for entry in before["causes"]]
    gone, _ = _split(old, now.causes)
    new, remaining = _split(now.causes, old)
    return Comparison(
        source=source,
        verdict=Verdict(before["verdict"]),
        gone=gone,
        new=new,
        remaining=remaining,
        gradients=_gradients(before["ladder"], now.ladder),
        losses=_losses([_loss(entry) for entry in before.get("losses", ())], now.losses),
    )


def _finding(entry: Mapping[str, Any]) -> Finding:
    return Finding(entry["code"], entry["name"], entry["message"], entry["file"], entry["line"], entry["array"])


def _identity(finding: Finding) -> tuple[str, str | None, str | None]:
    return finding.code, None if finding.file is None else Path(finding.file).name, finding.array


def _split(mine: Sequence[Finding], theirs: Sequence[Finding]) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Findings that the others lack, and those that they have; each of the others is matched once."""
    left = [_identity(finding) for finding in theirs]
    alone: list[Finding] = []
    common: list[Finding] = []
    for finding in mine:
        if _identity(finding) in left:
            left.remove(_identity(finding))
            common.append(finding)
        else:
            alone.append(finding)
    return tuple(alone), tuple(common)


def _gradients(before: Sequence[Mapping[str, Any]], now: Sequence[Ladder]) -> tuple[GradientChange, ...]:
    old = {(entry["parameter"], entry["iteration"]): _used(entry) for entry in before}
    new = {
        (ladder.parameter, ladder.iteration): Used(
            norm(ladder.consumed), reference_norm(ladder), relative_error(ladder, "consumed")
        )
        for ladder in now
    }
    keys = dict.fromkeys([*new, *old])
    return tuple(GradientChange(*key, before=old.get(key), now=new.get(key)) for key in keys)


def _used(entry: Mapping[str, Any]) -> Used:
    consumed, reference = entry["consumed"], entry["reference"]
    return Used(
        None if consumed is None else read_number(consumed["norm"]),
        None if reference is None else read_number(reference["norm"]),
        read_number(entry["errors"]["consumed"]),
    )


def _loss(entry: Mapping[str, Any]) -> Loss:
    return Loss(entry["iteration"], entry["objective"], float(entry["value"]))


def _losses(before: Sequence[Loss], now: Sequence[Loss]) -> tuple[LossChange, ...]:
    """Losses by iteration; where both audits saw one objective alone, it may have changed its name."""
    renamed = {loss.objective for loss in before}, {loss.objective for loss in now}
    alone = all(len(names) == 1 for names in renamed)

    def key(loss: Loss) -> tuple[int, str]:
        return loss.iteration, "" if alone else loss.objective

    old, new = ({key(loss): loss for loss in losses} for losses in (before, now))
    found: list[LossChange] = []
    for at in sorted({*old, *new}):
        mine, theirs = new.get(at), old.get(at)
        named = mine or theirs
        assert named is not None
        found.append(LossChange(at[0], named.objective, None if theirs is None else theirs.value, mine and mine.value))
    return tuple(found)


def comparison_document(comparison: Comparison) -> Document:
    """The comparison as a part of the JSON report."""
    return {
        "source": comparison.source,
        "verdict": comparison.verdict.value,
        "gone": [_named(finding) for finding in comparison.gone],
        "new": [_named(finding) for finding in comparison.new],
        "remaining": [_named(finding) for finding in comparison.remaining],
        "gradients": [
            {
                "parameter": change.parameter,
                "iteration": change.iteration,
                "before": _used_document(change.before),
                "now": _used_document(change.now),
            }
            for change in comparison.gradients
        ],
        "losses": [
            {
                "iteration": change.iteration,
                "objective": change.objective,
                "before": number(change.before),
                "now": number(change.now),
            }
            for change in comparison.losses
        ],
    }


def _named(finding: Finding) -> Document:
    return {name: getattr(finding, name) for name in ("code", "name", "file", "line", "array")}


def _used_document(used: Used | None) -> Document | None:
    if used is None:
        return None
    return {name: number(getattr(used, name)) for name in ("consumed", "reference", "error")}
