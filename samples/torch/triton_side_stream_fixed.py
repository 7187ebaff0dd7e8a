# triton_side_stream.py, with the side stream waiting for the default one.
import torch
import triton
import triton.language as tl


@triton.jit
def scale(x, y, n, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * factor, mask=at < n)


n = 1 << 20
x = torch.empty(n, device="cuda")
y = torch.empty_like(x)
torch.cuda.synchronize()

x.fill_(3.0)
with torch.cuda.stream(torch.cuda.Stream()):
    torch.cuda.current_stream().wait_stream(torch.cuda.default_stream())
    scale[(n // 1024,)](x, y, n, 2.0, BLOCK=1024)
torch.cuda.synchronize()
