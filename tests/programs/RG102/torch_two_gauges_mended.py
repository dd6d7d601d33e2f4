# expect: right
"""Depths under two rain gauges, fitted by LBFGS: its function runs backward once a gauge, and many times a step."""

import torch
import warp as wp

wp.set_device("cpu")


@wp.kernel
def drain(rain: wp.array(dtype=float), depth: wp.array(dtype=float)):
    i = wp.tid()
    depth[i] = rain[i] * wp.exp(-0.3 * rain[i] * rain[i])


@wp.kernel
def overflow(depth: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    n = depth.shape[0]
    out[i] = depth[i] * depth[(i + 1) % n]


class Ponds(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rain):
        n = rain.numel()
        ctx.rain = wp.from_torch(rain.detach(), requires_grad=True)
        ctx.depth = wp.zeros(n, dtype=float, requires_grad=True)
        ctx.out = wp.zeros(n, dtype=float, requires_grad=True)
        ctx.tape = wp.Tape()
        with ctx.tape:
            wp.launch(drain, dim=n, inputs=[ctx.rain], outputs=[ctx.depth])
            wp.launch(overflow, dim=n, inputs=[ctx.depth], outputs=[ctx.out])
        return wp.to_torch(ctx.out, requires_grad=False)

    @staticmethod
    def backward(ctx, weights):
        ctx.out.grad = wp.from_torch(weights.contiguous())
        ctx.tape.backward()
        return wp.to_torch(ctx.rain.grad, requires_grad=False)


rain = torch.nn.Parameter(torch.tensor([0.6, 1.1, 0.8]))
gauges = [torch.tensor([0.5, 0.2, 0.4]), torch.tensor([0.1, 0.6, 0.3])]
optimizer = torch.optim.LBFGS([rain], lr=0.5, max_iter=3)
evaluations = 0


def misfit():
    global evaluations
    optimizer.zero_grad()
    total = 0.0
    for gauge in gauges:
        loss = ((Ponds.apply(rain) - gauge) ** 2).mean() / len(gauges)
        loss.backward()
        total += loss.item()
    print("iter", evaluations, "loss", total, "rain", rain.tolist(), "grad_rain", rain.grad.tolist())
    evaluations += 1
    return total


for _ in range(2):
    optimizer.step(misfit)
