"""A weight is changed on a side stream while the backward pass reads it: the report shows where the
operator of the forward pass was called."""

import torch

weight = torch.ones(1000, device="cuda", requires_grad=True)
side = torch.cuda.Stream()


def forward():
    torch.ones(1000, device="cuda") * 2  # makes no backward function
    return (weight * weight).exp().sum()  # forward


loss = forward()
torch.cuda.synchronize()
with torch.cuda.stream(side):
    weight.data.add_(1)  # previous
loss.backward()
