# A tensor is used in a side stream and dropped. The caching allocator knows it as the default
# stream's, so the default stream's next tensor of that size gets its memory while the side stream
# may still read it.
import torch

side = torch.cuda.Stream()


def prefetch(total):
    batch = torch.ones(1 << 20, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        total.add_(batch.sum())  # previous


total = torch.zeros((), device="cuda")
prefetch(total)
recycled = torch.full((1 << 20,), 2.0, device="cuda")  # current, allocation
torch.cuda.synchronize()
