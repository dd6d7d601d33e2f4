"""PartMC's particles: a file that PartMC wrote, and ours read back; equal and unequal weights.

data/partmc-2.8-nummass.nc was written by PartMC 2.8 (PyPartMC 2.1.3): sulfate and black carbon in two lognormal modes,
60 particles asked for with the weighting "nummass", 600 s of Brownian coagulation. `TOTAL` and `MASS` are what PartMC
itself computed for that state.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from retrograde.aerosol import Environment, SizeGrid
from retrograde.aerosol.formats import FormatError, PartMCState, read, read_partmc, write_partmc
from retrograde.aerosol.particles import ParticleState

FILE = Path(__file__).parent / "data" / "partmc-2.8-nummass.nc"
TOTAL, MASS = 1457510797.3256116, 3.932507313118692e-09  # [m^-3], [kg m^-3]
READ = ["aero_particle_mass", "aero_num_conc", "aero_density", "aero_kappa", "aero_molec_weight", "aero_species"]
READ += ["temperature", "pressure", "relative_humidity", "time"]
GRID = SizeGrid.geometric(5e-9, 5e-6, bins_per_decade=24)
MASSES = np.random.default_rng(6).lognormal(-45.0, 1.0, size=(2, 9, 3))
MASSES[1, 4:] = 0.0
AIR = Environment(np.array([280.0, 290.0]), np.array([8e4, 9e4]))


def ours(box: int = 1) -> PartMCState:
    particles = ParticleState.from_numpy(MASSES, [1e-6, 2e-6], density=[1800.0, 1700.0, 1000.0])
    return PartMCState.from_particles(
        particles,
        ("SO4", "BC", "H2O"),
        kappa=[0.65, 0.0, 0.0],
        molar_mass=[0.096, 0.012, 0.018],
        box=box,
        environment=AIR,
        relative_humidity=0.4,
        time=60.0,
    )


def test_number_and_mass_are_those_that_partmc_computed():
    state = read_partmc(FILE)
    assert state.concentration.sum() == pytest.approx(TOTAL, rel=1e-14)
    assert state.concentration[0] @ state.masses[0].sum(axis=1) == pytest.approx(MASS, rel=1e-14)
    assert state.species == ("SO4", "BC", "H2O")
    assert state.kappa.tolist() == [0.65, 0.0, 0.0]
    assert state.molar_mass == pytest.approx([0.096, 0.012, 0.018], rel=1e-15)
    assert state.density.tolist() == [1800.0, 1700.0, 1000.0]
    assert (state.temperature, state.pressure, state.relative_humidity) == (288.0, 90000.0, 0.5)
    assert state.time == 600.0
    assert state.environment.pressure[0] == 90000.0


def test_unequal_weights_go_on_a_grid_with_number_and_volume_kept():
    state = read_partmc(FILE)
    sectional = state.sectional(GRID)
    volume = state.concentration[0] @ (state.masses[0] @ (1.0 / state.density))
    assert sectional.total_number()[0] == pytest.approx(TOTAL, rel=1e-12)
    assert sectional.numpy()[0] @ GRID.volumes == pytest.approx(volume, rel=1e-12)
    assert state.equal_weight is None
    with pytest.raises(ValueError, match="particles of equal weight"):
        state.particles()


@pytest.mark.parametrize("box", [0, 1])
def test_what_is_written_is_read_back(tmp_path, box):
    write_partmc(ours(box), tmp_path / "ours.nc")
    back = read_partmc(tmp_path / "ours.nc")
    for name in PartMCState.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(back, name), getattr(ours(box), name), err_msg=name)
    particles = back.particles()
    full = MASSES[box].sum(axis=1) > 0.0
    np.testing.assert_array_equal(particles.numpy()[0], MASSES[box][full])
    assert particles.volume[0] == pytest.approx([1e-6, 2e-6][box], rel=1e-15)


def test_the_written_layout_is_partmcs(tmp_path):
    """Every variable of ours is one of PartMC's, with its dimensions, type and unit; none that it reads is missing."""
    write_partmc(ours(), tmp_path / "ours.nc")
    with xr.open_dataset(tmp_path / "ours.nc", engine="h5netcdf") as mine, xr.open_dataset(FILE) as theirs:
        for name, variable in mine.variables.items():
            assert variable.dims == theirs[name].dims, name
            assert variable.dtype == theirs[name].dtype, name
            assert theirs[name].attrs.get("unit", "1") in (variable.attrs.get("unit", "1"), "1"), name
        assert {n for n in theirs.variables if "removed" not in n} == set(mine.variables)


def test_volumes_of_early_versions_are_weights_too(tmp_path):
    """Version 2.1 gave each particle the volume that it was computed for."""
    with xr.open_dataset(FILE) as dataset:
        old = dataset[READ].assign(aero_comp_vol=1.0 / dataset["aero_num_conc"]).drop_vars("aero_num_conc").load()
    old.to_netcdf(tmp_path / "old.nc", engine="h5netcdf")
    assert read_partmc(tmp_path / "old.nc").concentration.sum() == pytest.approx(TOTAL, rel=1e-12)


def test_a_reader_of_scans_points_to_this_one():
    with pytest.raises(FormatError, match=r"particles of PartMC.*read_partmc"):
        read(FILE)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.drop_vars("aero_num_conc"), "aero_comp_vol: no such variable"),
        (lambda d: d.drop_vars("aero_kappa"), "aero_kappa: no such variable"),
        (lambda d: d.assign(aero_num_conc=-d["aero_num_conc"]), "negative"),
        (lambda d: d.assign(aero_density=0.0 * d["aero_density"]), "density"),
        (lambda d: d.assign(aero_density=("other", np.ones(3))), "aero_density: expected dimensions"),
        (lambda d: d.assign(aero_species=d["aero_species"].assign_attrs(names="A,B")), "2 names for 3 species"),
    ],
)
def test_bad_files_are_refused(tmp_path, change, message):
    with xr.open_dataset(FILE) as dataset:
        change(dataset[READ]).to_netcdf(tmp_path / "bad.nc", engine="h5netcdf")
    with pytest.raises(FormatError, match=message):
        read_partmc(tmp_path / "bad.nc")


def test_other_files_are_refused(tmp_path):
    (tmp_path / "text.nc").write_text("time,1,2\n")
    with pytest.raises(FormatError, match="no NetCDF"):
        read_partmc(tmp_path / "text.nc")
    with pytest.raises(FormatError, match="no such file"):
        read_partmc(tmp_path / "none.nc")


def test_states_that_partmc_cannot_hold_are_refused(tmp_path):
    with pytest.raises(ValueError, match="equal weight"):
        write_partmc(read_partmc(FILE), tmp_path / "x.nc")
    with pytest.raises(ValueError, match="names without commas"):
        write_partmc(replace(ours(), species=("SO4", "B,C", "H2O")), tmp_path / "x.nc")
    with pytest.raises(ValueError, match="expected 0 to 1, got 2"):
        ours(2)
    with pytest.raises(ValueError, match=r"kappa: expected shape \[3\]"):
        replace(ours(), kappa=np.ones(2))
