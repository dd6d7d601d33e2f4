"""Aerosols resolved by size and composition, for targets of hygroscopicity and mixing state."""

from retrograde.aerosol.composition.condensation import FIXED_COUNT_SUBSTEPS_4, Condensation
from retrograde.aerosol.composition.exchange import GasExchange
from retrograde.aerosol.composition.grid import CompositionGrid, Species
from retrograde.aerosol.composition.lattice import CompositionLattice
from retrograde.aerosol.composition.measures import mixing_state_index, mixing_state_index_by_size
from retrograde.aerosol.composition.partitioning import Partitioning
from retrograde.aerosol.composition.simulation import CompositionSimulation, CompositionTrajectory
from retrograde.aerosol.composition.state import CompositionState
from retrograde.aerosol.composition.vapours import (
    Activity,
    ContinuumUptake,
    FuchsSutugin,
    UptakeLaw,
    Vapour,
    VolumeProportionalUptake,
)

__all__ = [
    "FIXED_COUNT_SUBSTEPS_4",
    "Activity",
    "CompositionGrid",
    "CompositionLattice",
    "CompositionSimulation",
    "CompositionState",
    "CompositionTrajectory",
    "Condensation",
    "ContinuumUptake",
    "FuchsSutugin",
    "GasExchange",
    "Partitioning",
    "Species",
    "UptakeLaw",
    "Vapour",
    "VolumeProportionalUptake",
    "mixing_state_index",
    "mixing_state_index_by_size",
]
