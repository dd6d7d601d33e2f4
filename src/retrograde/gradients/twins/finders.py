"""All that looks for constructs to rewrite, what is surest first: later ones are given up first."""

from __future__ import annotations

from retrograde.gradients.twins.adjoint_free import find_adjoint_free
from retrograde.gradients.twins.assigned import find_assigned
from retrograde.gradients.twins.components import find_reassigned
from retrograde.gradients.twins.in_place import find_in_place
from retrograde.gradients.twins.loops import find_loops
from retrograde.gradients.twins.natives import find_native_adjoints
from retrograde.gradients.twins.own_adjoint import find_custom
from retrograde.gradients.twins.recorded import find_counters
from retrograde.gradients.twins.selections import find_selections
from retrograde.gradients.twins.singular import find_singular
from retrograde.gradients.twins.situation import Find

FINDERS: tuple[Find, ...] = (
    find_assigned,
    find_adjoint_free,
    find_selections,
    find_counters,
    find_in_place,
    find_reassigned,
    find_loops,
    find_custom,
    find_native_adjoints,
    find_singular,
)
