"""Nothing here is a race: views, in-place operators, out=, lists, empty tensors, strided copies,
autograd, record_stream, waits between streams, all in the right order."""

import torch

main = torch.cuda.current_stream()
side = torch.cuda.Stream()
x = torch.ones(64, 64, device="cuda")
halves = x[:, :32], x[:, 32:]
torch.cuda.synchronize()

# Columns of one matrix do not overlap, though their address ranges do.
halves[0].add_(1)
with torch.cuda.stream(side):
    halves[1].add_(1)
main.wait_stream(side)

# Views, shapes and factories touch no data.
with torch.cuda.stream(side):
    view = x.t()[:0]
    like = torch.empty_like(x)
    x.size(), x.view(-1), x.unsqueeze(0), x.detach()
x.mul_(2)

# Empty tensors, lists of tensors, out=.
torch.cat([x, x[:0]])
torch._foreach_add_([x, torch.zeros(3, device="cuda")], 1)
result = torch.empty(0, device="cuda")
torch.add(x, x, out=result)

# A tensor that a side stream uses, and the allocator knows of it.
for _ in range(4):
    batch = torch.ones(1 << 16, device="cuda")
    side.wait_stream(main)
    with torch.cuda.stream(side):
        batch.mul_(2)
    batch.record_stream(side)
    del batch
main.wait_stream(side)

# Pinned memory, waited for.
pinned = torch.empty(1 << 12).pin_memory()
pinned.copy_(x.view(-1), non_blocking=True)
pinned.is_pinned(), pinned.pin_memory(), pinned.is_same_size(x), pinned.numel()
main.synchronize()
pinned.add_(1)

# Autograd's thread works on the streams of the forward pass.
w = torch.ones(64, 64, device="cuda", requires_grad=True)
(w * x).sum().backward()
with torch.no_grad():
    w.add_(w.grad)
torch.cuda.synchronize()
print("quiet")
