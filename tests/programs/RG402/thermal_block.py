# expect: wrong
"""A small conductance matrix is assembled in a function, entry by entry; one entry gets two contributions."""

import warp as wp


@wp.func
def assemble(g: wp.vec2d):
    k = wp.mat22d()
    k[0, 0] = g[0] * g[0]
    k[1, 1] = g[1] + wp.float64(0.5)
    k[0, 1] = wp.sin(g[0])
    k[1, 0] = k[0, 1] * g[1]
    k[0, 0] *= g[1] + k[1, 0]  # <- RG402
    return k


@wp.kernel
def dissipate(g: wp.array(dtype=wp.vec2d), t: wp.array(dtype=wp.vec2d), heat: wp.array(dtype=wp.float64)):
    i = wp.tid()
    k = assemble(g[i])
    wp.atomic_add(heat, 0, wp.dot(t[i], k * t[i]))


def main():
    g = wp.array([[0.8, 1.1], [0.5, 0.3]], dtype=wp.vec2d, requires_grad=True)
    t = wp.array([[1.0, -0.4], [0.6, 0.9]], dtype=wp.vec2d)
    for it in range(3):
        heat = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        with wp.Tape() as tape:
            wp.launch(dissipate, dim=2, inputs=[g, t, heat])
        tape.backward(heat)
        grad = g.grad.numpy().copy()
        print("iter", it, "loss", heat.numpy()[0], "g", g.numpy().tolist(), "grad_g", grad.tolist())
        g.assign(g.numpy() - 0.03 * grad)
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
