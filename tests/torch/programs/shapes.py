"""A loop whose shapes repeat, or never do; how much memory its process took more in its later steps.

Usage: shapes.py repeat|never [STEPS]    100,000 by default

Prints the KiB that the process's largest size grew by after the first fifth of the steps. Memory that PyTorch's
allocator of the host's memory keeps is none of it: the tensors are the device's."""

import resource
import sys

import torch

never, steps = sys.argv[1] == "never", int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
most = 1000 + (steps if never else 7)
kept = torch.zeros(most, device="cuda")


def run(first, last):
    for i in range(first, last):
        size = 1000 + (i if never else i % 7)
        x = torch.randn(size, device="cuda")
        kept[:size].add_(x * 2)
    torch.cuda.synchronize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


before = run(0, steps // 5)
print(run(steps // 5, steps) - before)
