# expect: wrong
"""Drag of a wind on sails: the square of a velocity, with a vector's adjoint written by hand."""

import numpy as np
import warp as wp


def make(power: float):
    @wp.func
    def square(v: wp.vec3d):
        return wp.dot(v, v)

    @wp.func_grad(square)
    def adj_square(v: wp.vec3d, adj_ret: wp.float64):
        for_each = wp.float64(2.0) * adj_ret
        wp.adjoint[v] = for_each * v  # <- RG405

    @wp.kernel
    def drag(wind: wp.array(dtype=wp.vec3d), sail: wp.array(dtype=wp.vec3d), force: wp.array(dtype=wp.float64)):
        i = wp.tid()
        w = wind[0] - sail[i]
        force[i] = wp.pow(square(w), wp.float64(power)) * (w[0] + wp.float64(2.0))

    return drag


@wp.kernel
def collect(force: wp.array(dtype=wp.float64), loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    wp.atomic_add(loss, 0, force[i])


def main():
    drag = make(1.5)
    wind = wp.array(np.array([[1.0, -0.5, 0.3]]), dtype=wp.vec3d, requires_grad=True)
    sail = wp.array(np.array([[0.2, 0.1, 0.0], [-0.3, 0.4, 0.1]]), dtype=wp.vec3d)
    for it in range(3):
        force = wp.zeros(2, dtype=wp.float64, requires_grad=True)
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        with wp.Tape() as tape:
            wp.launch(drag, dim=2, inputs=[wind, sail], outputs=[force])
            wp.launch(collect, dim=2, inputs=[force], outputs=[loss])
        tape.backward(loss)
        g = wind.grad.numpy().copy()
        print("iter", it, "loss", loss.numpy()[0], "wind", wind.numpy().tolist(), "grad_wind", g.tolist())
        wind.assign(wind.numpy() - 0.01 * g)
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
