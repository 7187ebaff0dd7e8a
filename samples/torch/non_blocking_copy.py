# non_blocking=True returns before the copy is done: the result is read too early.
import torch

source = torch.arange(1 << 20, device="cuda", dtype=torch.float32)
target = torch.empty(1 << 20, pin_memory=True)  # allocation
torch.cuda.synchronize()

target.copy_(source, non_blocking=True)  # previous
total = target.sum()  # current
torch.cuda.synchronize()
print(total.item())
