"""The report for machines: one JSON document, described by a schema that ships with the package.

JSON has no non-finite numbers. They are written as the strings "nan", "inf" and "-inf". An element of the reference
that was not measured is null.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, cast

import numpy as np

from retrograde.causes.finding import Evidence, Finding
from retrograde.gradients.rungs import Array, How, Ladder
from retrograde.report.against import against_document
from retrograde.report.comparison import comparison_document
from retrograde.report.measures import RUNGS, norm, reference_error, reference_norm, relative_error, rung
from retrograde.report.numbers import number, read_number
from retrograde.report.stock import stock_document
from retrograde.result import Audit, Loss, Verdict

SCHEMA_VERSION = 1
"""The version of the document. It rises when a reader of the older one would misread the newer one."""

MAX_VALUES = 64
"""Gradients of more elements than this are given by their norm alone."""

Document = dict[str, Any]


def schema() -> Document:
    """The JSON Schema (draft 2020-12) of the document."""
    text = files("retrograde.report").joinpath("schema", f"audit-{SCHEMA_VERSION}.json").read_text(encoding="utf-8")
    return cast(Document, json.loads(text))


def render_json(audit: Audit) -> str:
    """The document of `audit` as text."""
    return json.dumps(to_document(audit), indent=2, allow_nan=False)


def to_document(audit: Audit) -> Document:
    """The document of `audit`: made of what JSON knows, and valid under `schema`."""
    return {
        "schema": SCHEMA_VERSION,
        "verdict": audit.verdict.value,
        "reason": audit.reason,
        "unexplained": number(audit.unexplained),
        "program": {"script": audit.script, "args": list(audit.args)},
        "warp": audit.warp,
        "device": audit.device,
        "causes": [_finding(finding) for finding in audit.causes],
        "remarks": [_finding(finding) for finding in audit.remarks],
        "accepted": [_finding(finding) for finding in audit.accepted],
        "ladder": [_ladder(ladder) for ladder in audit.ladder],
        "losses": [
            {"iteration": loss.iteration, "objective": loss.objective, "value": number(loss.value)}
            for loss in audit.losses
        ],
        "checked": list(audit.checked),
        "not_checked": list(audit.not_checked),
        "seconds": number(audit.seconds),
        "overhead": number(audit.overhead),
        **({} if audit.against is None else {"against": against_document(audit.against)}),
        **({"stock": stock_document(audit.stock)} if audit.stock else {}),
        **({} if audit.comparison is None else {"baseline": comparison_document(audit.comparison)}),
    }


def from_document(document: Mapping[str, Any]) -> Audit:
    """The audit that a document tells of.

    What the document leaves out (values of large gradients, single directions) is missing in it.

    Raises:
        ValueError: The document is of another version, or is none.
    """
    version = document.get("schema")
    if version != SCHEMA_VERSION:
        raise ValueError(f"This version reads reports of schema {SCHEMA_VERSION}, not {version}.")
    program = document["program"]
    return Audit(
        verdict=Verdict(document["verdict"]),
        reason=document["reason"],
        script=program["script"],
        args=tuple(program["args"]),
        warp=document["warp"],
        device=document["device"],
        unexplained=_required(document["unexplained"]),
        causes=tuple(_read_finding(finding) for finding in document["causes"]),
        remarks=tuple(_read_finding(finding) for finding in document["remarks"]),
        accepted=tuple(_read_finding(finding) for finding in document.get("accepted", ())),
        ladder=tuple(_read_ladder(ladder) for ladder in document["ladder"]),
        losses=tuple(
            Loss(loss["iteration"], loss["objective"], _required(loss["value"])) for loss in document.get("losses", ())
        ),
        checked=tuple(document["checked"]),
        not_checked=tuple(document["not_checked"]),
        seconds=_required(document["seconds"]),
        overhead=read_number(document["overhead"]),
    )


def _finding(finding: Finding) -> Document:
    return {
        "code": finding.code,
        "name": finding.name,
        "file": finding.file,
        "line": finding.line,
        "array": finding.array,
        "route": finding.route,
        "message": finding.message,
        "explains": number(finding.explains),
        "scale": number(finding.scale),
        "alternatives": list(finding.alternatives),
        "evidence": {name: _evidence(value) for name, value in finding.evidence.items()},
        "fix": finding.fix,
        "doc": finding.doc,
    }


def _read_finding(document: Mapping[str, Any]) -> Finding:
    evidence: Evidence = {name: _read_evidence(value) for name, value in document["evidence"].items()}
    return Finding(
        code=document["code"],
        name=document["name"],
        message=document["message"],
        file=document["file"],
        line=document["line"],
        array=document["array"],
        route=document["route"],
        explains=read_number(document["explains"]),
        scale=read_number(document["scale"]),
        alternatives=tuple(document["alternatives"]),
        evidence=evidence,
        fix=document["fix"],
        doc=document["doc"],
    )


def _ladder(ladder: Ladder) -> Document:
    document: Document = {
        "parameter": ladder.parameter,
        "shape": list(ladder.shape),
        "dtype": ladder.dtype,
        "iteration": ladder.iteration,
    }
    for name in RUNGS:
        document[name] = _rung(cast("Array | None", rung(ladder, name)))
    document["reference"] = _reference(ladder)
    document["errors"] = {name: number(relative_error(ladder, name)) for name in RUNGS}
    return document


def _rung(values: Array | None) -> Document | None:
    if values is None:
        return None
    document: Document = {"norm": number(norm(values))}
    if values.size <= MAX_VALUES:
        document["values"] = [number(float(value)) for value in values]
    return document


def _reference(ladder: Ladder) -> Document | None:
    if ladder.reference is None and not ladder.directions:
        return None
    document: Document = {"norm": number(reference_norm(ladder))}
    if ladder.reference is not None and ladder.reference.size <= MAX_VALUES:
        document["values"] = [None if np.isnan(value) else number(float(value)) for value in ladder.reference]
    document["error"] = number(reference_error(ladder))
    document["how"] = ladder.how.value
    return document


def _read_ladder(document: Mapping[str, Any]) -> Ladder:
    rungs = {name: _read_values(document[name]) for name in RUNGS}
    reference: Mapping[str, Any] | None = document["reference"]
    return Ladder(
        parameter=document["parameter"],
        shape=tuple(document["shape"]),
        dtype=document["dtype"],
        iteration=document["iteration"],
        consumed=rungs["consumed"],
        taped=rungs["taped"],
        ideal=rungs["ideal"],
        reference=_read_values(reference),
        how=How.RE_EXECUTION if reference is None else How(reference["how"]),
    )


def _read_values(document: Mapping[str, Any] | None) -> Array | None:
    if document is None or "values" not in document:
        return None
    values: Sequence[float | str | None] = document["values"]
    return np.array([math.nan if value is None else _required(value) for value in values], dtype=np.float64)


def _required(value: float | str) -> float:
    return float(value)


def _evidence(value: object) -> object:
    if isinstance(value, list | tuple):
        return [_evidence(item) for item in cast("Sequence[object]", value)]
    if isinstance(value, np.generic):
        return _evidence(cast(object, value.item()))
    return number(value) if isinstance(value, float) else value


def _read_evidence(value: Any) -> Any:
    if isinstance(value, list):
        return [_read_evidence(item) for item in cast("list[Any]", value)]
    return float(value) if value in ("nan", "inf", "-inf") else value
