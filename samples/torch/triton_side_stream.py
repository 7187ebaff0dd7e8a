# A Triton kernel in a side stream reads what the default stream is still writing.
import torch
import triton
import triton.language as tl


@triton.jit
def scale(x, y, n, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * factor, mask=at < n)


n = 1 << 20
x = torch.empty(n, device="cuda")  # allocation
y = torch.empty_like(x)
torch.cuda.synchronize()

x.fill_(3.0)  # previous
with torch.cuda.stream(torch.cuda.Stream()):
    scale[(n // 1024,)](x, y, n, 2.0, BLOCK=1024)  # current
torch.cuda.synchronize()
