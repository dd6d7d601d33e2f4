"""Diffusional losses in an instrument's tubes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from retrograde.aerosol.physics import particle_transport

Floats = NDArray[np.float64]

EQUIVALENT_LENGTH = 7.1
"""Pipe that loses as many particles as a long TSI classifier (3081) does [m]: Karlsson and Martinsson (2003),
as taken up by Wiedensohler et al. (2012), doi:10.5194/amt-5-657-2012."""

DEFAULT_FLOW = 1e-3 / 60.0
"""Sample flow assumed where a file states none, 1 L/min [m^3 s^-1]."""


def pipe_penetration(diameter: Floats, length: float, flow: float, temperature: float, pressure: float) -> Floats:
    """Share of particles that pass a pipe in laminar flow [1].

    Args:
        diameter: Particle diameter [m].
        length: Length of the pipe [m].
        flow: Flow through it [m^3 s^-1].
        temperature: Temperature [K].
        pressure: Pressure [Pa].

    Gormley and Kennedy (1949), in the form of Kulkarni, Baron and Willeke (2011), Aerosol Measurement,
    chapter 6.
    """
    moves = particle_transport(diameter, temperature, pressure, 1000.0)
    xi = np.pi * np.asarray(moves.diffusivity) * length / flow
    short = 1.0 - 2.56 * xi ** (2.0 / 3.0) + 1.2 * xi + 0.177 * xi ** (4.0 / 3.0)
    long = 0.819 * np.exp(-3.66 * xi) + 0.097 * np.exp(-22.3 * xi) + 0.032 * np.exp(-57.0 * xi)
    return np.where(xi < 0.02, short, long)
