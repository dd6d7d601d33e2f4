# expect: right, remark RG508
"""A table that a kernel has read nonlinearly is written again with the values it holds."""

import numpy as np
import warp as wp


@wp.kernel
def absorb(depth: wp.array(dtype=wp.float64), table: wp.array(dtype=wp.float64), out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    out[i] = wp.exp(-depth[i] * table[i]) * table[i]


@wp.kernel
def total(out: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    wp.atomic_add(loss, 0, out[i])


def main():
    values = np.array([0.5, 1.2, 0.8])
    table = wp.array(values, dtype=wp.float64)
    depth = wp.array([0.4, 0.9, 1.5], dtype=wp.float64, requires_grad=True)
    for it in range(3):
        out = wp.zeros(3, dtype=wp.float64, requires_grad=True)
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        tape = wp.Tape()
        with tape:
            wp.launch(absorb, dim=3, inputs=[depth, table, out])
            wp.launch(total, dim=3, inputs=[out, loss])
        table.assign(values)
        tape.backward(loss)
        g = depth.grad.numpy()
        print("iter", it, "loss", float(loss.numpy()[0]), "depth", depth.numpy().tolist(), "grad_depth", g.tolist())
        depth.assign(depth.numpy() - 0.1 * g)
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
