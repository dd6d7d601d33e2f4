"""Aerosols resolved by size and composition, for targets of hygroscopicity and mixing state."""

from retrograde.aerosol.composition.grid import CompositionGrid, Species
from retrograde.aerosol.composition.lattice import CompositionLattice
from retrograde.aerosol.composition.measures import mixing_state_index, mixing_state_index_by_size
from retrograde.aerosol.composition.simulation import CompositionSimulation, CompositionTrajectory
from retrograde.aerosol.composition.state import CompositionState

__all__ = [
    "CompositionGrid",
    "CompositionLattice",
    "CompositionSimulation",
    "CompositionState",
    "CompositionTrajectory",
    "Species",
    "mixing_state_index",
    "mixing_state_index_by_size",
]
