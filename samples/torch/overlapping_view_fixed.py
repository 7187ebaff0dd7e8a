# overlapping_view.py with slices that do not overlap: nothing to order.
import torch

table = torch.zeros(9, 1024, device="cuda")
torch.cuda.synchronize()

upper, lower = table[:5], table[5:]
with torch.cuda.stream(torch.cuda.Stream()):
    upper.add_(1)
with torch.cuda.stream(torch.cuda.Stream()):
    lower.add_(1)
torch.cuda.synchronize()
