"""Every formula evaluated with quantities that carry units: dimensional analysis, and the constants' units."""

import dataclasses

import numpy as np
import pint
import pytest

from retrograde.aerosol import constants
from retrograde.aerosol.constants import Constants
from retrograde.aerosol.physics import (
    additive_kernel,
    box_loss_rate,
    constant_kernel,
    crump_seinfeld1981,
    diffusivity,
    dynamic_viscosity,
    fuchs_kernel,
    ideal_activity,
    joining_distance,
    kappa_activity,
    kelvin_ratio,
    koehler_saturation_ratio,
    mean_free_path,
    particle_transport,
    power_law_loss_rate,
    product_kernel,
    settling_velocity,
    slip_correction,
    sphere_loss_rate,
    thermal_speed,
    transition_correction,
    uptake_rate,
    vapour_mean_free_path,
)

UNIT = pint.UnitRegistry()
Q = UNIT.Quantity
CONSTANTS = Constants(**{f.name: Q(f.default, f.metadata["unit"]) for f in dataclasses.fields(Constants)})
AIR = {"temperature": Q(298.15, "K"), "pressure": Q(101325.0, "Pa")}
D, RHO, MU, CC = Q(1e-7, "m"), Q(1200.0, "kg/m^3"), Q(1.8e-5, "Pa*s"), Q(2.9, "")
MOVES, SINKS, EDDY = Q(1e-9, "m^2/s"), Q(1e-6, "m/s"), Q(0.3, "1/s")
V = Q(1e-21, "m^3")
VAPOUR = {"diffusivity": Q(2e-5, "m^2/s"), "molar_mass": Q(0.1, "kg/mol")}

FORMULAE = [
    ("Pa*s", lambda: dynamic_viscosity(AIR["temperature"], CONSTANTS)),
    ("m", lambda: mean_free_path(**AIR, viscosity=MU, constants=CONSTANTS)),
    ("m/s", lambda: thermal_speed(Q(1e-18, "kg"), AIR["temperature"], CONSTANTS)),
    ("", lambda: slip_correction(Q(1.3, ""))),
    ("m^2/s", lambda: diffusivity(D, AIR["temperature"], MU, CC, CONSTANTS)),
    ("m/s", lambda: settling_velocity(D, RHO, MU, CC, CONSTANTS)),
    ("m", lambda: joining_distance(D, Q(3e-8, "m"))),
    ("m^3/s", lambda: fuchs_kernel(D, Q(3e-8, "m"), *AIR.values(), RHO, constants=CONSTANTS)),
    ("m^2/s", lambda: particle_transport(D, *AIR.values(), RHO, CONSTANTS).diffusivity),
    ("m/s", lambda: particle_transport(D, *AIR.values(), RHO, CONSTANTS).thermal_speed),
    ("m/s", lambda: particle_transport(D, *AIR.values(), RHO, CONSTANTS).settling_velocity),
    ("", lambda: particle_transport(D, *AIR.values(), RHO, CONSTANTS).slip_correction),
    ("m^3/s", lambda: constant_kernel(V, V, Q(1e-15, "m^3/s"))),
    ("m^3/s", lambda: additive_kernel(V, V, Q(3.0, "1/s"))),
    ("m^3/s", lambda: product_kernel(V, V, Q(3.0, "1/m^3/s"))),
    ("1/s", lambda: power_law_loss_rate(D, Q(1e-4, "1/s"), Q(1e-3, "1/s"), -1.5, Q(1e-7, "m"))),
    ("", lambda: ideal_activity(Q(1e-18, "mol"), Q(3e-18, "mol"))),
    ("", lambda: kappa_activity(V, 2 * V, Q(0.6, ""))),
    ("", lambda: koehler_saturation_ratio(2 * D, D, Q(0.6, ""), Q(2e-9, "m"))),
    ("", lambda: transition_correction(Q(1.3, ""), Q(1.0, ""))),
    ("m", lambda: vapour_mean_free_path(**VAPOUR, temperature=AIR["temperature"], constants=CONSTANTS)),
    (
        "m^3/s",
        lambda: uptake_rate(D, **VAPOUR, accommodation=1.0, temperature=AIR["temperature"], constants=CONSTANTS),
    ),
    ("", lambda: kelvin_ratio(D, Q(0.05, "N/m"), VAPOUR["molar_mass"], RHO, AIR["temperature"], CONSTANTS)),
    ("1/s", lambda: sphere_loss_rate(MOVES, SINKS, EDDY, Q(1.0, "m"))),
    ("1/s", lambda: box_loss_rate(MOVES, SINKS, EDDY, Q(1.0, "m"), Q(2.0, "m"), Q(3.0, "m"))),
]


@pytest.fixture(autouse=True)
def _special_functions_take_numbers_only(monkeypatch):
    """The special functions see a plain number, which their argument must be once its units cancel."""
    for name in ("debye1", "_x_coth"):
        plain = getattr(crump_seinfeld1981, name)
        monkeypatch.setattr(crump_seinfeld1981, name, lambda x, f=plain: Q(f(x.to("").magnitude), ""))


@pytest.mark.parametrize(("unit", "formula"), FORMULAE)
def test_formula_has_its_dimension(unit, formula):
    assert Q(formula()).check(UNIT.Unit(unit).dimensionality)


def test_units_and_plain_numbers_give_the_same_value():
    with_units = fuchs_kernel(D, Q(3e-8, "m"), *AIR.values(), RHO, constants=CONSTANTS).to("m^3/s").magnitude
    assert with_units == pytest.approx(fuchs_kernel(1e-7, 3e-8, 298.15, 101325.0, 1200.0), rel=1e-14)


def test_a_wrong_dimension_is_seen():
    with pytest.raises(pint.DimensionalityError):
        fuchs_kernel(D, V, *AIR.values(), RHO, constants=CONSTANTS)


def test_constants_are_those_of_the_registry():
    assert UNIT("boltzmann_constant").to("J/K").magnitude == pytest.approx(constants.SI.boltzmann, rel=1e-12)
    assert UNIT("molar_gas_constant").to("J/mol/K").magnitude == pytest.approx(constants.SI.gas, rel=1e-12)
    assert UNIT("standard_gravity").to("m/s^2").magnitude == pytest.approx(constants.SI.gravity, rel=1e-12)


def test_every_constant_states_unit_and_source():
    for f in dataclasses.fields(Constants):
        assert f.metadata["source"]
        assert np.isfinite(f.default)
