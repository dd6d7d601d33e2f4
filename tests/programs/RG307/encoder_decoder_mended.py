# expect: right
"""An encoder and a decoder, recorded apart; only the decoder's tape is run backward."""

import numpy as np
import warp as wp


@wp.kernel
def encode(w: wp.array(dtype=float), x: wp.array(dtype=float), code: wp.array(dtype=float)):
    i = wp.tid()
    code[i] = wp.tanh(w[i] * x[i] + w[i] * w[i])


@wp.kernel
def decode(w: wp.array(dtype=float), code: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = w[i] * code[i] + 0.5 * code[i] * code[i]


@wp.kernel
def error(y: wp.array(dtype=float), x: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = y[i] - x[i]
    wp.atomic_add(loss, 0, d * d)


class Autoencoder:
    def __init__(self, size):
        self.size = size
        self.w = wp.array(np.linspace(0.4, 0.9, size), dtype=float, requires_grad=True)
        self.code = wp.zeros(size, dtype=float, requires_grad=True)

    def encode(self, x):
        wp.launch(encode, dim=self.size, inputs=[self.w, x, self.code])

    def decode(self, x, loss):
        y = wp.zeros(self.size, dtype=float, requires_grad=True)
        wp.launch(decode, dim=self.size, inputs=[self.w, self.code, y])
        wp.launch(error, dim=self.size, inputs=[y, x, loss])


with wp.ScopedDevice("cpu"):
    model = Autoencoder(4)
    x = wp.array([0.3, -0.6, 0.8, 0.5], dtype=float)
    for it in range(3):
        loss = wp.zeros(1, dtype=float, requires_grad=True)
        with wp.Tape() as encoder:
            model.encode(x)
            model.decode(x, loss)
        encoder.backward(loss)
        g = model.w.grad.numpy()
        print("iter", it, "loss", loss.numpy()[0], "w", model.w.numpy().tolist(), "grad_w", g.tolist())
        model.w.assign(model.w.numpy() - 0.1 * g)
        encoder.zero()
