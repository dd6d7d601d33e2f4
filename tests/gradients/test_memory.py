from __future__ import annotations

import numpy as np
import pytest
import warp as wp

from retrograde.gradients.memory import Memory
from retrograde.trace.arrays import ArrayRef, describe
from retrograde.trace.extents import Extent
from retrograde.trace.operations import Undo


def _ref(array: wp.array) -> ArrayRef:
    found = describe(array)
    assert found is not None
    return found


def _counting(count: int = 24) -> wp.array:
    return wp.array(np.arange(count, dtype=np.float32), device="cpu")


def _copied(*arrays: wp.array) -> Memory:
    memory = Memory.covering(_ref(a) for a in arrays)
    memory.fill_from_program()
    return memory


def test_aliases_alias_in_the_copy_too() -> None:
    base = _counting()
    views = [base[4:12], base[8:20:3], base.reshape((4, 6))[:, 1], base.reshape((4, 6)).transpose()]
    memory = _copied(base, *views)
    assert len(memory.blocks) == 1
    shifted = np.arange(24, dtype=np.float64) * 10.0 - 3.0
    memory.set_values(_ref(base), shifted)
    twin = wp.array(shifted.astype(np.float32), device="cpu")
    same = [twin[4:12], twin[8:20:3], twin.reshape((4, 6))[:, 1], twin.reshape((4, 6)).transpose()]
    for view, expected in zip(views, same, strict=True):
        np.testing.assert_array_equal(memory.values(_ref(view)), expected.numpy())
        memory.set_values(_ref(view), np.full(view.shape, -1.0))
        expected.fill_(-1.0)
        np.testing.assert_array_equal(memory.values(_ref(base)), twin.numpy())


def test_the_program_is_not_touched() -> None:
    base = _counting()
    memory = _copied(base)
    memory.set_values(_ref(base), np.zeros(24))
    memory.clear()
    assert base.numpy().tolist() == list(range(24))


def test_arrays_on_memory_of_their_own_stay_apart() -> None:
    one, other = _counting(8), _counting(8)
    memory = _copied(one, other)
    memory.set_values(_ref(one), np.full(8, 5.0))
    assert memory.values(_ref(other)).tolist() == list(range(8))


@pytest.mark.parametrize("offset", [0, 1, 3, 5, 7])
@pytest.mark.parametrize("dtype", [wp.float16, wp.float32, wp.float64, wp.vec3, wp.mat22d])
def test_pointers_keep_the_programs_alignment(dtype: object, offset: int) -> None:
    view = wp.zeros(40, dtype=dtype, device="cpu")[offset : offset + 9]
    memory = Memory.covering([_ref(view)])
    pointer = memory.pointer("cpu", view.ptr)
    assert pointer != view.ptr
    assert pointer % 64 == view.ptr % 64
    assert memory.pointer("cpu", view.ptr + 8) == pointer + 8


def test_addresses_outside_are_nowhere() -> None:
    base = _counting()
    part = _ref(base[4:8])
    memory = Memory.covering([part])
    assert memory.pointer("cpu", part.extent.high) == 0
    assert memory.pointer("cpu", part.extent.low - 1) == 0
    assert memory.pointer("cuda:0", part.extent.low) == 0
    assert not memory.covers(_ref(base).extent)
    assert memory.covers(_ref(base[5:7]).extent)
    with pytest.raises(KeyError):
        memory.read(_ref(base[9:12]).extent)


def test_undo_writes_the_part_that_the_copy_holds() -> None:
    base = _counting()
    first, second = _ref(base[2:6]), _ref(base[10:14])
    memory = Memory.covering([first, second])
    memory.fill_from_program()
    whole = _ref(base).extent
    entry = Undo(whole, (np.arange(24, dtype=np.float32) + 100.0).view(np.uint8))
    memory.undo([entry])
    assert memory.values(first).tolist() == [102.0, 103.0, 104.0, 105.0]
    assert memory.values(second).tolist() == [110.0, 111.0, 112.0, 113.0]
    straddling = Extent("cpu", whole.low + 16, whole.low + 48)
    memory.undo([Undo(straddling, np.zeros(32, dtype=np.uint8))])
    assert memory.values(first).tolist() == [102.0, 103.0, 0.0, 0.0]
    assert memory.values(second).tolist() == [0.0, 0.0, 112.0, 113.0]
    assert base.numpy().tolist() == list(range(24))


def test_a_copy_takes_the_contents_of_another() -> None:
    base = _counting()
    one = _copied(base)
    other = Memory(one.blocks)
    assert not other.values(_ref(base)).any()
    other.copy_from(one)
    one.set_values(_ref(base), np.zeros(24))
    assert other.values(_ref(base)).tolist() == list(range(24))


def test_views_share_the_memory_of_the_copy() -> None:
    base = _counting()
    memory = _copied(base)
    view = memory.view(_ref(base[2:8:2]))
    assert view is not None
    view += 100.0
    assert memory.values(_ref(base))[:8].tolist() == [0.0, 1.0, 102.0, 3.0, 104.0, 5.0, 106.0, 7.0]


@pytest.mark.parametrize("dtype", [wp.float16, wp.float32, wp.float64, wp.vec3, wp.quatd, wp.mat33])
def test_values_are_those_of_the_program_and_go_back_unchanged(dtype: object) -> None:
    shape = (5, *getattr(dtype, "_shape_", ()))
    numbers = np.random.default_rng(1).normal(size=shape)
    array = wp.array(numbers, dtype=dtype, device="cpu")
    memory = _copied(array)
    values = memory.values(_ref(array))
    np.testing.assert_array_equal(values, array.numpy())
    memory.clear()
    memory.set_values(_ref(array), values)
    assert memory.read(_ref(array).extent).tobytes() == array.numpy().tobytes()


def test_a_joined_range_lies_where_another_one_begins() -> None:
    base, other = _counting(8), wp.zeros(4, dtype=wp.float32, device="cpu")
    first, second = _ref(base), _ref(other)
    memory = Memory((first.extent, second.extent), joined=((second.extent, first.extent.low + 8),))
    memory.set_values(first, np.arange(8.0))
    np.testing.assert_array_equal(memory.values(second), [2.0, 3.0, 4.0, 5.0])
    memory.set_values(second, np.full(4, -1.0))
    np.testing.assert_array_equal(memory.values(first), [0.0, 1.0, -1.0, -1.0, -1.0, -1.0, 6.0, 7.0])
    assert memory.pointer("cpu", second.pointer) == memory.pointer("cpu", first.pointer) + 8
    assert memory.covers(second.extent)
