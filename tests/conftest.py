"""What all tests share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.support.auditing import Auditor


@pytest.fixture(scope="session")
def auditor() -> Iterator[Auditor]:
    """Runs and audits programs in forks of one warm process."""
    with Auditor() as warm:
        yield warm
