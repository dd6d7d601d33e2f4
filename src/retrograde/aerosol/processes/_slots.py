"""Rows of the memory that one group of boxes works in."""

from __future__ import annotations

from retrograde.aerosol._device import wp

STATE = wp.constant(0)
"""First slot of a step's record: the state that the step starts from [m^-3]."""
INTERMEDIATE = wp.constant(1)
"""The state between the stages of the step [m^-3]."""
START = wp.constant(2)
"""First of three slots: linearisation about `STATE`."""
STAGE = wp.constant(5)
"""First of three slots: linearisation about `INTERMEDIATE`."""
RECORD_SLOTS = 8
"""Slots of a record."""

GROWTH = wp.constant(0)
"""In a linearisation: rate at which bulk partners move a bin upward [s^-1]."""
LOSS = wp.constant(1)
"""In a linearisation: rate of loss to other partners and by removal [s^-1]."""
EXCESS = wp.constant(2)
"""In a linearisation: excess of the products' volume over the pivots [m^-3 s^-1] (cell average)."""

TENDENCY = wp.constant(0)
"""First slot of the scratch memory."""
PULLED = wp.constant(1)
COTANGENT = wp.constant(2)
STAGE_COTANGENT = wp.constant(3)
SECOND_COTANGENT = wp.constant(4)
GROWTH_WEIGHTED = wp.constant(5)
LOSS_WEIGHTED = wp.constant(6)
SCRATCH_SLOTS = 7
"""Slots of the scratch memory."""
