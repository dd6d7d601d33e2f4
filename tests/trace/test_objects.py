"""Objects that kernels reach by a number: a launch reads what they hold, building and refitting reads it too."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import warp as wp
from tests.trace.recording import of_kind, record

from retrograde.gradients.binding import run_forward
from retrograde.gradients.memory import Memory
from retrograde.trace.builds import Builds
from retrograde.trace.extents import read_bytes
from retrograde.trace.objects import ObjectRef
from retrograde.trace.operations import Kind, Operation

CORNERS = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0]], dtype=np.float32)


@wp.kernel
def height_above(surface: wp.uint64, at: wp.array(dtype=wp.vec3), out: wp.array(dtype=float)):
    i = wp.tid()
    found = wp.mesh_query_point_no_sign(surface, at[i], 10.0)
    if found.result:
        out[i] = wp.length(at[i] - wp.mesh_eval_position(surface, found.face, found.u, found.v))


def _recorded() -> tuple[list[Operation], wp.Mesh, wp.array]:
    kept: dict[str, object] = {}

    def program() -> None:
        with wp.ScopedDevice("cpu"):
            points = wp.array(CORNERS, dtype=wp.vec3)
            mesh = wp.Mesh(points, wp.array([0, 1, 2], dtype=int))
            at = wp.array([[0.5, 0.5, 1.0]], dtype=wp.vec3)
            out = wp.zeros(1, dtype=float)
            mesh.refit()
            wp.launch(height_above, 1, [mesh.id, at, out])
            kept.update(mesh=mesh, out=out)

    operations = list(record(program).operations)
    return operations, kept["mesh"], kept["out"]  # type: ignore[return-value]


def test_building_refitting_and_launches_read_the_points() -> None:
    operations, mesh, _ = _recorded()
    reading = [o.kind for o in operations for a in o.accesses if a.usage.load and a.ref.pointer == mesh.points.ptr]
    assert reading == [Kind.ROUTINE, Kind.ROUTINE, Kind.LAUNCH]
    (launch,) = (o.launch for o in operations if o.launch is not None)
    assert isinstance(launch.arguments[0], ObjectRef)
    assert launch.arguments[0].item is mesh


def test_a_launch_on_other_memory_sees_other_points() -> None:
    operations, _, out = _recorded()
    (operation,) = (o for o in operations if o.launch is not None)
    memory = Memory.covering(a.ref for a in operation.accesses)
    memory.fill_from_program()
    points, result = operation.accesses[0].ref, operation.accesses[2].ref
    assert operation.launch is not None
    run_forward(operation.launch, memory)
    np.testing.assert_allclose(memory.values(result), [1.0], rtol=1e-6)
    memory.set_values(points, CORNERS + np.array([0.0, 0.0, 0.25]))
    run_forward(operation.launch, memory)
    np.testing.assert_allclose(memory.values(result), [0.75], rtol=1e-6)
    np.testing.assert_allclose(out.numpy(), [1.0], rtol=1e-6)


@wp.kernel
def count_near(grid: wp.uint64, at: wp.array(dtype=wp.vec3), out: wp.array(dtype=float)):
    i = wp.tid()
    for _ in wp.hash_grid_query(grid, at[i], 0.5):
        out[i] = out[i] + 1.0


@wp.kernel
def count_met(tree: wp.uint64, at: wp.array(dtype=wp.vec3), out: wp.array(dtype=float)):
    i = wp.tid()
    query = wp.bvh_query_aabb(tree, at[i], at[i])
    box = wp.int32(0)
    while wp.bvh_query_next(query, box):
        out[i] = out[i] + 1.0


@wp.kernel
def draw(seed: wp.uint64, out: wp.array(dtype=float)):
    out[0] = float(seed)


FAR = CORNERS + np.float32(50.0)


def _grid_built_twice(on: np.ndarray, then: np.ndarray) -> None:
    grid = wp.HashGrid(4, 4, 4, device="cpu")
    grid.build(wp.array(on, dtype=wp.vec3, device="cpu"), 1.0)
    at = wp.array(CORNERS[:1], dtype=wp.vec3, device="cpu")
    wp.launch(count_near, 1, [grid.id, at, wp.zeros(1, dtype=float, device="cpu")], device="cpu")
    grid.build(wp.array(then, dtype=wp.vec3, device="cpu"), 1.0)


def _tree_refitted(on: np.ndarray, then: np.ndarray) -> None:
    lowers = wp.array(on - np.float32(0.1), dtype=wp.vec3, device="cpu")
    uppers = wp.array(on + np.float32(0.1), dtype=wp.vec3, device="cpu")
    tree = wp.Bvh(lowers, uppers)
    at = wp.array(CORNERS[:1], dtype=wp.vec3, device="cpu")
    wp.launch(count_met, 1, [tree.id, at, wp.zeros(1, dtype=float, device="cpu")], device="cpu")
    lowers.assign(then - np.float32(0.1))
    uppers.assign(then + np.float32(0.1))
    tree.refit()


@pytest.mark.parametrize("program", [_grid_built_twice, _tree_refitted])
@pytest.mark.parametrize(("on", "found"), [(CORNERS, 1.0), (FAR, 0.0)])
def test_a_launch_finds_again_what_the_object_was_built_on(
    program: Callable[[np.ndarray, np.ndarray], None], on: np.ndarray, found: float
) -> None:
    recording = record(lambda: program(on, FAR if on is CORNERS else CORNERS))
    *_, launch = (o for o in recording.operations if o.launch is not None)
    assert launch.launch is not None
    memory = Memory.covering(a.ref for a in launch.accesses)
    memory.fill_from_program()
    for index in sorted(recording.undo, reverse=True):
        if index >= launch.index:
            memory.undo(recording.undo[index])
    run_forward(launch.launch, memory)
    np.testing.assert_array_equal(memory.values(launch.accesses[-1].ref), [found])


@pytest.mark.parametrize("program", [_grid_built_twice, _tree_refitted])
def test_building_writes_the_object_and_the_same_again_changes_nothing(
    program: Callable[[np.ndarray, np.ndarray], None],
) -> None:
    def written(on: np.ndarray, then: np.ndarray) -> list[bytes]:
        built = of_kind(record(lambda: program(on, then)), Kind.ROUTINE)
        return [o.data.tobytes() for o in built if o.data is not None]

    first, other = written(CORNERS, FAR)
    assert first != other
    first, other = written(CORNERS, CORNERS)
    assert first == other


def test_a_number_that_is_no_object_stays_a_number() -> None:
    def program() -> None:
        with wp.ScopedDevice("cpu"):
            wp.launch(draw, 1, [wp.uint64(42), wp.zeros(1, dtype=float)])

    (launch,) = (o.launch for o in record(program).operations if o.launch is not None)
    assert not isinstance(launch.arguments[0], ObjectRef)


def test_what_there_is_no_room_for_counts_as_never_built() -> None:
    grid = wp.HashGrid(4, 4, 4, device="cpu")
    builds = Builds(grid)
    points = wp.array(CORNERS, dtype=wp.vec3, device="cpu")
    assert builds.add(grid, "__init__", {"dim_x": 4, "dim_y": 4, "dim_z": 4, "device": "cpu"}, read_bytes)
    assert not builds.add(grid, "build", {"points": points, "radius": 1.0}, lambda _: None)
    assert builds.calls(read_bytes(builds.ref.extent)) == (0, ())
    assert builds.add(grid, "build", {"points": points, "radius": 2.0}, read_bytes)
    number, calls = builds.calls(read_bytes(builds.ref.extent))
    assert number == 1
    assert [call.method for call in calls] == ["__init__", "build"]


@wp.kernel
def store_voxel(field: wp.uint64, value: float):
    wp.volume_store_f(field, 0, 0, 0, value)


@wp.kernel
def read_voxel(field: wp.uint64, out: wp.array(dtype=float)):
    out[0] = wp.volume_lookup_f(field, 0, 0, 0)


@pytest.mark.parametrize("changed", [False, True])
def test_a_volume_is_followed_only_where_it_changes_once_it_was_read(changed: bool) -> None:
    def program() -> None:
        with wp.ScopedDevice("cpu"):
            field = wp.Volume.allocate(min=[0, 0, 0], max=[7, 7, 7], voxel_size=1.0, bg_value=0.0)
            out = wp.zeros(1, dtype=float)
            wp.launch(store_voxel, 1, [field.id, 1.0])
            wp.launch(read_voxel, 1, [field.id, out])
            if changed:
                wp.launch(store_voxel, 1, [field.id, 2.0])

    launches = [o.launch for o in record(program).operations if o.launch is not None]
    mine = [c for c in launches if c.kernel.key in ("store_voxel", "read_voxel")]
    assert [isinstance(c.arguments[0], ObjectRef) for c in mine] == [changed] * len(mine)
