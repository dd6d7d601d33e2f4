# expect: right
"""Walks down bent valleys: a Warp kernel behind torch.autograd, its adjoint launched by hand."""

import torch
import warp as wp

wp.set_device("cpu")


@wp.kernel
def valley(xy: wp.array(dtype=wp.vec2), z: wp.array(dtype=float)):
    i = wp.tid()
    p = xy[i]
    a = 1.0 - p[0]
    b = p[1] - p[0] * p[0]
    z[i] = a * a + 5.0 * b * b


class Valley(torch.autograd.Function):
    @staticmethod
    def forward(ctx, xy):
        ctx.xy = wp.from_torch(xy.detach(), dtype=wp.vec2, requires_grad=True)
        ctx.z = wp.zeros(xy.shape[0], dtype=float, requires_grad=True)
        wp.launch(valley, dim=xy.shape[0], inputs=[ctx.xy], outputs=[ctx.z])
        return wp.to_torch(ctx.z)

    @staticmethod
    def backward(ctx, adj_z):
        wp.launch(
            valley,
            dim=ctx.z.size,
            inputs=[ctx.xy],
            outputs=[ctx.z],
            adj_inputs=[ctx.xy.grad],
            adj_outputs=[wp.from_torch(adj_z.contiguous())],
            adjoint=True,
        )
        return wp.to_torch(ctx.xy.grad)


xy = torch.nn.Parameter(torch.tensor([[0.5, -0.3], [1.2, 0.4], [-0.7, 0.9]]))
optimizer = torch.optim.SGD([xy], lr=0.002)
for it in range(4):
    optimizer.zero_grad()
    loss = Valley.apply(xy).square().mean()
    loss.backward()
    at, slope = xy.detach().flatten().tolist(), xy.grad.flatten().tolist()
    print("iter", it, "loss", loss.item(), "xy", at, "grad_xy", slope)
    optimizer.step()
