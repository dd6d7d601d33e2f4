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
def left_early(x: wp.array(dtype=wp.float64), n: int, y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    w = x[i] + wp.float64(0.5)
    for k in range(30 * n):  # <- RG403
        if k > 50 + i:
            break
        if k % 7 == 3:
            continue
        w = w + wp.float64(0.02) * w * wp.sin(w)
    y[i] = w * w


@wp.kernel
def until_small(x: wp.array(dtype=wp.float64), n: int, y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    w = x[i] + wp.float64(0.5)
    rest = wp.float64(1.0)
    while rest > wp.float64(0.1) + wp.float64(0.01) * wp.float64(i):  # <- RG403
        w = w + wp.float64(0.02) * w * wp.sin(w) * rest
        rest = rest * wp.float64(0.97)
    y[i] = w * w


@wp.kernel
def nested_and_drawn(x: wp.array(dtype=wp.float64), n: int, y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    w = x[i] + wp.float64(0.5)
    v = wp.vec2d(x[i], wp.float64(0.3))
    state = wp.rand_init(7, i)
    for k in range(2):
        for _j in range(k, 12 * n, 2):  # <- RG403
            q = wp.float64(0.1) * w
            for _m in range(n):
                q = q * (wp.float64(1.0) + w * wp.float64(0.1)) + v[0] * wp.float64(0.01)
            w = w + wp.float64(0.02) * q * wp.float64(wp.randf(state))
            v = wp.vec2d(v[1] * wp.float64(0.5) + w, v[0])
    y[i] = w * w * v[0]


@wp.func
def slow_growth(a: wp.float64, n: int):
    p = wp.float64(1.0)
    for _m in range(20 * n, 0, -1):  # <- RG403
        p = p + wp.float64(0.01) * p * wp.sin(a * p)
    return p


@wp.kernel
def called_again(x: wp.array(dtype=wp.float64), n: int, y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    s = slow_growth(x[i], n) * slow_growth(x[i] * x[i], n)
    for _k in range(3):
        s = s * slow_growth(s * wp.float64(0.1), n - 1)
    y[i] = s


@wp.kernel
def components_by_turn(x: wp.array(dtype=wp.float64), n: int, y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    v = wp.vec3d(x[i], x[i] * x[i], x[0])
    for k in range(3):
        v[k] = v[k] * v[(k + 1) % 3] + x[i]  # <- RG402
    m = wp.mat22d(v[0], v[1], x[0], wp.float64(1.0))
    for k in range(2):
        m[k, 1] = m[k, 0] * m[1 - k, 1] + x[i]  # <- RG402
    y[i] = wp.determinant(m) + v[2]


@wp.kernel
def through_power(x: wp.array(dtype=wp.float32), n: int, y: wp.array(dtype=wp.float32)):
    i = wp.tid()
    d = x[i] - x[0]
    root = wp.pow(d * d, 0.5)  # <- RG409
    y[i] = root * root + x[i]


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


@wp.func_native(
    "return 0.7 * a * a * b + b * m;",
    adj_snippet="adj_a += 0.7 * a * b * adj_ret; adj_b += (0.7 * a * a + m) * adj_ret;",
)
def halved(a: wp.float64, b: wp.float64, m: int) -> wp.float64: ...  # <- RG404


@wp.func_native("return wp::vec2d(v[0] * v[1] * k, v[1] * v[1]);")
def silent(v: wp.vec2d, k: wp.float64) -> wp.vec2d: ...  # <- RG407


@wp.kernel
def with_native_code(x: wp.array(dtype=wp.float64), n: int, y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    v = silent(wp.vec2d(x[i], x[0]), x[i] + wp.float64(0.3))
    y[i] = halved(x[i], x[0], n) * x[i] + wp.dot(v, v)


@wp.kernel
def at_one(x: wp.array(dtype=wp.float32), n: int, y: wp.array(dtype=wp.float32)):
    i = wp.tid()
    y[i] = wp.acos(x[i] - x[i] + 1.0) + wp.mod(wp.vec2(2.05, 1.0), wp.vec2(x[i], 1.7))[0]  # <- RG409


@wp.kernel
def racing(x: wp.array(dtype=wp.float64), n: int, y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    y[i] = x[i] * x[i] + wp.sin(y[(i + 3) % 4])  # <- RG411


@wp.kernel
def branched(x: wp.array(dtype=wp.float64), n: int, y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    w = wp.float64(1.0)
    if n < 0:
        w = x[i]

    elif n > 0:
        v = wp.float64(0.1) * x[i]

        for _k in range(n):  # <- RG403
            w = w * (wp.float64(1.0) + v)
    else:
        w = wp.float64(2.0) * x[i]

    y[i] = w
