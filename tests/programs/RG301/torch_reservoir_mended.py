# expect: right
"""Calibrates a reservoir's outflow: the simulation's arrays are made once, and serve every call from torch."""

import torch
import warp as wp

wp.set_device("cpu")
DAYS = 6


@wp.kernel
def drain(k: wp.array(dtype=float), day: int, store: wp.array2d(dtype=float), flow: wp.array(dtype=float)):
    s = store[day, 0]
    out = k[0] * s + k[1] * s * s
    flow[day] = out
    store[day + 1, 0] = s - out + 0.3


class Simulation:
    def __init__(self):
        self.k = wp.zeros(2, dtype=float, requires_grad=True)
        self.store = wp.ones((DAYS + 1, 1), dtype=float, requires_grad=True)
        self.flow = wp.zeros(DAYS, dtype=float, requires_grad=True)


class Run(torch.autograd.Function):
    @staticmethod
    def forward(ctx, k, simulation):
        ctx.simulation, ctx.tape = simulation, wp.Tape()
        wp.copy(simulation.k, wp.from_torch(k.detach()))
        with ctx.tape:
            for day in range(DAYS):
                wp.launch(drain, dim=1, inputs=[simulation.k, day, simulation.store], outputs=[simulation.flow])
        return wp.to_torch(simulation.flow, requires_grad=False).clone()

    @staticmethod
    def backward(ctx, slope):
        simulation = ctx.simulation
        ctx.tape.backward(grads={simulation.flow: wp.from_torch(slope.contiguous())})
        gradient = wp.to_torch(simulation.k.grad, requires_grad=False).clone()
        ctx.tape.zero()
        return gradient, None


simulation = Simulation()
observed = torch.tensor([0.35, 0.30, 0.28, 0.28, 0.29, 0.29])
k = torch.tensor([0.5, 0.1], requires_grad=True)
optimizer = torch.optim.Adam([k], lr=0.02)
for it in range(4):
    optimizer.zero_grad()
    loss = ((Run.apply(k, simulation) - observed) ** 2).sum()
    loss.backward()
    print("iter", it, "loss", loss.item(), "k", k.tolist(), "grad_k", k.grad.tolist())
    optimizer.step()
