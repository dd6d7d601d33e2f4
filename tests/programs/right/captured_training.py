# expect: right
"""Forward, backward and the update of a swarm's thrust are three captured graphs; the tape is opened around one."""

import numpy as np
import warp as wp
import warp.optim

COUNT, STEPS = 4, 6


@wp.kernel
def push(thrust: wp.array(dtype=wp.vec3), x: wp.array(dtype=wp.vec3), after: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    after[i] = x[i] + 0.2 * wp.cross(thrust[i], x[i]) + 0.05 * thrust[i]


@wp.kernel
def distance(x: wp.array(dtype=wp.vec3), goal: wp.array(dtype=wp.vec3), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = x[i] - goal[i]
    wp.atomic_add(loss, 0, wp.dot(d, d))


class Swarm:
    def __init__(self):
        rng = np.random.default_rng(40)
        vectors = rng.uniform(-1.0, 1.0, (3, COUNT, 3)).astype(np.float32)
        self.thrust = wp.array(vectors[0], dtype=wp.vec3, requires_grad=True)
        self.states = [wp.array(vectors[1], dtype=wp.vec3, requires_grad=True)]
        self.states += [wp.zeros(COUNT, dtype=wp.vec3, requires_grad=True) for _ in range(STEPS)]
        self.goal = wp.array(vectors[2], dtype=wp.vec3)
        self.loss = wp.zeros(1, dtype=float, requires_grad=True)
        self.tape = wp.Tape()
        self.optimizer = warp.optim.SGD([self.thrust], lr=0.05, momentum=0.5)
        wp.load_module(device="cpu")

    def forward(self):
        self.loss.zero_()
        for before, after in zip(self.states, self.states[1:], strict=False):
            wp.launch(push, dim=COUNT, inputs=[self.thrust, before], outputs=[after])
        wp.launch(distance, dim=COUNT, inputs=[self.states[-1], self.goal], outputs=[self.loss])

    def capture(self):
        with self.tape, wp.ScopedCapture() as forward:
            self.forward()
        wp.capture_begin()
        self.tape.backward(self.loss)
        backward = wp.capture_end()
        with wp.ScopedCapture() as update:
            self.optimizer.step([self.thrust.grad])
            self.tape.zero()
        return forward.graph, backward, update.graph

    def train(self, iterations):
        forward, backward, update = self.capture()
        for it in range(iterations):
            wp.capture_launch(forward)
            wp.capture_launch(backward)
            thrust, gradient = (a.numpy().ravel().tolist() for a in (self.thrust, self.thrust.grad))
            print("iter", it, "loss", float(self.loss.numpy()[0]), "thrust", thrust, "grad_thrust", gradient)
            wp.capture_launch(update)


wp.set_device("cpu")
Swarm().train(4)
