# expect: right
"""Springs whose energy has an adjoint of its own; every spring is used from both of its ends."""

import warp as wp

wp.set_device("cpu")


@wp.func
def stretch(length: float, rest: float):
    return (length - rest) * (length - rest)


@wp.func_grad(stretch)
def adj_stretch(length: float, rest: float, adj_ret: float):
    wp.adjoint[length] += 2.0 * (length - rest) * adj_ret
    wp.adjoint[rest] += -2.0 * (length - rest) * adj_ret


@wp.kernel
def pairs(
    left: wp.array(dtype=float), right: wp.array(dtype=float), rest: wp.array(dtype=float), out: wp.array(dtype=float)
):
    i = wp.tid()
    r = rest[i]
    wp.atomic_add(out, 0, stretch(left[i], r) + 0.5 * stretch(right[i], r) + 0.1 * r * r * r)


left = wp.array([1.0, 1.4, 0.7], dtype=float)
right = wp.array([0.8, 1.1, 1.3], dtype=float)
rest = wp.array([0.9, 1.0, 1.1], dtype=float, requires_grad=True)
for it in range(3):
    out = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(pairs, dim=3, inputs=[left, right, rest, out])
    tape.backward(out)
    g = rest.grad.numpy().copy()
    print("iter", it, "loss", float(out.numpy()[0]), "rest", rest.numpy().tolist(), "grad_rest", g.tolist())
    rest.assign(rest.numpy() - 0.02 * g)
    tape.zero()
