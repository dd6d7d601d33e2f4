"""What `retrograde lint` found, as text and as JSON."""

from __future__ import annotations

import json
from collections import Counter

from retrograde.lint.run import LintResult

_SCHEMA = 1


def to_text(result: LintResult) -> str:
    """One line a suspicion, `file:line:column: CODE message`, then a summary with the smallest change for each code."""
    lines = [f"{s.file}:{s.line}:{s.column}: {s.code} {s.message}" for s in result.suspicions]
    counts = Counter(s.code for s in result.suspicions)
    fixes = {s.code: (s.name, s.fix) for s in result.suspicions}
    if counts:
        lines.append("")
        for code in sorted(counts):
            name, fix = fixes[code]
            lines.append(f"{code} {name} ({counts[code]}): {fix}")
        lines.append("")
    found = f"{len(result.suspicions)} suspicion{'s' if len(result.suspicions) != 1 else ''}"
    where = f"in {result.files} file{'s' if result.files != 1 else ''} with {result.kernels} kernels and functions"
    advice = " An audit of the program confirms or clears them." if result.suspicions else ""
    lines.append(f"{found} {where}.{advice}")
    return "\n".join(lines) + "\n"


def to_json(result: LintResult) -> str:
    """One object: the suspicions, the files that could not be read, and what was looked at."""
    document = {
        "schema": _SCHEMA,
        "suspicions": [
            {
                "code": s.code,
                "name": s.name,
                "file": s.file,
                "line": s.line,
                "column": s.column,
                "message": s.message,
                "fix": s.fix,
            }
            for s in result.suspicions
        ],
        "unreadable": list(result.unreadable),
        "notes": list(result.notes),
        "files": result.files,
        "kernels": result.kernels,
    }
    return json.dumps(document, indent=2) + "\n"
