"""Writes the reports of the demo programs into the README and the tutorial.

Run it by `.venv/bin/python docs/refresh_reports.py`.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
WRONG, RIGHT = "conductivity_pingpong.py", "conductivity_states.py"
EXAMPLE = """\
<!-- example: written by docs/refresh_reports.py -->
For example, [a program](examples/conductivity_pingpong.py) that fits a rod's conductivity while two arrays swap roles
every step. Its loss falls and its fit looks reasonable:

```text
$ retrograde audit conductivity_pingpong.py
{wrong}
```

Cured, it is declared right:

```text
$ retrograde audit conductivity_states.py
{right}
```
<!-- end of example -->"""


def report_of(name: str) -> str:
    """The report of an audit of an example, at the width of a page."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.txt"
        command = [sys.executable, "-P", "-m", "retrograde", "audit", "--output", str(report), name]
        subprocess.run(command, cwd=ROOT / "examples", capture_output=True, check=False)
        return report.read_text(encoding="utf-8").rstrip()


def main() -> None:
    """Run both programs, and put what is said of them where it is shown."""
    wrong, right = report_of(WRONG), report_of(RIGHT)
    readme = ROOT / "README.md"
    example = EXAMPLE.format(wrong=wrong, right=right)
    text = re.sub(r"<!-- example.*<!-- end of example -->", lambda _: example, readme.read_text(), flags=re.DOTALL)
    readme.write_text(text, encoding="utf-8")
    for name, report in (("output", wrong), ("output-cured", right)):
        (ROOT / "docs" / "tutorial" / f"{name}.md").write_text(f"```text\n{report}\n```\n", encoding="utf-8")


if __name__ == "__main__":
    main()
