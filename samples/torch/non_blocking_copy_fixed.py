# non_blocking_copy.py, waiting for the copy.
import torch

source = torch.arange(1 << 20, device="cuda", dtype=torch.float32)
target = torch.empty(1 << 20, pin_memory=True)
torch.cuda.synchronize()

target.copy_(source, non_blocking=True)
torch.cuda.current_stream().synchronize()
total = target.sum()
print(total.item())
