"""The command `retrograde`, whose programs are judged by `fake_child.py`."""

import functools
import sys
from pathlib import Path

import retrograde.cli.audit as command
from retrograde.cli.main import main
from retrograde.cli.supervise import supervise

child = (sys.executable, "-P", str(Path(__file__).with_name("fake_child.py")))
command.supervise = functools.partial(supervise, child=child)
main()
