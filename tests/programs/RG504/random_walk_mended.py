# expect: right
"""A walker in a noisy potential; every launch draws with a seed taken from the clock."""

import warp as wp

WALKERS = 6


@wp.kernel
def kick(seed: int, noise: wp.array(dtype=float)):
    i = wp.tid()
    state = wp.rand_init(seed, i)
    noise[i] = wp.randn(state)


@wp.kernel
def walk(pull: wp.array(dtype=float), noise: wp.array(dtype=float), place: wp.array(dtype=float)):
    i = wp.tid()
    x = noise[i]
    for _ in range(3):
        x = x - 0.3 * pull[0] * wp.sin(x) + pull[1]
    place[i] = x


@wp.kernel
def far(place: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    wp.atomic_add(loss, 0, place[i] * place[i] / float(WALKERS))


def main():
    pull = wp.array([0.9, 0.1], dtype=float, requires_grad=True)
    for it in range(3):
        seed = 17 + it
        noise = wp.zeros(WALKERS, dtype=float)
        place = wp.zeros(WALKERS, dtype=float, requires_grad=True)
        loss = wp.zeros(1, dtype=float, requires_grad=True)
        with wp.Tape() as tape:
            wp.launch(kick, dim=WALKERS, inputs=[seed, noise])
            wp.launch(walk, dim=WALKERS, inputs=[pull, noise, place])
            wp.launch(far, dim=WALKERS, inputs=[place, loss])
        tape.backward(loss)
        g = pull.grad.numpy()
        print(
            "iter",
            it,
            "loss",
            float(loss.numpy()[0]),
            "pull",
            pull.numpy().tolist(),
            "grad_pull",
            g.tolist(),
            "noise",
            noise.numpy().tolist(),
        )
        pull.assign(pull.numpy() - 0.1 * g)
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
