"""Gradients of another implementation, from an npz file that anybody may have written.

An array is named as the report names the parameter: `w` for the first iteration, `w@2` for the third.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.float64]
Others = Mapping[tuple[str, int], Float]

LARGEST = 1 << 30
"""Files whose arrays together take more bytes than this are not read."""

_MOST_ARRAYS = 10_000
_READERS: dict[tuple[int, int], Any] = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


class OtherGradientsError(ValueError):
    """The file holds no gradients that could be compared with; the message says why."""


def read_others(path: Path) -> Others:
    """Gradients by parameter and iteration, in double precision.

    Raises:
        OtherGradientsError: The file cannot be read, is no npz file, is too large, or holds something else than
            numbers.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            size = sum(member.file_size for member in members)
            if len(members) > _MOST_ARRAYS or size > LARGEST:
                raise OtherGradientsError(
                    f"{path} holds {len(members)} arrays of {size} bytes; at most {_MOST_ARRAYS} of {LARGEST} are read."
                )
            found: dict[tuple[str, int], Float] = {}
            for member in members:
                key = _key(path, member.filename)
                if key in found:
                    raise OtherGradientsError(f"{path} names {key[0]}@{key[1]} twice.")
                with archive.open(member) as stream:
                    found[key] = _array(path, member, stream)
    except OSError as error:
        raise OtherGradientsError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise OtherGradientsError(f"{path} is no npz file: {error}.") from error
    if not found:
        raise OtherGradientsError(f"{path} holds no arrays.")
    return found


def _key(path: Path, filename: str) -> tuple[str, int]:
    name, _, number = filename.removesuffix(".npy").rpartition("@")
    if not name:
        return number, 0
    if not (number.isascii() and number.isdecimal() and len(number) < 10):
        raise OtherGradientsError(f"{path}: {filename.removesuffix('.npy')}: what follows @ is no iteration.")
    return name, int(number)


def _array(path: Path, member: zipfile.ZipInfo, stream: IO[bytes]) -> Float:
    """One array; its header is held against the size of the file before memory is taken for it."""
    where = f"{path}: {member.filename.removesuffix('.npy')}"
    try:
        reader = _READERS.get(np.lib.format.read_magic(stream))
        if reader is None:
            raise OtherGradientsError(f"{where} is of a format that is not read.")
        shape, fortran, dtype = reader(stream)
    except OtherGradientsError:
        raise
    except (ValueError, TypeError, KeyError, SyntaxError, RecursionError, MemoryError) as error:
        raise OtherGradientsError(f"{where} is no array: {error}.") from error
    if dtype.kind not in "fiu":
        raise OtherGradientsError(f"{where} holds {dtype}, not numbers.")
    count = 1
    for extent in shape:
        count *= int(extent)
    if count < 0 or count * dtype.itemsize > member.file_size:
        raise OtherGradientsError(f"{where} ends before its {count} elements.")
    data = stream.read(count * dtype.itemsize)
    if len(data) != count * dtype.itemsize:
        raise OtherGradientsError(f"{where} ends before its {count} elements.")
    values = np.frombuffer(data, dtype=dtype).reshape(shape, order="F" if fortran else "C")
    return np.ascontiguousarray(values, dtype=np.float64)
