"""A gradient is changed on a side stream: for many steps in order, then not. The backward pass runs Python, since a
checkpoint makes its forward pass there. Operators rest by then, so where that was called is known of a later step only."""

import torch
from torch.utils.checkpoint import checkpoint

IN_ORDER, UNORDERED = 300, 20
weight = torch.ones(1024, device="cuda", requires_grad=True)
side = torch.cuda.Stream()


def loss(x):
    return (x * weight).tanh().sum()  # forward


for step in range(IN_ORDER + UNORDERED):
    weight.grad = None
    x = torch.ones(1024, device="cuda", requires_grad=True)
    checkpoint(loss, x, use_reentrant=True).backward()
    if step < IN_ORDER:
        side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        weight.grad.add_(1)
    torch.cuda.synchronize()
