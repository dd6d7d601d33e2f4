"""Objects that kernels reach by a number: a launch reads what they hold, building and refitting reads it too."""

from __future__ import annotations

import numpy as np
import warp as wp
from tests.trace.recording import record

from retrograde.gradients.binding import run_forward
from retrograde.gradients.memory import Memory
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


def test_a_number_that_is_no_object_stays_a_number() -> None:
    def program() -> None:
        with wp.ScopedDevice("cpu"):
            grid = wp.HashGrid(4, 4, 4)
            grid.build(wp.array(CORNERS, dtype=wp.vec3), 1.0)
            wp.launch(height_above, 0, [grid.id, wp.zeros(1, dtype=wp.vec3), wp.zeros(1, dtype=float)])

    operations = record(program).operations
    (launch,) = (o.launch for o in operations if o.launch is not None)
    assert not isinstance(launch.arguments[0], ObjectRef)
    assert Kind.ROUTINE in [o.kind for o in operations]
