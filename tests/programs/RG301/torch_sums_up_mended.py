# expect: right
"""Momentum in torch over a Warp kernel on a tape; the optimizer's gradients are never cleared."""

import torch
import warp as wp

wp.set_device("cpu")


@wp.kernel
def well(x: wp.array(dtype=float), e: wp.array(dtype=float)):
    i = wp.tid()
    e[i] = wp.cosh(x[i]) + 0.2 * x[i]


class Well(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = wp.from_torch(x.detach(), requires_grad=True)
        ctx.e = wp.zeros(x.numel(), dtype=float, requires_grad=True)
        ctx.tape = wp.Tape()
        with ctx.tape:
            wp.launch(well, dim=x.numel(), inputs=[ctx.x], outputs=[ctx.e])
        return wp.to_torch(ctx.e, requires_grad=False)

    @staticmethod
    def backward(ctx, weights):
        ctx.e.grad = wp.from_torch(weights.contiguous())
        ctx.tape.backward()
        return wp.to_torch(ctx.x.grad, requires_grad=False)


x = torch.tensor([0.8, -1.1, 0.3], requires_grad=True)
optimizer = torch.optim.SGD([x], lr=0.1, momentum=0.5)
for it in range(4):
    loss = Well.apply(x).sum() + 0.1 * (x**2).sum()
    loss.backward()
    print("iter", it, "loss", loss.item(), "x", x.tolist(), "grad_x", x.grad.tolist())
    optimizer.step()
    optimizer.zero_grad()
