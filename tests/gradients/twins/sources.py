"""Kernels that reach functions in every way that Warp knows, and one change each that a twin must show."""

from typing import Any

import tests.gradients.twins.elsewhere as elsewhere
import warp as wp

SCALE = 1.5


@wp.func
def curve(x: float):
    return wp.sin(x) * SCALE


@wp.func
def curve_twice(x: float, power: float = 2.0):
    return wp.pow(curve(x), power)


@wp.kernel
def nested(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = curve_twice(x[i])


@wp.kernel
def through_module(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = elsewhere.shared(x[i])


class Shapes:
    @wp.func
    def bowl(x: float):
        return x * x


@wp.kernel
def through_class(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = Shapes.bowl(x[i])


@wp.func
def tilt(x: float):
    return 0.5 * x * x


@wp.func
def tilt(x: float, y: float):  # noqa: F811
    return 0.25 * x * y


@wp.kernel
def overloaded(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = tilt(x[i]) + tilt(x[i], 2.0)


@wp.func
def cube(x: Any):
    return x * x * x


@wp.kernel
def generic_kernel(x: wp.array(dtype=Any), y: wp.array(dtype=Any)):
    i = wp.tid()
    y[i] = cube(x[i])


generic = wp.overload(generic_kernel, [wp.array(dtype=float), wp.array(dtype=float)])


@wp.func
def custom(x: float, k: float):
    return k * x * x


@wp.func_grad(custom)
def adj_custom(x: float, k: float, adj_ret: float):
    wp.adjoint[x] += 2.0 * k * x * adj_ret
    wp.adjoint[k] += x * x * adj_ret


@wp.kernel
def with_adjoint(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = custom(x[i], 3.0)


@wp.func
def take(counter: wp.array(dtype=int), taken: wp.array(dtype=int), i: int):
    slot = wp.atomic_add(counter, 0, 1)
    taken[i] = slot
    return slot


@wp.func_replay(take)
def replay_take(counter: wp.array(dtype=int), taken: wp.array(dtype=int), i: int):
    return taken[i]


slope = wp.grad(curve)


@wp.kernel
def gradient_of(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = slope(x[i]) + wp.grad(curve)(x[i])


choices = [curve, cube]


@wp.kernel
def static_choice(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = wp.static(choices[0])(x[i])


@wp.struct
class Pair:
    left: wp.array(dtype=float)
    weight: float


@wp.func
def weigh(pair: Pair, i: int):
    return pair.weight * pair.left[i]


@wp.kernel
def with_struct(pair: Pair, y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = weigh(pair, i) + curve(pair.left[i])


def make(size: int, factor: float):
    vector = wp.types.vector(size, float)

    @wp.func
    def blend(v: vector):
        return wp.dot(v, v) * factor

    @wp.kernel
    def closed(x: wp.array(dtype=vector), y: wp.array(dtype=float)):
        i = wp.tid()
        y[i] = blend(x[i])

    return closed
