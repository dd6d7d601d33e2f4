# expect: wrong
"""Kernels made in a loop out of functions, each in a module of its own; one result has no gradient buffer."""

import warp as wp

wp.set_device("cpu")


def polynomial(degree):
    def evaluate(c: wp.array(dtype=float), x: wp.array(dtype=float), y: wp.array(dtype=float)):
        i = wp.tid()
        s = float(0.0)
        for k in range(wp.static(degree + 1)):
            s = s * x[i] + c[k]
        y[i] = wp.sin(s)

    return wp.Kernel(func=evaluate, key=f"evaluate_{degree}", module=wp.get_module(f"polynomial_{degree}"))


@wp.kernel(module="unique")
def combine(a: wp.array(dtype=float), b: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = a[i] + b[i] * b[i] - 0.5
    wp.atomic_add(loss, 0, d * d)


KERNELS = [polynomial(degree) for degree in (1, 3)]
x = wp.array([-0.8, -0.1, 0.4, 0.9], dtype=float)
c = wp.array([0.3, -0.5, 0.7, 0.2], dtype=float, requires_grad=True)
for it in range(3):
    results = [
        wp.zeros(4, dtype=float, requires_grad=True),
        wp.zeros(4, dtype=float),  # <- RG201
    ]
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        for kernel, y in zip(KERNELS, results, strict=True):
            wp.launch(kernel, dim=4, inputs=[c, x], outputs=[y])
        wp.launch(combine, dim=4, inputs=[*results, loss])
    tape.backward(loss)
    g = c.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "c", c.numpy().tolist(), "grad_c", g.tolist())
    c.assign(c.numpy() - 0.05 * g)
    tape.zero()
