# Each batch is copied on a side stream while the one before it is computed on, and nothing waits for
# the copy. That it is done by the time it is used is chance, though the pool of pinned memory, which
# is asked for the next batch, finds it done.
import time

import torch

copies = torch.cuda.Stream()


def fetch():
    batch = torch.ones(1 << 20).pin_memory()
    with torch.cuda.stream(copies):
        return batch.to("cuda", non_blocking=True)  # previous, allocation


total = torch.zeros((), device="cuda")
batch = None
for _ in range(5):
    time.sleep(0.01)
    ahead = fetch()
    if batch is not None:
        batch.record_stream(torch.cuda.current_stream())
        total += batch.sum()  # current
    batch = ahead
torch.cuda.synchronize()
