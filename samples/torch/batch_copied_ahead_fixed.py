# batch_copied_ahead.py, waiting for the copy.
import time

import torch

copies = torch.cuda.Stream()


def fetch():
    batch = torch.ones(1 << 20).pin_memory()
    with torch.cuda.stream(copies):
        return batch.to("cuda", non_blocking=True)


total = torch.zeros((), device="cuda")
batch = None
for _ in range(5):
    time.sleep(0.01)
    torch.cuda.current_stream().wait_stream(copies)
    ahead = fetch()
    if batch is not None:
        batch.record_stream(torch.cuda.current_stream())
        total += batch.sum()
    batch = ahead
torch.cuda.synchronize()
