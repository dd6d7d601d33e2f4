# expect: wrong
"""A small network under Adam; the weights of one layer are cleared after a step, those of the other are not."""

import numpy as np
import warp as wp
import warp.optim


@wp.kernel
def first(w: wp.array(dtype=float), x: wp.array(dtype=float), h: wp.array(dtype=float)):
    i = wp.tid()
    h[i] = wp.tanh(w[0] * x[i] + w[1])


@wp.kernel
def second(v: wp.array(dtype=float), h: wp.array(dtype=float), y: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = v[0] * h[i] + v[1] - y[i]
    wp.atomic_add(loss, 0, d * d)


def train(iterations):
    rng = np.random.default_rng(1)
    inputs = rng.uniform(-1.0, 1.0, 10)
    x = wp.array(inputs, dtype=float)
    y = wp.array(np.sin(2.0 * inputs), dtype=float)
    w = wp.array([0.5, 0.1], dtype=float, requires_grad=True)
    v = wp.array([0.9, -0.2], dtype=float, requires_grad=True)
    optimizer = warp.optim.Adam([w, v], lr=0.05)
    for it in range(iterations):
        h = wp.zeros(10, dtype=float, requires_grad=True)
        loss = wp.zeros(1, dtype=float, requires_grad=True)
        tape = wp.Tape()
        with tape:
            wp.launch(first, dim=10, inputs=[w, x, h])
            wp.launch(second, dim=10, inputs=[v, h, y, loss])
        tape.backward(loss)  # <- RG301
        gw, gv = w.grad.numpy().tolist(), v.grad.numpy().tolist()
        print(f"iter {it} loss {loss.numpy()[0]} w {w.numpy().tolist()} grad_w {gw} v {v.numpy().tolist()} grad_v {gv}")
        optimizer.step([w.grad, v.grad])
        w.grad.zero_()


if __name__ == "__main__":
    wp.set_device("cpu")
    train(4)
