# expect: wrong
"""A controller whose gains are plain numbers; arrays of them are made only to ask for their gradients."""

import numpy as np
import warp as wp


@wp.kernel
def control(x: wp.array(dtype=float), stiffness: float, damping: wp.float32, y: wp.array(dtype=float)):
    i = wp.tid()
    place = x[i]
    speed = float(0.0)
    for _ in range(5):
        speed = speed - 0.2 * (stiffness * place + damping * speed)
        place = place + 0.2 * speed
    y[i] = place


@wp.kernel
def score(y: wp.array(dtype=float), loss: wp.array(dtype=float)):
    wp.atomic_add(loss, 0, y[wp.tid()] * y[wp.tid()])


class Controller:
    def __init__(self, gains):
        self.gains = np.array(gains, dtype=np.float32)

    def loss(self, x):
        y = wp.zeros(x.shape[0], dtype=float, requires_grad=True)
        loss = wp.zeros(1, dtype=float, requires_grad=True)
        stiffness, damping = self.gains
        wp.launch(control, dim=x.shape[0], inputs=[x, float(stiffness), damping, y])  # <- RG207
        wp.launch(score, dim=x.shape[0], inputs=[y, loss])
        return loss


def main():
    x = wp.array([0.4, -0.7, 1.1], dtype=float)
    controller = Controller([0.8, 0.3])
    for it in range(3):
        gains = wp.array(controller.gains, dtype=float, requires_grad=True)
        tape = wp.Tape()
        with tape:
            loss = controller.loss(x)
        tape.backward(loss)
        g = gains.grad.numpy()
        print("iter", it, "loss", loss.numpy()[0], "gains", gains.numpy().tolist(), "grad_gains", g.tolist())
        controller.gains = (0.999 * controller.gains - 0.05 * g).astype(np.float32)


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
