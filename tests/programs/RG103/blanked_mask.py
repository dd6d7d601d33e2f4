# expect: wrong
"""A mask is blanked with fill_ once the loss has been read."""

import warp as wp

wp.set_device("cpu")


@wp.kernel
def expose(photons: wp.array(dtype=float), mask: wp.array(dtype=float), dose: wp.array(dtype=float)):
    i = wp.tid()
    dose[i] = mask[i] * photons[i] * photons[i]


@wp.kernel
def contrast(dose: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    d = dose[i] - 1.0
    wp.atomic_add(loss, 0, d * d)


photons = wp.array([0.6, 0.9, 1.4, 0.5], dtype=float, requires_grad=True)
mask = wp.array([1.0, 0.5, 2.0, 1.5], dtype=float)
for it in range(3):
    mask.assign([1.0, 0.5, 2.0, 1.5])
    dose = wp.zeros(4, dtype=float, requires_grad=True)
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(expose, dim=4, inputs=[photons, mask], outputs=[dose])
        wp.launch(contrast, dim=4, inputs=[dose], outputs=[loss])
    value = float(loss.numpy()[0])
    mask.fill_(0.25)  # <- RG103
    tape.backward(loss)
    g = photons.grad.numpy()
    print("iter", it, "loss", value, "photons", photons.numpy().tolist(), "grad_photons", g.tolist())
    photons.assign(photons.numpy() - 0.02 * g)
    tape.zero()
