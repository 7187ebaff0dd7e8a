"""A kernel of Triton for learned.py."""

import triton
import triton.language as tl


@triton.jit
def add_one_kernel(out, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(out + at, mask=at < count) + 1, mask=at < count)


def add_one(out):
    add_one_kernel[(triton.cdiv(out.numel(), 1024),)](out, out.numel(), BLOCK=1024)
