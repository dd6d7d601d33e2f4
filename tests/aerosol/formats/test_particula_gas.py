"""Gas of particula's form: there and back, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from retrograde.aerosol.composition.vapours import Vapour
from retrograde.aerosol.formats import gas_from_particula, gas_to_particula

WATER = Vapour("water", 0.018015, 2.5e-5)
ACID = Vapour("sulfuric acid", 0.098079, 1e-5)


@dataclass(frozen=True)
class GasLike:
    name: Any
    molar_mass: Any
    concentration: Any
    partitioning: Any


GAS = GasLike(["air", "sulfuric acid", "water"], [0.029, 0.098079, 0.018015], [[1.2, 3e-9, 8e-3], [1.1, 0.0, 9e-3]],
              [False, True, True])  # fmt: skip


def test_vapours_are_found_by_name_in_the_order_asked_for() -> None:
    np.testing.assert_array_equal(gas_from_particula(GAS, [WATER, ACID]), [[8e-3, 3e-9], [9e-3, 0.0]])


def test_there_and_back() -> None:
    numbers = np.array([[8e-3, 3e-9], [9e-3, 0.0]])
    made = gas_to_particula(numbers, [WATER, ACID], GasLike)
    assert made.name == ["water", "sulfuric acid"]
    assert made.partitioning.all()
    np.testing.assert_array_equal(gas_from_particula(made, [WATER, ACID]), numbers)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": ["air", "acid", "water"]}, "no gas 'sulfuric acid' among air, acid, water"),
        ({"partitioning": [False, False, True]}, "sulfuric acid is not to be exchanged"),
        ({"molar_mass": [0.029, 98.079, 0.018015]}, r"molar_mass \[kg mol\^-1\]: sulfuric acid has 98.079 there"),
        ({"molar_mass": [0.029]}, r"molar_mass \[kg mol\^-1\]: expected shape \[3\]"),
        ({"concentration": [[1.0, 2.0]]}, r"concentration \[kg m\^-3\]: expected shape \[boxes, 3\]"),
        ({"concentration": [[1.2, -3e-9, 8e-3]]}, "concentration"),
        ({"concentration": [[1.2, np.nan, 8e-3]]}, "concentration"),
    ],
)
def test_what_does_not_fit_is_refused_with_field_and_unit(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        gas_from_particula(replace(GAS, **change), [WATER, ACID])


def test_a_gas_of_another_shape_is_not_given() -> None:
    with pytest.raises(ValueError, match=r"gas \[kg m\^-3\]: expected shape \[boxes, 2\]"):
        gas_to_particula(np.ones(2), [WATER, ACID], dict)


def test_the_real_container_where_it_is_installed() -> None:
    gas_data = pytest.importorskip("particula.gas.gas_data", reason="particula is not installed")
    numbers = np.array([[8e-3, 3e-9], [9e-3, 0.0]])
    real = gas_to_particula(numbers, [WATER, ACID], gas_data.GasData)
    np.testing.assert_array_equal(gas_from_particula(real, [WATER, ACID]), numbers)
