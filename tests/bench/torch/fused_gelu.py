"""GELU, by its approximation with a sigmoid, as two kernels of Triton: forward and backward."""

import torch
import triton
import triton.language as tl

SCALE = tl.constexpr(1.702)


@triton.jit
def _forward(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    tl.store(out + at, value * tl.sigmoid(SCALE * value), mask=at < n)


@triton.jit
def _backward(x, gradient, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    gate = tl.sigmoid(SCALE * value)
    slope = gate + SCALE * value * gate * (1 - gate)
    tl.store(out + at, slope * tl.load(gradient + at, mask=at < n), mask=at < n)


class _FusedGelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        ctx.save_for_backward(x)
        out = torch.empty_like(x)
        _forward[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
        return out

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        out = torch.empty_like(x)
        gradient = gradient.contiguous()
        _backward[(triton.cdiv(x.numel(), 1024),)](x, gradient, out, x.numel(), BLOCK=1024)
        return out


class FusedGelu(torch.nn.Module):
    def forward(self, x):
        return _FusedGelu.apply(x)
