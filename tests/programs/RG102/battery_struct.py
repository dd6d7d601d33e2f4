# expect: wrong
"""A battery pack drained by one kernel that reads a charge, spends it, and writes it back into the struct."""

import warp as wp


@wp.struct
class Pack:
    charge: wp.array(dtype=wp.float64)
    heat: wp.array(dtype=wp.float64)


@wp.kernel
def drain(full: Pack, spent: Pack, current: wp.array(dtype=wp.float64)):
    i = wp.tid()
    power = current[0] * full.charge[i] * full.charge[i]
    spent.heat[i] = full.heat[i] + power * power
    spent.charge[i] = full.charge[i] - wp.float64(0.3) * power  # <- RG102


@wp.kernel
def cost(pack: Pack, loss: wp.array(dtype=wp.float64)):
    i = wp.tid()
    wp.atomic_add(loss, 0, pack.heat[i] - pack.charge[i])


def pack_of(charges):
    pack = Pack()
    pack.charge = wp.array(charges, dtype=wp.float64, requires_grad=True)
    pack.heat = wp.zeros(len(charges), dtype=wp.float64, requires_grad=True)
    return pack


def main():
    current = wp.array([0.7], dtype=wp.float64, requires_grad=True)
    for it in range(3):
        pack = pack_of([1.0, 0.8, 1.3])
        loss = wp.zeros(1, dtype=wp.float64, requires_grad=True)
        with wp.Tape() as tape:
            spent = pack
            wp.launch(drain, dim=3, inputs=[pack, spent, current])
            wp.launch(cost, dim=3, inputs=[spent, loss])
        tape.backward(loss)
        g = current.grad.numpy()
        print("iter", it, "loss", loss.numpy()[0], "current", current.numpy().tolist(), "grad_current", g.tolist())
        current.assign(current.numpy() - 0.02 * g)
        tape.zero()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
