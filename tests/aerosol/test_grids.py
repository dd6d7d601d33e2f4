"""Size grids: construction, geometry and refusals."""

import numpy as np
import pytest

from retrograde.aerosol import SizeGrid
from retrograde.aerosol.grids import diameter_of, volume_of


def test_geometric_grid_covers_its_range_at_the_given_resolution():
    grid = SizeGrid.geometric(10e-9, 1e-6, bins_per_decade=16)
    assert grid.bins == 33
    np.testing.assert_allclose(grid.diameters[[0, 16, 32]], [1e-8, 1e-7, 1e-6], rtol=1e-13)
    assert grid.volume_ratio == pytest.approx(10 ** (3 / 16), rel=1e-13)
    np.testing.assert_allclose(grid.log10_widths, 1 / 16, rtol=1e-12)
    np.testing.assert_allclose(grid.ln_widths, np.log(10) / 16, rtol=1e-12)


def test_geometric_grid_reaches_a_highest_diameter_between_pivots():
    grid = SizeGrid.geometric(10e-9, 0.95e-6, bins_per_decade=16)
    assert grid.diameters[-2] < 0.95e-6 <= grid.diameters[-1]


def test_edges_are_geometric_means_and_enclose_the_pivots():
    volumes = np.array([1.0, 3.0, 4.0, 20.0])
    grid = SizeGrid.from_volumes(volumes)
    np.testing.assert_allclose(grid.edges[1:-1], np.sqrt(volumes[:-1] * volumes[1:]), rtol=1e-15)
    np.testing.assert_allclose(grid.edges[0] * grid.edges[1], volumes[0] ** 2, rtol=1e-14)
    np.testing.assert_allclose(grid.edges[-1] * grid.edges[-2], volumes[-1] ** 2, rtol=1e-14)
    assert grid.volume_ratio is None


def test_masses_and_diameters_make_the_same_grid_as_volumes():
    volumes = np.geomspace(1e-24, 1e-20, 9)
    from_masses = SizeGrid.from_masses(volumes * 1250.0, 1250.0)
    from_diameters = SizeGrid.from_diameters(diameter_of(volumes))
    np.testing.assert_allclose(from_masses.volumes, volumes, rtol=1e-15)
    np.testing.assert_allclose(from_diameters.volumes, volumes, rtol=1e-14)
    np.testing.assert_allclose(from_masses.masses(1250.0), volumes * 1250.0, rtol=1e-15)


def test_extension_keeps_every_bin_and_goes_on_at_the_last_ratio():
    grid = SizeGrid.from_diameters([1e-8, 2e-8, 3e-8], [0.7e-8, 1.4e-8, 2.5e-8, 3.3e-8])
    wide = grid.extended_upward(1e-7)
    np.testing.assert_array_equal(wide.volumes[:3], grid.volumes)
    np.testing.assert_array_equal(wide.edges[:4], grid.edges)
    np.testing.assert_allclose(wide.diameters[3:] / wide.diameters[2:-1], 1.5, rtol=1e-13)
    assert wide.diameters[-2] < 1e-7 <= wide.diameters[-1]
    assert grid.extended_upward(2e-8) is grid


def test_grids_compare_and_hash_by_value_and_cannot_be_changed():
    grid, same = (SizeGrid.geometric(1e-8, 1e-6, bins_per_decade=8) for _ in range(2))
    assert grid == same
    assert hash(grid) == hash(same)
    assert grid != SizeGrid.geometric(1e-8, 1e-6, bins_per_decade=9)
    with pytest.raises(ValueError, match="read-only"):
        grid.volumes[0] = 1.0


def test_index_of_finds_the_enclosing_bin():
    grid = SizeGrid.geometric(1e-8, 1e-6, bins_per_decade=8)
    for i, diameter in enumerate(grid.diameters):
        assert grid.index_of(diameter) == i
    with pytest.raises(ValueError, match="outside the grid"):
        grid.index_of(1e-5)


def test_volume_and_diameter_are_inverse():
    diameters = np.geomspace(1e-9, 1e-4, 50)
    np.testing.assert_allclose(diameter_of(volume_of(diameters)), diameters, rtol=1e-15)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SizeGrid.from_volumes([1.0, 3.0, 2.0]), r"volumes \[m\^3\].*increasing.*3 then 2.*indices 1 and 2"),
        (lambda: SizeGrid.from_volumes([1.0, 1.0]), r"volumes \[m\^3\].*strictly increasing"),
        (lambda: SizeGrid.from_volumes([0.0, 1.0]), r"volumes \[m\^3\].*positive.*index 0"),
        (lambda: SizeGrid.from_volumes([1.0, np.nan]), r"volumes \[m\^3\].*finite.*nan at index 1"),
        (lambda: SizeGrid.from_volumes([[1.0, 2.0]]), r"volumes \[m\^3\].*shape \[n\].*\[1, 2\]"),
        (lambda: SizeGrid.from_volumes([1.0]), "1 bin needs its edges"),
        (lambda: SizeGrid.from_volumes([1.0, 2.0], [0.5, 1.5]), r"edges.*\[3\].*got \[2\]"),
        (lambda: SizeGrid.from_volumes([1.0, 2.0], [0.5, 2.2, 3.0]), r"volumes\[1\] = 2 does not lie between"),
        (lambda: SizeGrid.from_diameters([15.8, 757.0]), r"diameters \[m\].*nm or um"),
        (lambda: SizeGrid.geometric(10.0, 1000.0, bins_per_decade=8), "nm or um"),
        (lambda: SizeGrid.geometric(1e-6, 1e-8, bins_per_decade=8), "strictly increasing"),
        (lambda: SizeGrid.geometric(1e-8, 1e-6, bins_per_decade=0), "bins_per_decade"),
        (lambda: SizeGrid.from_ratio(1.0, 1.0, 4), "volume_ratio"),
        (lambda: SizeGrid.from_masses([1.0, 2.0], -1.0), r"density \[kg m\^-3\]"),
    ],
)
def test_bad_grids_are_refused_naming_field_and_unit(make, message):
    with pytest.raises(ValueError, match=message):
        make()
