from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest
import warp as wp
from tests.trace import kernels
from tests.trace.kernels import HOLDERS, ZOO, Entry, N

from retrograde.trace.arguments import struct_arrays
from retrograde.trace.usage import Usage, kernel_usage

_IDS = [e.kernel.key for e in ZOO]
_EVERY = (*ZOO, *HOLDERS)
_EVERY_ID = [e.kernel.key for e in _EVERY]


def _letters(usage: Usage) -> str:
    return "".join(letter for letter, on in zip("lsa", (usage.load, usage.store, usage.accumulate), strict=True) if on)


@pytest.mark.parametrize("entry", _EVERY, ids=_EVERY_ID)
def test_usage_is_what_the_source_says(entry: Entry) -> None:
    usage = kernel_usage(entry.kernel)
    if entry.exact:
        assert {".".join(path): _letters(u) for path, u in usage.arrays.items()} == entry.usage
    assert usage.exact == entry.exact
    assert usage.random == entry.random


def _arrays(arguments: list[Any], labels: list[str]) -> dict[tuple[str, ...], wp.array]:
    found: dict[tuple[str, ...], wp.array] = {}
    for label, value in zip(labels, arguments, strict=True):
        if isinstance(value, wp.array):
            found[(label,)] = value
        elif hasattr(value, "_cls"):
            found |= {(label, *path): array for path, array in struct_arrays(value)}
    return found


def _run(entry: Entry, seed: int, other: tuple[str, ...] | None = None) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Contents before and after one launch, with other contents of one array where asked."""
    arguments = entry.arguments(np.random.default_rng(seed))
    labels = [a.label for a in entry.kernel.adj.args]
    arrays = _arrays(arguments, labels)
    if other is not None:
        replacement = _arrays(entry.arguments(np.random.default_rng(seed + 1000)), labels)
        wp.copy(arrays[other], replacement[other])
    before = {path: a.numpy().copy() for path, a in arrays.items()}
    if entry.block is not None:
        wp.launch_tiled(entry.kernel, dim=[1], inputs=arguments, block_dim=entry.block, device="cpu")
    else:
        wp.launch(entry.kernel, dim=N, inputs=arguments, device="cpu")
    return before, {path: a.numpy().copy() for path, a in arrays.items()}


@pytest.mark.parametrize("entry", ZOO, ids=_IDS)
def test_no_access_is_missed_when_the_kernel_runs(entry: Entry) -> None:
    usage = kernel_usage(entry.kernel)
    for seed in range(4):
        before, after = _run(entry, seed)
        for path in before:
            of = usage.of(path)
            if not of.writes:
                np.testing.assert_array_equal(after[path], before[path], err_msg=f"{path} is written")
            moved_before, moved_after = _run(entry, seed, other=path)
            assert np.any(moved_before[path] != before[path])
            if not of.load:
                for second in before:
                    if second != path:
                        np.testing.assert_array_equal(moved_after[second], after[second], err_msg=f"{path} is read")
            if of.accumulate and not of.store and before[path].dtype.kind == "f" and not of.load:
                change, moved_change = after[path] - before[path], moved_after[path] - moved_before[path]
                np.testing.assert_allclose(moved_change, change, atol=1e-6, err_msg=f"{path} is more than added to")


def _marked(word: str) -> set[int]:
    """Lines of the kernels' file whose comment holds a word."""
    lines = inspect.getsource(kernels).splitlines()
    return {n for n, line in enumerate(lines, 1) if (m := re.search(r"# (.*)$", line)) and word in m[1].split()}


@pytest.mark.parametrize("entry", _EVERY, ids=_EVERY_ID)
def test_lines_that_overwrite_what_was_loaded(entry: Entry) -> None:
    lines, start = inspect.getsourcelines(entry.kernel.func)
    own = set(range(start, start + len(lines)))
    found = kernel_usage(entry.kernel).arrays.values()
    over = {n for u in found for n in u.over}
    if entry.exact:
        assert over & own == _marked("over") & own
        assert {n for u in found for n in u.multiplied} == _marked("times") & own
    assert over <= _marked("over")
    assert over <= {n for u in found for n in u.lines}


def test_longest_known_path_answers_for_what_lies_below() -> None:
    usage = kernel_usage(next(e.kernel for e in ZOO if e.kernel.key == "nested_struct"))
    assert _letters(usage.of(("scene", "body", "velocity"))) == "l"
    assert _letters(usage.of(("scene", "body", "mass"))) == ""
    assert _letters(usage.of(("out",))) == "s"


@wp.func
def put(field: wp.uint64, i: int, value: float):
    wp.volume_store_f(field, i, 0, 0, value)


@wp.kernel
def between_volumes(old: wp.uint64, new: wp.uint64, x: wp.array(dtype=float)):
    i = wp.tid()
    put(new, i, wp.volume_lookup_f(old, i, 0, 0) * x[i])


def test_volumes_are_read_and_stored_to_through_functions() -> None:
    usage = kernel_usage(between_volumes)
    assert usage.of(("old", "voxels")).load
    assert not usage.of(("old", "voxels")).writes
    assert usage.of(("new", "voxels")).store
    assert not usage.of(("new", "voxels")).load
