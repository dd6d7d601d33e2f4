# expect: right
"""A fit and a penalty, each run backward through one graph that torch retains, and through one Warp tape."""

import torch
import warp as wp

wp.set_device("cpu")


@wp.kernel
def pull(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    n = x.shape[0]
    y[i] = wp.tanh(x[i]) * x[(i + 1) % n]


class Pull(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = wp.from_torch(x.detach(), requires_grad=True)
        ctx.y = wp.zeros(x.numel(), dtype=float, requires_grad=True)
        ctx.tape = wp.Tape()
        with ctx.tape:
            wp.launch(pull, dim=x.numel(), inputs=[ctx.x], outputs=[ctx.y])
        return wp.to_torch(ctx.y, requires_grad=False)

    @staticmethod
    def backward(ctx, weights):
        ctx.y.grad = wp.from_torch(weights.contiguous())
        ctx.x.grad.zero_()
        ctx.tape.backward()
        return wp.to_torch(ctx.x.grad, requires_grad=False).clone()


x = torch.nn.Parameter(torch.tensor([0.7, -0.4, 1.2]))
optimizer = torch.optim.AdamW([x], lr=0.05)
for it in range(4):
    optimizer.zero_grad(set_to_none=False)
    y = Pull.apply(x)
    fit = ((y - 0.2) ** 2).sum()
    penalty = 0.3 * (y**4).sum()
    fit.backward(retain_graph=True)
    penalty.backward()
    print("iter", it, "loss", (fit + penalty).item(), "x", x.tolist(), "grad_x", x.grad.tolist())
    torch.nn.utils.clip_grad_norm_([x], 0.5)
    optimizer.step()
