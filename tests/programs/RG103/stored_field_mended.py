# expect: right
"""The voxels of the next field are stored after the backward pass."""

import numpy as np
import warp as wp

wp.set_device("cpu")


@wp.kernel
def fill(field: wp.uint64, phase: float):
    i, j, k = wp.tid()
    wp.volume_store_f(field, i, j, k, wp.sin(phase + 0.7 * float(i) + 0.4 * float(j) - 0.3 * float(k)))


@wp.kernel
def sense(field: wp.uint64, at: wp.array(dtype=wp.vec3), gain: wp.array(dtype=float), loss: wp.array(dtype=float)):
    i = wp.tid()
    value = wp.volume_sample_f(field, at[i], wp.Volume.LINEAR)
    wp.atomic_add(loss, 0, gain[i] * gain[i] * value)


field = wp.Volume.allocate(min=[0, 0, 0], max=[7, 7, 7], voxel_size=1.0, bg_value=0.0)
rng = np.random.default_rng(23)
at = wp.array(rng.integers(1, 6, (6, 3)), dtype=wp.vec3)
gain = wp.array(np.linspace(0.5, 1.5, 6), dtype=float, requires_grad=True)
wp.launch(fill, dim=(8, 8, 8), inputs=[field.id, 0.0])
for it in range(3):
    loss = wp.zeros(1, dtype=float, requires_grad=True)
    tape = wp.Tape()
    with tape:
        wp.launch(sense, dim=6, inputs=[field.id, at, gain, loss])
    tape.backward(loss)
    wp.launch(fill, dim=(8, 8, 8), inputs=[field.id, float(it + 1)])
    g = gain.grad.numpy()
    values = gain.numpy().tolist(), at.numpy().tolist()
    print("iter", it, "loss", float(loss.numpy()[0]), "gain", values[0], "grad_gain", g.tolist(), "at", values[1])
    gain.assign(gain.numpy() - 0.05 * g)
    tape.zero()
