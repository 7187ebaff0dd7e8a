"""A Triton kernel on two streams with an event between them."""
import torch
import triton
import triton.language as tl


@triton.jit
def scale(out, source, count, factor, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = index < count
    tl.store(out + index, tl.load(source + index, mask=mask) * factor, mask=mask)


count = 1 << 16
source = torch.arange(count, device="cuda", dtype=torch.float32)
middle, out = torch.empty_like(source), torch.empty_like(source)
first, second = torch.cuda.Stream(), torch.cuda.Stream()
torch.cuda.synchronize()
grid = (triton.cdiv(count, 1024),)
with torch.cuda.stream(first):
    scale[grid](middle, source, count, 2.0, BLOCK=1024)
    done = torch.cuda.Event()
    done.record()
with torch.cuda.stream(second):
    second.wait_event(done)
    scale[grid](out, middle, count, 3.0, BLOCK=1024)
torch.cuda.synchronize()
print("equal" if torch.equal(out, source * 6) else "different")
