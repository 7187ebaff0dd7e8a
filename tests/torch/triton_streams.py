"""Two kernels on two streams of which the second reads what the first writes.

    triton_streams.py triton|compile race|event|halves

Made by Triton's own launcher or by torch.compile; unordered, ordered by an event, or on halves of
the memory that do not overlap (without an event). Where the machine code has no line information,
the embedded device has nothing to run, and results are not looked at."""

import os
import sys

import torch

maker, order = sys.argv[1:]
COUNT = 4096


def make():
    if maker == "compile":
        # copies into the views that it is given
        compiled = torch.compile(lambda x, y, out: torch.add(x, y, out=out), dynamic=False)
        return compiled
    import triton
    import triton.language as tl

    globals()["tl"] = tl

    def add(x, y, out, n, BLOCK: tl.constexpr):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = at < n
        tl.store(out + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)

    jitted = triton.jit(add)
    return lambda x, y, out: jitted[(triton.cdiv(out.numel(), 256),)](x, y, out, out.numel(), BLOCK=256)


def main():
    add = make()
    x, y, z, w = (torch.empty(COUNT, device="cuda") for _ in range(4))
    ramp = torch.arange(COUNT, dtype=torch.float32)
    x.copy_(ramp)
    y.copy_(ramp)
    add(x, y, z)  # compiled here, and tuned
    torch.cuda.synchronize()
    first, second = torch.cuda.Stream(), torch.cuda.Stream()
    half = COUNT // 2
    written, read = (z[:half], z[half:]) if order == "halves" else (z, z)
    with torch.cuda.stream(first):
        add(x[: len(written)], y[: len(written)], written)
    if order == "event":
        second.wait_stream(first)
    with torch.cuda.stream(second):
        add(read, y[: len(read)], w[: len(read)])
    torch.cuda.synchronize()
    if os.environ.get("TRITON_DISABLE_LINE_INFO") == "1":
        return
    wanted = 3 * ramp if order != "halves" else 2 * ramp[half:] + ramp[:half]
    assert torch.equal(w.cpu()[: len(read)], wanted), "the sum is wrong"
    print("done")


main()
