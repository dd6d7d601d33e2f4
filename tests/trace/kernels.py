"""Kernels that read and write in every way, each with what it does to its arrays.

Letters: l an element is loaded, s stored, a accumulated into. A comment `over` marks a line that overwrites an
array after a load of it, `times` one that multiplies or divides in place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

N = 4


@wp.struct
class Body:
    mass: float
    position: wp.array(dtype=float)
    velocity: wp.array(dtype=float)


@wp.struct
class Scene:
    gravity: float
    body: Body
    grid: wp.array2d(dtype=float)


@wp.func
def double_of(values: wp.array(dtype=float), i: int):
    return 2.0 * values[i]


@wp.func
def put(values: wp.array(dtype=float), i: int, value: float):
    values[i] = value  # over


@wp.func
def row_of(table: wp.array2d(dtype=float), i: int):
    return table[i]


@wp.func
def put_twice(values: wp.array(dtype=float), i: int, value: float):
    put(values, i, value)
    put(values, i, value + double_of(values, i))


@wp.func
def drift(body: Body, i: int, dt: float):
    body.position[i] += dt * body.velocity[i]


@wp.func
def overloaded(values: wp.array(dtype=float), i: int):
    return values[i]


@wp.func
def overloaded(values: wp.array(dtype=float), i: int, value: float):  # noqa: F811
    values[i] = value  # over
    return value


@wp.func_native("""x[i] = 3.0f;""")
def native_put(x: wp.array(dtype=float), i: int): ...


@wp.kernel
def plain(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[i] * x[i]


@wp.kernel
def scatter(index: wp.array(dtype=int), x: wp.array(dtype=float), y: wp.array(dtype=float), z: wp.array(dtype=float)):
    i = wp.tid()
    y[index[i]] = x[i]
    wp.atomic_add(z, index[i], x[i])


@wp.kernel
def augmented(x: wp.array(dtype=float), y: wp.array(dtype=float), z: wp.array(dtype=float)):
    i = wp.tid()
    x[i] += 1.0
    y[i] -= x[i]
    z[i] *= 2.0  # over times


@wp.kernel
def extremes(x: wp.array(dtype=float), low: wp.array(dtype=float), count: wp.array(dtype=int)):
    i = wp.tid()
    wp.atomic_min(low, 0, x[i])
    wp.atomic_add(count, 0, 1)
    if x[i] > 0.9:
        x[i] = 0.0  # over


@wp.kernel
def rows(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float)):
    i = wp.tid()
    source = a[i]
    target = b[i]
    for j in range(3):
        target[j] = source[j] + a[i, j]


@wp.kernel
def row_read(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float)):
    i = wp.tid()
    source = a[i]
    target = b[i]
    target[0] = source[1]


@wp.func
def fade(body: Body, i: int):
    body.position[i] = 0.5 * body.position[i]  # over


@wp.kernel
def in_array_of_structs(bodies: wp.array(dtype=Body), scenes: wp.array(dtype=Scene), out: wp.array(dtype=float)):
    i = wp.tid()
    second = bodies[1]
    bodies[0].velocity[i] = second.mass + second.velocity[i]  # over
    scene = scenes[0]
    drift(scene.body, i, scene.gravity)
    fade(bodies[1], i)
    out[i] = scenes[0].grid[i, 1]


@wp.kernel
def array_of_structs_itself(bodies: wp.array(dtype=Body), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = bodies[1].mass
    if i == 0:
        bodies[0].mass = 3.0  # over


@wp.kernel
def renamed(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    other = x
    another = other
    y[i] = 1.0
    another[i] = y[i]


@wp.kernel
def through_functions(x: wp.array(dtype=float), y: wp.array(dtype=float), z: wp.array(dtype=float)):
    i = wp.tid()
    put_twice(y, i, double_of(x, i))
    put(value=1.0, values=z, i=i)


@wp.kernel
def through_overloads(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = overloaded(x, i) + overloaded(x, i, 2.0)


@wp.kernel
def in_struct(body: Body, out: wp.array(dtype=float)):
    i = wp.tid()
    body.velocity[i] = body.velocity[i] - body.mass  # over
    drift(body, i, 0.1)
    out[i] = body.position[i]


@wp.kernel
def nested_struct(scene: Scene, out: wp.array(dtype=float)):
    i = wp.tid()
    body = scene.body
    body.position[i] = scene.grid[i, 0]
    drift(scene.body, i, scene.gravity)
    out[i] = 0.0


@wp.kernel
def vector_parts(v: wp.array(dtype=wp.vec3), w: wp.array(dtype=wp.vec3), m: wp.array(dtype=wp.mat22)):
    i = wp.tid()
    w[i][1] = v[i][0]
    w[i].z = v[i].y
    m[i][0, 1] += 2.0


@wp.kernel
def sizes(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = float(x.shape[0]) + float(len(x))


@wp.kernel
def tiled(y: wp.array(dtype=float), z: wp.array(dtype=float)):
    t = wp.tile_ones(dtype=float, shape=4)
    wp.tile_store(y, t * 2.0)
    wp.tile_atomic_add(z, t)


@wp.kernel
def tile_loaded(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    t = wp.tile_load(x, shape=4)
    wp.tile_store(y, t * 2.0)


@wp.kernel
def searched(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = float(wp.lower_bound(x, 0.5))


@wp.kernel
def counted(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    old = wp.atomic_add(x, 0, 1.0)
    y[i] = old * old


@wp.kernel
def built_inside(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    body = Body()
    body.position = x
    body.velocity = y
    drift(body, i, 0.5)


@wp.kernel
def row_from_function(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float)):
    i = wp.tid()
    target = row_of(b, i)
    target[0] = a[i, 1]


@wp.kernel
def native(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    native_put(x, i)
    y[i] = x[i]


@wp.kernel
def drawn(seed: int, y: wp.array(dtype=float)):
    i = wp.tid()
    state = wp.rand_init(seed, i)
    y[i] = wp.randf(state)


@wp.kernel
def clamp_in_place(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[i]
    if x[i] > 0.5:
        x[i] = 0.5  # over


@wp.kernel
def read_back(x: wp.array(dtype=float), y: wp.array(dtype=float), z: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[i]
    z[i] = y[i] * y[i]


@dataclass(frozen=True)
class Entry:
    """A kernel and what it does.

    Attributes:
        kernel: The kernel.
        usage: Letters by dotted path; an array that is not named is not touched.
        arguments: Makes arguments out of a random generator.
        exact: Whether every access can be followed to an argument.
        random: Whether the kernel draws random numbers.
        block: Block size of a tiled launch.
    """

    kernel: Any
    usage: dict[str, str]
    arguments: Callable[[np.random.Generator], list[Any]]
    exact: bool = True
    random: bool = False
    block: int | None = None


def _floats(rng: np.random.Generator, *shape: int, dtype: Any = float) -> wp.array:
    return wp.array(rng.uniform(0.1, 1.0, shape).astype(np.float32), dtype=dtype, device="cpu")


def _lines(count: int) -> Callable[[np.random.Generator], list[Any]]:
    return lambda rng: [_floats(rng, N) for _ in range(count)]


def _scatter(rng: np.random.Generator) -> list[Any]:
    return [wp.array(rng.permutation(N).astype(np.int32), device="cpu"), *_lines(3)(rng)]


def _extremes(rng: np.random.Generator) -> list[Any]:
    return [*_lines(2)(rng), wp.array(rng.integers(0, 2, N).astype(np.int32) * 200, device="cpu")]


def _rows(rng: np.random.Generator) -> list[Any]:
    return [_floats(rng, N, 3), _floats(rng, N, 3)]


def body_of(rng: np.random.Generator) -> Any:
    body = Body()
    body.mass = 2.0
    body.position, body.velocity = _floats(rng, N), _floats(rng, N)
    return body


def _bodies(rng: np.random.Generator) -> wp.array:
    """Two bodies; the arrays that they hold are kept alive."""
    bodies = [body_of(rng) for _ in range(2)]
    for body in bodies:
        body.mass = float(rng.uniform())
    return _holding(bodies, Body)


def _holding(structs: list[Any], dtype: Any) -> wp.array:
    array = wp.array(structs, dtype=dtype, device="cpu")
    array.structs = structs
    return array


def _scene(rng: np.random.Generator) -> list[Any]:
    scene = Scene()
    scene.gravity = 0.5
    scene.body = body_of(rng)
    scene.grid = _floats(rng, N, 2)
    return [scene, _floats(rng, N)]


def _vectors(rng: np.random.Generator) -> list[Any]:
    return [_floats(rng, N, 3, dtype=wp.vec3), _floats(rng, N, 3, dtype=wp.vec3), _floats(rng, N, 2, 2, dtype=wp.mat22)]


ZOO = (
    Entry(plain, {"x": "l", "y": "s"}, _lines(2)),
    Entry(scatter, {"index": "l", "x": "l", "y": "s", "z": "a"}, _scatter),
    Entry(augmented, {"x": "la", "y": "a", "z": "ls"}, _lines(3)),
    Entry(extremes, {"x": "ls", "low": "ls", "count": "a"}, _extremes),
    Entry(rows, {"a": "l", "b": "s"}, _rows),
    Entry(row_read, {"a": "l", "b": "s"}, _rows),
    Entry(renamed, {"x": "s", "y": "ls"}, _lines(2)),
    Entry(through_functions, {"x": "l", "y": "ls", "z": "s"}, _lines(3)),
    Entry(through_overloads, {"x": "ls", "y": "s"}, _lines(2)),
    Entry(
        in_struct,
        {"body.velocity": "ls", "body.position": "la", "out": "s"},
        lambda rng: [body_of(rng), _floats(rng, N)],
    ),
    Entry(
        nested_struct,
        {"scene.body.position": "sa", "scene.body.velocity": "l", "scene.grid": "l", "out": "s"},
        _scene,
    ),
    Entry(vector_parts, {"v": "l", "w": "s", "m": "a"}, _vectors),
    Entry(sizes, {"y": "s"}, _lines(2)),
    Entry(tiled, {"y": "s", "z": "a"}, _lines(2), block=32),
    Entry(tile_loaded, {"x": "l", "y": "s"}, _lines(2), block=32),
    Entry(searched, {"x": "l", "y": "s"}, _lines(2)),
    Entry(counted, {"x": "la", "y": "s"}, _lines(2)),
    Entry(built_inside, {}, _lines(2), exact=False),
    Entry(row_from_function, {}, _rows, exact=False),
    Entry(native, {"x": "lsa", "y": "s"}, _lines(2)),
    Entry(drawn, {"y": "s"}, lambda rng: [int(rng.integers(1 << 20)), _floats(rng, N)], random=True),
    Entry(clamp_in_place, {"x": "ls", "y": "s"}, _lines(2)),
    Entry(read_back, {"x": "l", "y": "ls", "z": "s"}, _lines(3)),
)

# Their contents are addresses, which no two runs share.
HOLDERS = (
    Entry(
        in_array_of_structs,
        {
            "bodies": "l",
            "bodies.position": "ls",
            "bodies.velocity": "ls",
            "scenes": "l",
            "scenes.body.position": "a",
            "scenes.body.velocity": "l",
            "scenes.grid": "l",
            "out": "s",
        },
        lambda rng: [_bodies(rng), _holding([_scene(rng)[0]], Scene), _floats(rng, N)],
    ),
    Entry(array_of_structs_itself, {"bodies": "ls", "out": "s"}, lambda rng: [_bodies(rng), _floats(rng, N)]),
)
