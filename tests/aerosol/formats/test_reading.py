"""Files that are no measurements, damaged ones, and random damage: a `FormatError`, never anything else."""

import os
import pickle

import numpy as np
import pytest
import xarray as xr
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.aerosol.formats.aim_text import Export
from tests.aerosol.formats.test_observations import full

from retrograde.aerosol.formats import FormatError, read
from retrograde.aerosol.formats import _netcdf as netcdf_module
from retrograde.aerosol.formats import _text as text_module

AIM = {row: Export(by_row=row, delimiter=";" if row else ",").text().encode() for row in (True, False)}


class Trap:
    """Unpickling this ends the test run."""

    def __reduce__(self):
        return os._exit, (1,)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "holds no table"),
        (b"\n\n", "holds no table"),
        (pickle.dumps(Trap()), "no text file|no diameters|no table"),
        (b"\x89HDF\r\n\x1a\n" + b"\0" * 100, "damaged or no NetCDF"),
        (b"CDF\x01" + b"\xff" * 60, "damaged or no NetCDF"),
        (b"PK\x03\x04" + bytes(range(256)) * 8, "no text file|no diameters"),
        (b"\xff\xfe" + b"a\0b", "encoding is none of"),
        (b"Sample #", "no sizes"),
        (b"Sample #,1,2\n", "no sizes"),
        (b"Sample #,Date,10,20,30\n", "no scans follow"),
        (b'Sample #,Date,10,20,30\n"1,', "cannot be told apart"),
    ],
)
def test_what_is_no_measurement_is_refused(tmp_path, data, message):
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(FormatError, match=message) as caught:
        read(path)
    assert caught.value.path == path


def test_missing_files_and_folders_are_refused(tmp_path):
    with pytest.raises(FormatError, match="no such file"):
        read(tmp_path / "none.csv")
    with pytest.raises(FormatError, match="this is no file"):
        read(tmp_path)
    with pytest.raises(FormatError, match="this is no file"):
        read("/dev/zero")
    with pytest.raises(FormatError, match=r"cannot be opened|no such file"):
        read("a\0b")


def test_large_files_are_refused_before_they_are_read_whole(tmp_path, monkeypatch):
    (tmp_path / "large.txt").write_bytes(AIM[True])
    monkeypatch.setattr(text_module, "LARGEST_TEXT", 1000)
    with pytest.raises(FormatError, match="larger than"):
        read(tmp_path / "large.txt")


def test_datasets_that_claim_to_be_huge_are_refused(tmp_path, monkeypatch):
    full().dataset().to_netcdf(tmp_path / "scans.nc", engine="h5netcdf")
    monkeypatch.setattr(netcdf_module, "LARGEST_DATA", 30)
    with pytest.raises(FormatError, match="more than the 30 that are read"):
        read(tmp_path / "scans.nc")
    huge = xr.Dataset(coords={"time": np.zeros(10)})
    huge.to_netcdf(tmp_path / "huge.nc", engine="h5netcdf")
    monkeypatch.setattr(netcdf_module, "LARGEST_DATA", 9)
    with pytest.raises(FormatError, match="time: more than"):
        read(tmp_path / "huge.nc")


def test_a_truncated_netcdf_is_refused(tmp_path):
    full().dataset().to_netcdf(tmp_path / "scans.nc", engine="h5netcdf")
    data = (tmp_path / "scans.nc").read_bytes()
    for length in (100, len(data) // 2, len(data) - 50):
        (tmp_path / "cut.nc").write_bytes(data[:length])
        with pytest.raises(FormatError, match="damaged or no NetCDF"):
            read(tmp_path / "cut.nc")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.booleans(), st.data())
def test_random_damage_gives_observations_or_a_format_error(tmp_path, by_row, data):
    """Bytes overwritten, cut out, doubled or cut off anywhere."""
    content = bytearray(AIM[by_row])
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        kind = data.draw(st.sampled_from(["overwrite", "delete", "double", "cut"]))
        if kind == "overwrite":
            content[place] = data.draw(st.integers(0, 255))
        elif kind == "delete":
            del content[place : place + data.draw(st.integers(1, 40))]
        elif kind == "double":
            content[place:place] = content[place : place + 30]
        else:
            del content[max(place, 1) :]
        content = content or bytearray(b" ")
    path = tmp_path / "damaged.csv"
    path.write_bytes(bytes(content))
    try:
        observations = read(path)
    except FormatError:
        return
    assert np.all(np.isfinite(observations.number) | np.isnan(observations.number))
    assert observations.number.shape == (observations.scans, observations.bins)
