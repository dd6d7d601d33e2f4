# expect: right
"""A sparse matrix spreads a source; the adjoint of its product, which Warp does not have, is recorded by hand."""

import warp as wp
import warp.sparse

wp.set_device("cpu")
N = 5


@wp.kernel
def emit(x: wp.array(dtype=float), source: wp.array(dtype=float)):
    i = wp.tid()
    source[i] = wp.sin(x[i]) + 0.5 * x[i]


@wp.kernel
def misfit(spread: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, (spread[i] - 0.3) * (spread[i] - 0.3))


rows = wp.array([0, 0, 1, 2, 2, 3, 4, 4], dtype=int)
columns = wp.array([0, 3, 1, 0, 4, 2, 3, 1], dtype=int)
values = wp.array([0.7, -0.4, 1.1, 0.3, 0.9, -0.6, 0.5, 0.8], dtype=float)
matrix = warp.sparse.bsr_from_triplets(N, N, rows, columns, values)
transposed = warp.sparse.bsr_transposed(matrix)


def adjoint_of_product(vector, product):
    return lambda: warp.sparse.bsr_mv(transposed, product.grad, vector.grad, alpha=1.0, beta=1.0)


x = wp.array([0.2, -0.5, 0.9, 1.3, 0.4], dtype=float, requires_grad=True)
for it in range(3):
    source, spread = (wp.zeros(N, dtype=float, requires_grad=True) for _ in range(2))
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(emit, dim=N, inputs=[x, source])
        warp.sparse.bsr_mv(matrix, source, spread)
        tape.record_func(adjoint_of_product(source, spread), arrays=[source, spread])
        wp.launch(misfit, dim=N, inputs=[spread, loss])
    tape.backward(loss)
    g = x.grad.numpy().copy()
    print("iter", it, "loss", float(loss.numpy()[0]), "x", x.numpy().tolist(), "grad_x", g.tolist())
    x.assign(x.numpy() - 0.1 * g)
    tape.zero()
