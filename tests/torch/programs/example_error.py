"""A side stream writes what the default stream may still be filling: the kind of mistake that the
documentation of PyTorch's sanitizer begins with."""

import torch

values = torch.rand(10000, device="cuda")
with torch.cuda.stream(torch.cuda.Stream()):
    torch.mul(values, 5, out=values)
