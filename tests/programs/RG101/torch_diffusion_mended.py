# expect: right
"""A network of one layer in torch proposes diffusivities, which a Warp simulation behind torch.autograd tries out."""

import torch
import warp as wp

wp.set_device("cpu")
CELLS, STEPS = 6, 4


@wp.kernel
def spread(d: wp.array(dtype=float), u: wp.array(dtype=float), v: wp.array(dtype=float)):
    i = wp.tid()
    left = u[wp.max(i - 1, 0)]
    right = u[wp.min(i + 1, CELLS - 1)]
    v[i] = u[i] + d[i] * (left - 2.0 * u[i] + right) * (1.0 + 0.5 * u[i])


class Simulate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, d):
        ctx.d = wp.from_torch(d.detach().contiguous(), requires_grad=True)
        u = wp.array([0.0, 0.0, 1.0, 2.0, 0.5, 0.0], dtype=float, requires_grad=True)
        ctx.tape = wp.Tape()
        with ctx.tape:
            for _ in range(STEPS):
                v = wp.zeros_like(u)
                wp.launch(spread, dim=CELLS, inputs=[ctx.d, u], outputs=[v])
                u = v
        ctx.u = u
        return wp.to_torch(u, requires_grad=False).clone()

    @staticmethod
    def backward(ctx, slope):
        ctx.tape.backward(grads={ctx.u: wp.from_torch(slope.contiguous())})
        return wp.to_torch(ctx.d.grad, requires_grad=False)


features = torch.linspace(-1.0, 1.0, CELLS)
target = torch.tensor([0.2, 0.4, 0.7, 0.9, 0.7, 0.4])
w = torch.nn.Parameter(torch.tensor([0.3, -1.2]))
optimizer = torch.optim.Adam([w], lr=0.05)
for it in range(3):
    optimizer.zero_grad()
    loss = ((Simulate.apply(0.3 * torch.sigmoid(w[0] * features + w[1])) - target) ** 2).mean()
    loss.backward()
    print("iter", it, "loss", loss.item(), "w", w.tolist(), "grad_w", w.grad.tolist())
    optimizer.step()
