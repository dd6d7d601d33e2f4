# expect: right
"""A layer of torch, a Warp kernel behind torch.autograd, clipping and Adam."""

import torch
import warp as wp


@wp.kernel
def lens(h: wp.array2d(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = wp.sin(h[i, 0]) * wp.exp(-h[i, 1] * h[i, 1])


class Lens(torch.autograd.Function):
    @staticmethod
    def forward(ctx, h):
        ctx.h = wp.from_torch(h.detach().contiguous(), requires_grad=True)
        ctx.y = wp.zeros(h.shape[0], dtype=float, requires_grad=True)
        ctx.tape = wp.Tape()
        with ctx.tape:
            wp.launch(lens, dim=h.shape[0], inputs=[ctx.h], outputs=[ctx.y])
        return wp.to_torch(ctx.y, requires_grad=False)

    @staticmethod
    def backward(ctx, slope):
        ctx.tape.backward(grads={ctx.y: wp.from_torch(slope.contiguous())})
        return wp.to_torch(ctx.tape.gradients[ctx.h], requires_grad=False)


class Optics(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)
        with torch.no_grad():
            self.layer.weight.copy_(torch.tensor([[0.4, -0.2, 0.1], [0.3, 0.5, -0.6]]))
            self.layer.bias.copy_(torch.tensor([0.1, -0.2]))

    def forward(self, x):
        return Lens.apply(torch.tanh(self.layer(x)))


def main():
    x = torch.linspace(-1.0, 1.0, 15).reshape(5, 3)
    target = torch.tensor([-0.3, -0.1, 0.0, 0.2, 0.4])
    optics = Optics()
    optimizer = torch.optim.Adam(optics.parameters(), lr=0.05)
    for it in range(3):
        optimizer.zero_grad()
        loss = (optics(x) - target).square().sum()
        loss.backward()
        w, b = optics.layer.weight, optics.layer.bias
        words = f"w {w.flatten().tolist()} grad_w {w.grad.flatten().tolist()} b {b.tolist()} grad_b {b.grad.tolist()}"
        print("iter", it, "loss", loss.item(), words)
        torch.nn.utils.clip_grad_norm_(optics.parameters(), 0.1)
        optimizer.step()


if __name__ == "__main__":
    wp.set_device("cpu")
    main()
