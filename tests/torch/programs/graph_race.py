"""A captured graph reads a tensor that a side stream may still be writing when it is replayed.
With "fixed" as argument the graph's stream waits."""

import sys

import torch

x = torch.ones(1 << 16, device="cuda")
warm = x + 2
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = x + 2  # captured
torch.cuda.synchronize()
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    x.mul_(3)
if "fixed" in sys.argv:
    torch.cuda.current_stream().wait_stream(side)
graph.replay()
torch.cuda.synchronize()
print("done")
