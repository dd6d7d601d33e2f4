"""Kernels whose adjoints are right or wrong; which, the test finds out by differences, and lint by their source."""

import warp as wp

LONG = 17
Vec = wp.types.vector(length=3, dtype=wp.float64)


@wp.kernel
def components_once(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    v = Vec()
    v[0] = x[0] * x[0]
    v[1] = x[1]
    v[2] = x[2]
    y[0] = wp.dot(v, v)


@wp.kernel
def component_twice(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    v = Vec()
    v[0] = x[0] * x[0]
    v[0] = x[1] * x[2]
    y[0] = wp.dot(v, v)


@wp.kernel
def component_added_to(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    v = Vec(x[0], x[1], x[2])
    v[0] += x[1] * x[1]
    v[0] += x[2] * x[1]
    y[0] = wp.dot(v, v)


@wp.kernel
def component_scaled(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    v = Vec(x[0], x[1], x[2])
    v[0] *= x[1]
    y[0] = wp.dot(v, v)


@wp.kernel
def component_accumulated(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    v = Vec()
    for i in range(3):
        v[0] = v[0] + x[i] * x[i]
    y[0] = wp.dot(v, v)


@wp.kernel
def component_in_either_branch(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    v = Vec()
    if x[0] > wp.float64(0.0):
        v[0] = x[0] * x[1]
    else:
        v[0] = x[2]
    y[0] = wp.dot(v, v)


@wp.kernel
def vector_made_again(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    v = Vec()
    v[0] = x[0] * x[0]
    first = wp.dot(v, v)
    v = Vec()
    v[0] = x[1]
    y[0] = first + wp.dot(v, v)


@wp.kernel
def sum_stored(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    s = wp.float64(0.0)
    for i in range(x.shape[0]):
        s += x[i] * x[i]
    y[0] = s * wp.float64(2.0)


@wp.kernel
def sum_squared(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    s = wp.float64(0.0)
    for i in range(x.shape[0]):
        s += x[i] * x[i]
    y[0] = s * s


@wp.kernel
def sum_of_short_loop_squared(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    s = wp.float64(0.0)
    for i in range(3):
        s += x[i] * x[i]
    y[0] = s * s


@wp.kernel
def sum_of_long_loop_squared(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    s = wp.float64(0.0)
    for _ in range(LONG):
        s += x[0] * x[1]
    y[0] = s * s


@wp.kernel
def mean_by_count(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    s = wp.float64(0.0)
    count = wp.float64(0.0)
    for i in range(x.shape[0]):
        s += x[i] * x[i]
        count += wp.float64(1.0)
    y[0] = s / count


@wp.kernel
def mean_by_length(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    s = wp.float64(0.0)
    for i in range(x.shape[0]):
        s += x[i] * x[i]
    y[0] = s / wp.float64(x.shape[0])


@wp.kernel
def product_of_all(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    s = wp.float64(1.0)
    for i in range(x.shape[0]):
        s = s * x[i]
    y[0] = s


@wp.kernel
def cubes(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    s = wp.float64(0.0)
    for i in range(x.shape[0]):
        t = x[i] * x[i]
        t = t * x[i]
        s += t
    y[0] = s


@wp.kernel
def last_one_squared(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    t = wp.float64(0.0)
    for i in range(x.shape[0]):
        t = x[i] * x[i]
    y[0] = t * t


@wp.kernel
def largest(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    s = wp.float64(-1.0)
    for i in range(x.shape[0]):
        s = wp.max(s, x[i])
    y[0] = s


@wp.kernel
def square_of_largest(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    best = wp.int32(0)
    for i in range(x.shape[0]):
        if x[i] > x[best]:
            best = i
    y[0] = x[best] * x[best]


@wp.kernel
def counted_while(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    i = wp.int32(0)
    s = wp.float64(0.0)
    while i < x.shape[0]:
        s += x[i] * x[i]
        i += 1
    y[0] = s


@wp.kernel
def repeated_while(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    s = x[0]
    n = wp.int32(0)
    while n < 4:
        s = s + x[1] * x[2]
        n += 1
    y[0] = s


@wp.kernel
def branch_on_sum(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    s = wp.float64(0.0)
    for i in range(x.shape[0]):
        s += x[i] * x[i]
    if s > wp.float64(0.1):
        y[0] = x[0] * x[0] + s


@wp.kernel
def scaled_in_place(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    y[0] = x[0] * x[1]
    y[0] *= x[2]


@wp.kernel
def added_in_place(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    y[0] = x[0] * x[1]
    y[0] += x[2] * x[2]


@wp.kernel
def replaced_by_square(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    x[1] = x[1] * x[1]
    y[0] = x[1] + x[0]


@wp.kernel
def replaced_by_double(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    x[1] = x[1] * wp.float64(2.0)
    y[0] = x[1] + x[0]


@wp.kernel
def clamped_in_place(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    if x[2] > wp.float64(0.5):
        x[2] = wp.float64(0.1) + x[0]
    y[0] = x[2]


@wp.kernel
def guarded_root(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    gap = x[0] - x[3]
    y[0] = wp.where(gap > wp.float64(0.0), wp.sqrt(gap), wp.float64(0.0)) + x[1]


@wp.kernel
def branched_root(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    gap = x[0] - x[3]
    root = wp.float64(0.0)
    if gap > wp.float64(0.0):
        root = wp.sqrt(gap)
    y[0] = root + x[1]


@wp.kernel
def fraction(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    y[0] = wp.frac(x[0]) + x[1]


@wp.func
def half_adjoint(a: wp.float64, b: wp.float64):
    return a * b


@wp.func_grad(half_adjoint)
def adj_half_adjoint(a: wp.float64, b: wp.float64, adj: wp.float64):
    wp.adjoint[a] += b * adj


@wp.kernel
def with_half_adjoint(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    y[0] = half_adjoint(x[0], x[1])


@wp.func
def assigned_adjoint(a: wp.float64, b: wp.float64):
    return a * b


@wp.func_grad(assigned_adjoint)
def adj_assigned_adjoint(a: wp.float64, b: wp.float64, adj: wp.float64):
    wp.adjoint[a] += b * adj
    wp.adjoint[b] = a * adj


@wp.kernel
def with_assigned_adjoint(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    b = x[1]
    y[0] = assigned_adjoint(x[0], b) + assigned_adjoint(x[2], b)
