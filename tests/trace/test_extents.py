from __future__ import annotations

import numpy as np
import pytest
import warp as wp

from retrograde.trace.arrays import describe
from retrograde.trace.extents import Extent, host_view, merge, read_bytes, span, write_bytes
from retrograde.trace.plan import read_values


def _addresses(array: np.ndarray) -> set[int]:
    """Addresses of every byte of every element."""
    start = array.__array_interface__["data"][0]
    found: set[int] = set()
    for index in np.ndindex(array.shape):
        low = start + sum(i * s for i, s in zip(index, array.strides, strict=True))
        found.update(range(low, low + array.itemsize))
    return found


@pytest.mark.parametrize("seed", range(20))
def test_span_is_the_hull_of_all_elements(seed: int) -> None:
    rng = np.random.default_rng(seed)
    base = np.zeros((7, 6, 5), dtype=rng.choice([np.float32, np.float64, np.uint8]))
    cuts = [slice(*sorted(rng.integers(0, n + 1, 2)), int(rng.integers(1, 4))) for n in base.shape]
    flips = [slice(None, None, int(rng.choice([-1, 1]))) for _ in base.shape]
    view = base[tuple(cuts)][tuple(flips)].transpose(rng.permutation(3))
    start = view.__array_interface__["data"][0]
    low, high = span(start, view.shape, view.strides, view.itemsize)
    if view.size == 0:
        assert low == high
    else:
        addresses = _addresses(view)
        assert (low, high) == (min(addresses), max(addresses) + 1)


@pytest.mark.parametrize("seed", range(20))
def test_merge_is_the_union_and_joins_only_what_overlaps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    extents = [
        Extent(str(rng.choice(["cpu", "cuda:0"])), int(low), int(low + size))
        for low, size in zip(rng.integers(0, 60, 12), rng.integers(0, 9, 12), strict=True)
    ]
    merged = merge(extents)

    def covered(parts: list[Extent] | tuple[Extent, ...]) -> set[tuple[str, int]]:
        return {(e.device, a) for e in parts for a in range(e.low, e.high)}

    assert covered(merged) == covered(extents)
    assert sum(e.size for e in merged) == len(covered(merged))
    bridged = {(e.device, a) for e in extents for a in range(e.low + 1, e.high)}
    for part in merged:
        assert all((part.device, a) in bridged for a in range(part.low + 1, part.high)), "joined only by touching"


def test_overlap_and_containment_are_those_of_the_sets_of_bytes() -> None:
    parts = [Extent("cpu", a, b) for a in range(4) for b in range(a + 1, 5)]
    for one in parts:
        for other in parts:
            first, second = set(range(one.low, one.high)), set(range(other.low, other.high))
            assert one.overlaps(other) == bool(first & second)
            assert one.contains(other) == (second <= first)
    assert not Extent("cpu", 0, 8).overlaps(Extent("cuda:0", 0, 8))
    assert not Extent("cpu", 0, 8).contains(Extent("cuda:0", 0, 8))


def test_bytes_are_copied_out_and_written_back() -> None:
    array = wp.array(np.arange(6, dtype=np.float32), device="cpu")
    ref = describe(array[2:5])
    assert ref is not None
    kept = read_bytes(ref.extent)
    array.fill_(9.0)
    assert kept.view(np.float32).tolist() == [2.0, 3.0, 4.0]
    write_bytes(ref.extent, kept)
    assert array.numpy().tolist() == [9.0, 9.0, 2.0, 3.0, 4.0, 9.0]
    host_view(ref.extent.low, 4)[:] = np.array([5.0], dtype=np.float32).view(np.uint8)
    assert array.numpy()[2] == 5.0


def _views() -> dict[str, wp.array]:
    flat = wp.array(np.arange(48, dtype=np.float32), device="cpu")
    cube = wp.array(np.arange(24, dtype=np.float64).reshape(2, 3, 4), device="cpu")
    vectors = wp.array(np.arange(24, dtype=np.float32).reshape(4, 2, 3), dtype=wp.vec3, device="cpu")
    return {
        "whole": flat,
        "slice": flat[5:17],
        "stepped": flat[3:40:5],
        "reshaped": flat.reshape((6, 8)),
        "column": flat.reshape((6, 8))[:, 2],
        "transposed": cube.transpose([2, 0, 1]),
        "block": cube[:, 1:3, ::2],
        "vectors": vectors,
        "column of vectors": vectors[1:4, 1],
        "matrices": wp.array(np.arange(24, dtype=np.float32).reshape(4, 2, 3), dtype=wp.types.matrix((2, 3), float)),
        "quaternions": wp.array(np.arange(12, dtype=np.float32).reshape(3, 4), dtype=wp.quat, device="cpu"),
        "transforms": wp.array(np.arange(14, dtype=np.float32).reshape(2, 7), dtype=wp.transform, device="cpu"),
        "half": wp.array(np.arange(5, dtype=np.float16), dtype=wp.float16, device="cpu"),
    }


@pytest.mark.parametrize("name", list(_views()))
def test_description_finds_every_element_in_raw_memory(name: str) -> None:
    array = _views()[name]
    ref = describe(array)
    assert ref is not None
    assert ref.differentiable
    extent = ref.extent
    raw = read_bytes(extent)
    found = np.ndarray(
        ref.full_shape, dtype=ref.scalar, buffer=raw, offset=ref.pointer - extent.low, strides=ref.full_strides
    )
    np.testing.assert_array_equal(found, array.numpy())
    assert ref.size == array.numpy().size


@wp.struct
class _Body:
    mass: float
    velocity: wp.vec3


@wp.struct
class _Tag:
    count: int
    flags: wp.vec2i


@pytest.mark.parametrize("dtype", [wp.int32, wp.uint8, wp.bool, wp.vec2i, _Tag])
def test_types_without_derivative_are_not_differentiable(dtype: object) -> None:
    ref = describe(wp.zeros(3, dtype=dtype, device="cpu"))
    assert ref is not None
    assert not ref.differentiable
    assert ref.extent.size == 3 * wp.types.type_size_in_bytes(dtype)


@wp.struct
class _Pair:
    tag: _Tag
    body: _Body


def test_floating_point_fields_of_structs_are_strided_arrays() -> None:
    values = np.zeros(3, dtype=_Pair.numpy_dtype())
    values["body"]["mass"] = [1.0, 2.0, 3.0]
    values["body"]["velocity"] = np.arange(9.0).reshape(3, 3)
    array = wp.array(values, dtype=_Pair, device="cpu", requires_grad=True)
    ref = describe(array)
    assert ref is not None
    assert [leaf.field for leaf in ref.leaves] == ["body.mass", "body.velocity"]
    for leaf, name in zip(ref.leaves, ("mass", "velocity"), strict=True):
        np.testing.assert_array_equal(read_values(leaf), values["body"][name])
        assert leaf.gradient_extent is not None
        assert ref.gradient_extent is not None
        assert ref.gradient_extent.contains(leaf.gradient_extent)
        assert leaf.pointer - ref.pointer == leaf.gradient - ref.gradient


@wp.struct
class _Holder:
    weight: wp.array(dtype=float)
    body: _Body
    table: wp.array2d(dtype=wp.vec3)


def test_arrays_held_by_structs_in_an_array_are_described() -> None:
    holders = [_Holder() for _ in range(2)]
    holders[0].weight = wp.array([1.0, 2.0], dtype=float, device="cpu", requires_grad=True)
    holders[1].weight = wp.array([3.0], dtype=float, device="cpu")
    holders[1].table = wp.zeros((2, 3), dtype=wp.vec3, device="cpu")
    ref = describe(wp.array(holders, dtype=_Holder, device="cpu"))
    assert ref is not None
    found = [(h.path, h.ref.pointer, h.ref.shape, h.ref.gradient) for h in ref.held]
    assert found == [
        (("weight",), holders[0].weight.ptr, (2,), holders[0].weight.grad.ptr),
        (("weight",), holders[1].weight.ptr, (1,), None),
        (("table",), holders[1].table.ptr, (2, 3), None),
    ]


def test_gradient_buffer_is_described_as_it_was_at_the_time() -> None:
    array = wp.zeros(4, dtype=float, device="cpu")
    before = describe(array)
    array.requires_grad = True
    after = describe(array[1:3])
    assert before is not None
    assert after is not None
    assert before.gradient_extent is None
    assert after.gradient_extent == Extent("cpu", array.grad.ptr + 4, array.grad.ptr + 12)


def test_what_holds_no_elements_is_not_described() -> None:
    assert describe(wp.empty(0, dtype=float, device="cpu")) is None
    assert describe(np.zeros(3)) is None
    assert describe(None) is None


def test_indexed_array_brings_the_extent_of_its_data_and_its_indices() -> None:
    data = wp.array(np.arange(8, dtype=np.float32), device="cpu")
    indices = wp.array([6, 1], dtype=wp.int32, device="cpu")
    ref = describe(data[indices])
    assert ref is not None
    whole, index = describe(data), describe(indices)
    assert whole is not None
    assert index is not None
    assert ref.extent == whole.extent
    assert [i.extent for i in ref.indices if i is not None] == [index.extent]
