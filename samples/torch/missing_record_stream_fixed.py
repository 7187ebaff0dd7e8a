# missing_record_stream.py, where record_stream declares that the side stream uses the tensor.
import torch

side = torch.cuda.Stream()


def prefetch(total):
    batch = torch.ones(1 << 20, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        total.add_(batch.sum())
    batch.record_stream(side)


total = torch.zeros((), device="cuda")
prefetch(total)
recycled = torch.full((1 << 20,), 2.0, device="cuda")
torch.cuda.synchronize()
