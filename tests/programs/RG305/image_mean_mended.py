# expect: right
"""Sharpens an image; the printed loss is the mean over pixels, backward starts from ones."""

import numpy as np
import warp as wp

wp.set_device("cpu")
SIZE = 6


@wp.kernel
def blur(image: wp.array2d(dtype=float), kernel: wp.array(dtype=float), out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    up, down = wp.max(i - 1, 0), wp.min(i + 1, SIZE - 1)
    left, right = wp.max(j - 1, 0), wp.min(j + 1, SIZE - 1)
    cross = image[up, j] + image[down, j] + image[i, left] + image[i, right]
    out[i, j] = kernel[0] * image[i, j] + kernel[1] * cross


@wp.kernel
def difference(out: wp.array2d(dtype=float), target: wp.array2d(dtype=float), error: wp.array2d(dtype=float)):
    i, j = wp.tid()
    d = out[i, j] - target[i, j]
    error[i, j] = d * d


rng = np.random.default_rng(9)
picture = rng.uniform(0.0, 1.0, (SIZE, SIZE)).astype(np.float32)
image, target = wp.array(picture, dtype=float), wp.array(picture.T.copy(), dtype=float)
kernel = wp.array([0.6, 0.2], dtype=float, requires_grad=True)
for it in range(3):
    out = wp.zeros((SIZE, SIZE), dtype=float, requires_grad=True)
    error = wp.zeros((SIZE, SIZE), dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(blur, dim=(SIZE, SIZE), inputs=[image, kernel, out])
        wp.launch(difference, dim=(SIZE, SIZE), inputs=[out, target, error])
    seed = wp.full((SIZE, SIZE), 1.0 / SIZE**2, dtype=float)
    tape.backward(grads={error: seed})
    g = kernel.grad.numpy()
    print("iter", it, "loss", float(error.numpy().mean()), "kernel", kernel.numpy().tolist(), "grad_kernel", g.tolist())
    kernel.assign(kernel.numpy() - 0.002 * g)
    tape.zero()
