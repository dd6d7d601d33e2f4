"""Warp's own tests of what the observer patches pass unchanged while a recording is open."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

RUN = """
import importlib, sys, unittest
from retrograde.trace.observer import Observer
from retrograde.trace.recorder import Recorder

recorder = Recorder(lambda _: None)
observer = Observer(recorder)
tests = unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(sys.argv[1]))
observer.install()
result = unittest.TextTestRunner().run(tests)
observer.remove()
assert result.wasSuccessful()
assert result.testsRun - len(result.skipped) > 10
assert recorder.failure is None, recorder.failure
assert len(recorder.operations) > 50
"""


@pytest.mark.parametrize("module", ["test_tape", "test_grad_customs", "test_overwrite", "test_grad_debug"])
def test_suite_passes(module: str) -> None:
    command = [sys.executable, "-c", RUN, f"warp.tests.{module}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
