"""Which wrong gradients are accepted: those that only declared choices make differ from the objective's."""

from __future__ import annotations

from collections.abc import Collection

from retrograde.causes.explain import Explanation
from retrograde.causes.finding import NEGLIGIBLE


def is_accepted(explanation: Explanation, codes: Collection[str]) -> bool:
    """Whether the causes with the accepted `codes`, and nothing else, explain a wrong gradient."""
    found = {finding.code for finding in explanation.findings}
    return bool(found) and found <= set(codes) and explanation.unexplained <= NEGLIGIBLE
