"""As backward_stack.py, with a Function of the program's: the report shows where it was applied."""

import torch

weight = torch.ones(1000, device="cuda", requires_grad=True)
side = torch.cuda.Stream()


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 * x


torch.ones(1000, device="cuda") * 2  # makes no backward function
loss = Square.apply(weight).sum()  # forward
torch.cuda.synchronize()
with torch.cuda.stream(side):
    weight.data.add_(1)  # previous
loss.backward()
