"""Kernels with one wrong adjoint each; the line at fault is marked."""

import warp as wp


@wp.kernel
def grown(x: wp.array(dtype=wp.float64), n: int, y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    w = wp.float64(1.0)
    for _k in range(n):  # <- RG403
        w = w * (wp.float64(1.0) + wp.float64(0.1) * x[i])
    y[i] = w


@wp.func
def long_way(a: wp.float64, n: int):
    p = wp.float64(1.0)
    v = wp.vec2d(a, wp.float64(1.0))
    for _k in range(2, 100 * n, 3):  # <- RG403
        p = p * (wp.float64(1.0) + wp.float64(0.002) * wp.sin(v[0]))
        v = wp.vec2d(v[0] + wp.float64(0.01) * v[1] * p, v[1] - wp.float64(0.01) * v[0])
    return wp.sqrt(p) * v[0]


@wp.kernel
def long_loop(x: wp.array(dtype=wp.float64), n: int, y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    y[i] = long_way(x[i], n) + x[i]


@wp.func
def nested(a: wp.float64, rows: int, columns: int):
    total = wp.float64(1.0)
    for r in range(rows):  # <- RG403
        row = wp.float64(1.0)
        for c in range(r, columns, 2):
            row = row * (a + wp.float64(c) * wp.float64(0.1))
        total = total * wp.sin(row)
    return total


@wp.kernel
def twice_looped(x: wp.array(dtype=wp.float64), n: int, y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    y[i] = nested(x[i], n, 5) * nested(wp.float64(0.5) * x[i], 2, 4)


@wp.kernel
def two_faults(x: wp.array(dtype=wp.float64), n: int, y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    w = wp.float64(1.0)
    for _k in range(n):  # <- RG403
        w = w * x[i]
    v = wp.vec2d()
    v[0] = w
    v[1] = x[i]
    v[0] = v[0] * v[1] * v[1]  # <- RG402
    y[i] = v[0]


@wp.kernel
def stored_then_multiplied(x: wp.array(dtype=wp.float64), n: int, y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    y[i] = x[i] * x[i]
    if n > 2:
        y[i] *= x[i] + wp.float64(1.0)  # <- RG401
    y[i] /= x[i]


@wp.kernel
def masked(x: wp.array(dtype=wp.float64), n: int, y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    s = x[i] - wp.float64(0.6)
    y[i] = wp.where(s > wp.float64(0.0), wp.sqrt(s), s) * wp.sqrt(x[i])  # <- RG408


@wp.kernel
def through_root(x: wp.array(dtype=wp.float64), n: int, y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    d = x[i] - x[0]
    length = wp.sqrt(d * d)  # <- RG409
    y[i] = wp.exp(length * length) / (wp.float64(1.0) + length * length)


@wp.func
def doubtful(a: wp.float64, v: wp.vec2d, k: int):
    return a * a * v[0] + wp.float64(k) * v[1] * v[1] + wp.max(a, wp.float64(0.5))


@wp.func_grad(doubtful)
def adj_doubtful(a: wp.float64, v: wp.vec2d, k: int, adj_ret: wp.float64):
    wp.adjoint[a] += (wp.float64(2.0) * a * v[0] + wp.float64(1.0)) * adj_ret
    wp.adjoint[v] += wp.float64(0.5) * adj_ret * wp.vec2d(a * a, wp.float64(2.0) * wp.float64(k) * v[1])


@wp.kernel
def with_doubt(x: wp.array(dtype=wp.float64), n: int, y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    y[i] = doubtful(x[i], wp.vec2d(x[i], x[0]), n)


@wp.kernel
def at_one(x: wp.array(dtype=wp.float32), n: int, y: wp.array(dtype=wp.float32)):
    i = wp.tid()
    y[i] = wp.acos(x[i] - x[i] + 1.0) + wp.mod(2.05, x[i])  # <- RG409


@wp.kernel
def racing(x: wp.array(dtype=wp.float64), n: int, y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    y[i] = x[i] * x[i] + wp.sin(y[(i + 3) % 4])  # <- RG411
