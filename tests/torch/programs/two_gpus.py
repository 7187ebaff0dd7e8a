"""Tensors go from one GPU to the other and back. PyTorch orders its copies between devices with
events on both; with "race" as argument the second GPU's side stream does not wait for the copy."""

import sys

import torch

a = torch.ones(1 << 20, device="cuda:0")
b = a.to("cuda:1")
b.mul_(2)
if "race" in sys.argv:
    with torch.cuda.device(1), torch.cuda.stream(torch.cuda.Stream(1)):
        b.add_(1)
c = b.to("cuda:0")
a.add_(c)
torch.cuda.synchronize(0)
torch.cuda.synchronize(1)
print(int(a[0].item()) if "race" not in sys.argv else "done")
