from __future__ import annotations

import numpy as np
import pytest
import warp as wp

from retrograde.trace.contents import Contents, Room
from retrograde.trace.extents import Extent
from retrograde.trace.frugal import Copies

SIZE = 300_001


def noise(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, SIZE, dtype=np.uint8)


def test_equal_contents_share_one_copy() -> None:
    copies, first = Copies(), noise()
    copies.remember(first)
    assert copies.like(noise()) is first


@pytest.mark.parametrize("place", [0, 1 << 17, SIZE - 1])
def test_contents_that_differ_anywhere_do_not(place: int) -> None:
    copies, other = Copies(), noise()
    copies.remember(noise())
    other[place] ^= 1
    assert copies.like(other) is None


def test_one_byte_stands_for_many_where_that_will_do() -> None:
    repeated = Copies().like(np.full(SIZE, 7, dtype=np.uint8), repeated=True)
    assert repeated is not None
    assert repeated.strides == (0,)
    assert np.array_equal(repeated, np.full(SIZE, 7))
    assert Copies().like(np.full(SIZE, 7, dtype=np.uint8)) is None
    almost = np.zeros(SIZE, dtype=np.uint8)
    almost[-1] = 1
    assert Copies().like(almost, repeated=True) is None


def test_contents_before_the_first_write_take_no_memory() -> None:
    arrays = [wp.zeros(100_000, dtype=float, device="cpu") for _ in range(5)]
    start = np.random.default_rng(0).random(100_000).astype(np.float32)
    arrays += [wp.array(start, dtype=float, device="cpu") for _ in range(5)]
    contents = Contents(Room())
    places = [Extent("cpu", int(a.ptr), int(a.ptr) + 400_000) for a in arrays]
    made = [contents.copy(place) for place in places[5:]]
    for index, place in enumerate(places):
        contents.keep(index, place)
    assert contents.in_memory == 0
    assert len({id(data) for data in made}) == 1
    for index, array in enumerate(arrays):
        assert np.array_equal(contents.undo[index][0].data, array.numpy().view(np.uint8))
