"""Triton's kernels for sm_90 on the embedded device, with results compared with NumPy's: products by
wgmma of each type, tensor descriptors that the host or the kernel makes, reductions by them, products
with scales, attention and its gradients, and a norm.

    triton_kernels.py [NAME ...]    prints "ok NAME" or "wrong NAME: DIFFERENCE" for each
"""
import math
import sys

import numpy as np
import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

random = np.random.default_rng(1)
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def on_device(array):
    return torch.from_numpy(np.ascontiguousarray(array)).cuda() if isinstance(array, np.ndarray) else array.cuda()


def numbers(*shape, dtype=torch.float16):
    """Random numbers on the host: the device has no generator of its own."""
    return torch.from_numpy(random.standard_normal(shape)).to(dtype)


def result(*shape, dtype=torch.float32):
    return torch.full(shape, -7.0).to(dtype).cuda()


def close(name, got, expected, tolerance):
    expected = np.asarray(expected, np.float64)
    difference = np.abs(got.cpu().double().numpy() - expected).max() / np.abs(expected).max()
    print(f"ok {name}" if difference <= tolerance else f"wrong {name}: {difference}", flush=True)


def product(a, b):
    return a.double().numpy() @ b.double().numpy()


# ---- products -------------------------------------------------------------------------------------


@triton.jit
def multiply(a, b, c, m, n, k, row_a, row_b, column_b, row_c, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
             SUM: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    total = tl.zeros((BM, BN), SUM)
    for start in range(0, k, BK):
        inside = depth + start < k
        x = tl.load(a + rows[:, None] * row_a + (depth + start)[None, :], mask=(rows < m)[:, None] & inside[None, :],
                    other=0.0)
        y = tl.load(b + (depth + start)[:, None] * row_b + columns[None, :] * column_b,
                    mask=inside[:, None] & (columns < n)[None, :], other=0.0)
        total = tl.dot(x, y, total)
    tl.store(c + rows[:, None] * row_c + columns[None, :], total.to(c.dtype.element_ty),
             mask=(rows < m)[:, None] & (columns < n)[None, :])


def multiplied(name, a, b, out_dtype, sum_type, tolerance):
    (m, k), n = a.shape, b.shape[1]
    x, y, c = on_device(a), on_device(b), result(m, n, dtype=out_dtype)
    for bm, bn, bk, warps in ((64, 64, 32, 4), (128, 128, 64, 8)):
        multiply[(triton.cdiv(m, bm), triton.cdiv(n, bn))](x, y, c, m, n, k, x.stride(0), y.stride(0), y.stride(1),
                                                          c.stride(0), bm, bn, bk, sum_type, num_warps=warps,
                                                          num_stages=3)
        close(f"{name} {bm} by {bn}", c, product(a, b), tolerance)


@case
def products():
    multiplied("f16", numbers(200, 136), numbers(136, 160), torch.float16, tl.float32, 2e-3)
    bf16 = torch.bfloat16
    multiplied("bf16", numbers(200, 136, dtype=bf16), numbers(136, 160, dtype=bf16), bf16, tl.float32, 1e-2)
    for name in ("float8_e5m2", "float8_e4m3fn"):
        dtype = getattr(torch, name)
        multiplied(name, numbers(128, 128, dtype=dtype), numbers(128, 128, dtype=dtype).t(), torch.float16, tl.float32,
                   3e-3)
    a, b = (torch.from_numpy(random.integers(-128, 128, (128, 128)).astype(np.int8)) for _ in range(2))
    multiplied("s8", a, b.t(), torch.int32, tl.int32, 0)


@case
def tf32_products():
    a, b = numbers(64, 64, dtype=torch.float32), numbers(64, 64, dtype=torch.float32)
    x, y, c = on_device(a), on_device(b), result(64, 64)
    multiply[(1, 1)](x, y, c, 64, 64, 64, 64, 64, 1, 64, 64, 64, 32, tl.float32, num_warps=4)
    close("tf32", c, product(a, b), 2e-3)


@triton.jit
def multiply_tiles(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PARTED: tl.constexpr):
    wide = tl.cdiv(n, BN)
    for tile in tl.range(tl.program_id(0), wide * tl.cdiv(m, BM), tl.num_programs(0), warp_specialize=PARTED):
        row, column = tile // wide * BM, tile % wide * BN
        total = tl.zeros((BM, BN), tl.float32)
        for start in range(0, k, BK):
            total = tl.dot(a.load([row, start]), b.load([column, start]).T, total)
        c.store([row, column], total.to(tl.float16))


@triton.jit
def multiply_by_own_maps(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    a_map = tl.make_tensor_descriptor(a, [m, k], [k, 1], [BM, BK])
    b_map = tl.make_tensor_descriptor(b, [n, k], [k, 1], [BN, BK])
    c_map = tl.make_tensor_descriptor(c, [m, n], [n, 1], [BM, BN])
    multiply_tiles(a_map, b_map, c_map, m, n, k, BM, BN, BK, False)


@case
def descriptors():
    m, n, k = 256, 160, 192
    for dtype in (torch.float16, torch.float8_e4m3fn):
        a, b = numbers(m, k, dtype=dtype), numbers(n, k, dtype=dtype)
        x, y, expected = on_device(a), on_device(b), product(a, b.t())
        for bm, bn, bk, warps in ((64, 64, 64, 4), (128, 128, 64, 8)):
            for parted in (False, True):
                c = result(m, n, dtype=torch.float16)
                maps = [TensorDescriptor.from_tensor(t, s) for t, s in ((x, [bm, bk]), (y, [bn, bk]), (c, [bm, bn]))]
                multiply_tiles[(3,)](*maps, m, n, k, bm, bn, bk, parted, num_warps=warps, num_stages=3)
                close(f"{dtype} by the host's descriptors, {bm} by {bn}, parted: {parted}", c, expected, 3e-3)
            c = result(m, n, dtype=torch.float16)
            multiply_by_own_maps[(3,)](x, y, c, m, n, k, bm, bn, bk, num_warps=warps, num_stages=3)
            close(f"{dtype} by the kernel's descriptors, {bm} by {bn}", c, expected, 3e-3)


@triton.jit
def reduce_tiles(x, total, most, ROWS: tl.constexpr):
    tile = x.load([tl.program_id(0) * ROWS, 0])
    total.atomic_add([0, 0], tile)
    most.atomic_max([0, 0], tile)


@case
def reductions():
    x = random.integers(-100, 100, (64, 32)).astype(np.int32)
    total, most = on_device(np.zeros((16, 32), np.int32)), on_device(np.full((16, 32), -1000, np.int32))
    reduce_tiles[(4,)](*(TensorDescriptor.from_tensor(t, [16, 32]) for t in (on_device(x), total, most)), 16)
    close("sums", total, x.reshape(4, 16, 32).sum(0), 0)
    close("maxima", most, x.reshape(4, 16, 32).max(0), 0)


@triton.jit
def multiply_scaled(a, a_scale, b, b_scale, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, A: tl.constexpr,
                    B: tl.constexpr, EACH: tl.constexpr):
    rows, columns, scales = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K // 32)
    depth = tl.arange(0, K // EACH)
    x = tl.load(a + rows[:, None] * (K // EACH) + depth[None, :])
    y = tl.load(b + columns[None, :] * (K // EACH) + depth[:, None])
    s = tl.load(a_scale + rows[:, None] * (K // 32) + scales[None, :])
    t = tl.load(b_scale + columns[:, None] * (K // 32) + scales[None, :])
    tl.store(c + rows[:, None] * N + columns[None, :], tl.dot_scaled(x, s, A, y, t, B))


@case
def scaled_products():
    m, n, k = 64, 64, 128
    a_scale, b_scale = (random.integers(124, 131, (rows, k // 32)).astype(np.uint8) for rows in (m, n))
    factors = [np.repeat(2.0 ** (s.astype(int) - 127), 32, axis=1) for s in (a_scale, b_scale)]
    c = result(m, n)
    e2m1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
    pairs = [random.integers(0, 256, (rows, k // 2)).astype(np.uint8) for rows in (m, n)]
    values = [np.stack([e2m1[p & 15], e2m1[p >> 4]], -1).reshape(len(p), k) * f for p, f in zip(pairs, factors)]
    operands = [on_device(t) for t in (pairs[0], a_scale, pairs[1], b_scale)]
    multiply_scaled[(1,)](*operands, c, m, n, k, "e2m1", "e2m1", 2)
    close("mxfp4", c, values[0] @ values[1].T, 1e-3)
    a, b = numbers(m, k, dtype=torch.float8_e4m3fn), numbers(n, k, dtype=torch.float8_e5m2)
    operands = [on_device(t) for t in (a.view(torch.uint8), a_scale, b.view(torch.uint8), b_scale)]
    multiply_scaled[(1,)](*operands, c, m, n, k, "e4m3", "e5m2", 1)
    close("mxfp8", c, (a.double().numpy() * factors[0]) @ (b.double().numpy() * factors[1]).T, 1e-3)


# ---- attention ------------------------------------------------------------------------------------


@triton.jit
def attend(scale, lse, q, k, v, o, length, rows, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
           CAUSAL: tl.constexpr):
    q_map = tl.make_tensor_descriptor(q, [rows, D], [D, 1], [BM, D])
    k_map = tl.make_tensor_descriptor(k, [rows, D], [D, 1], [BN, D])
    v_map = tl.make_tensor_descriptor(v, [rows, D], [D, 1], [BN, D])
    o_map = tl.make_tensor_descriptor(o, [rows, D], [D, 1], [BM, D])
    first, head = tl.program_id(0) * BM, tl.program_id(1) * length
    at, other = first + tl.arange(0, BM), tl.arange(0, BN)
    most, weight = tl.zeros([BM], tl.float32) - float("inf"), tl.zeros([BM], tl.float32)
    total = tl.zeros([BM, D], tl.float32)
    queries = q_map.load([head + first, 0])
    for n in tl.range(0, first + BM if CAUSAL else length, BN):
        scores = tl.dot(queries, k_map.load([head + n, 0]).T) * (scale * 1.44269504)
        if CAUSAL:
            scores = tl.where(at[:, None] >= (n + other)[None, :], scores, -1.0e6)
        new = tl.maximum(most, tl.max(scores, 1))
        p = tl.exp2(scores - new[:, None])
        old = tl.exp2(most - new)
        weight = weight * old + tl.sum(p, 1)
        total = tl.dot(p.to(tl.float16), v_map.load([head + n, 0]), total * old[:, None])
        most = new
    tl.store(lse + head + at, most + tl.log2(weight))
    o_map.store([head + first, 0], (total / weight[:, None]).to(tl.float16))


@triton.jit
def attend_backward(q, k, v, scale, do, dq, dk, dv, lse, delta, length, D: tl.constexpr, BM: tl.constexpr,
                    BN: tl.constexpr):
    head = tl.program_id(1) * length
    n, d = tl.program_id(0) * BN + tl.arange(0, BN), tl.arange(0, D)
    here = (head + n)[:, None] * D + d[None, :]
    keys, values = tl.load(k + here), tl.load(v + here)
    k_sum, v_sum = tl.zeros([BN, D], tl.float32), tl.zeros([BN, D], tl.float32)
    for start in range(0, length, BM):
        m = start + tl.arange(0, BM)
        there = (head + m)[:, None] * D + d[None, :]
        queries, out = tl.load(q + there), tl.load(do + there)
        p = tl.exp2(tl.dot(keys, queries.T) * (scale * 1.44269504) - tl.load(lse + head + m)[None, :])
        p = tl.where(m[None, :] >= n[:, None], p, 0.0)
        v_sum += tl.dot(p.to(tl.float16), out)
        ds = (p * (tl.dot(values, out.T) - tl.load(delta + head + m)[None, :])).to(tl.float16)
        k_sum += tl.dot(ds, queries)
        tl.atomic_add(dq + there, tl.dot(ds.T, keys) * scale)
    tl.store(dv + here, v_sum)
    tl.store(dk + here, k_sum * scale)


def attention_of(q, k, v, scale, causal):
    scores = np.einsum("hmd,hnd->hmn", q, k) * scale
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[1:], bool))[None], scores, -1e30)
    most = scores.max(-1, keepdims=True)
    p = np.exp(scores - most)
    weight = p.sum(-1, keepdims=True)
    return np.einsum("hmn,hnd->hmd", p / weight, v), ((most + np.log(weight)) * math.log2(math.e))[..., 0], p / weight


@case
def attention():
    heads, length, d, scale = 2, 128, 64, 0.5
    host = [numbers(heads, length, d) for _ in range(3)]
    q, k, v = (t.double().numpy() for t in host)
    for causal in (False, True):
        for bm, bn, warps in ((64, 64, 4), (128, 64, 8), (64, 32, 4)):
            o, lse = result(heads, length, d, dtype=torch.float16), result(heads, length)
            attend[(length // bm, heads)](scale, lse, *map(on_device, host), o, length, heads * length, d, bm, bn,
                                          causal, num_warps=warps, num_stages=2)
            expected, expected_lse, _ = attention_of(q, k, v, scale, causal)
            close(f"attention, causal: {causal}, {bm} by {bn}", o, expected, 4e-3)
            close(f"its sums, causal: {causal}, {bm} by {bn}", lse, expected_lse, 1e-3)


@case
def attention_backward():
    heads, length, d, scale = 2, 128, 64, 0.5
    host = [numbers(heads, length, d) for _ in range(4)]
    q, k, v, do = (t.double().numpy() for t in host)
    o, lse, p = attention_of(q, k, v, scale, True)
    delta = (o * do).sum(-1)
    dq, dk, dv = (on_device(np.zeros((heads, length, d), np.float32)) for _ in range(3))
    attend_backward[(length // 64, heads)](*map(on_device, host[:3]), scale, on_device(host[3]), dq, dk, dv,
                                           on_device(lse.astype(np.float32)), on_device(delta.astype(np.float32)),
                                           length, d, 32, 64, num_warps=4, num_stages=2)
    ds = p * (np.einsum("hmd,hnd->hmn", do, v) - delta[..., None])
    close("dv", dv, np.einsum("hmn,hmd->hnd", p, do), 5e-3)
    close("dk", dk, np.einsum("hmn,hmd->hnd", ds, q) * scale, 5e-3)
    close("dq", dq, np.einsum("hmn,hnd->hmd", ds, k) * scale, 5e-3)


# ---- rows -----------------------------------------------------------------------------------------


@triton.jit
def norm(x, y, w, b, n, epsilon, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    there = at < n
    row = tl.load(x + tl.program_id(0) * n + at, mask=there, other=0.0).to(tl.float32)
    centered = tl.where(there, row - tl.sum(row) / n, 0.0)
    scale = tl.rsqrt(tl.sum(centered * centered) / n + epsilon)
    tl.store(y + tl.program_id(0) * n + at,
             centered * scale * tl.load(w + at, mask=there) + tl.load(b + at, mask=there), mask=there)


@triton.jit
def of_rows(x, ordered, running, places, functions, N: tl.constexpr):
    at = tl.arange(0, N)
    row = tl.load(x + at)
    tl.store(ordered + at, tl.sort(row))
    tl.store(running + at, tl.cumsum(row, 0))
    tl.store(places, tl.argmax(row, 0))
    tl.store(places + 1, tl.argmin(row, 0))
    tl.store(functions + at, tl.math.erf(row) + tl.sigmoid(row) + tl.exp(-row * row) + tl.log(tl.abs(row) + 1) +
             tl.sqrt(tl.abs(row)) + tl.sin(row) * tl.cos(row) + tl.floor(row))


@case
def rows():
    x, w, b = numbers(20, 200), numbers(200, dtype=torch.float32), numbers(200, dtype=torch.float32)
    y = result(20, 200, dtype=torch.float16)
    norm[(20,)](on_device(x), y, on_device(w), on_device(b), 200, 1e-5, 256)
    f = x.double().numpy()
    z = (f - f.mean(1, keepdims=True)) / np.sqrt(f.var(1, keepdims=True) + 1e-5)
    close("norm", y, z * w.double().numpy() + b.double().numpy(), 1e-3)
    row = random.standard_normal(256).astype(np.float32)
    ordered, running, functions = result(256), result(256), result(256)
    places = on_device(np.zeros(2, np.int32))
    of_rows[(1,)](on_device(row), ordered, running, places, functions, 256)
    close("sort", ordered, np.sort(row), 0)
    close("running sums", running, np.cumsum(row.astype(np.float64)), 1e-5)
    close("places", places, [row.argmax(), row.argmin()], 0)
    close("functions", functions,
          [math.erf(t) + 1 / (1 + math.exp(-t)) + math.exp(-t * t) + math.log(abs(t) + 1) + math.sqrt(abs(t)) +
           math.sin(t) * math.cos(t) + math.floor(t) for t in map(float, row)], 2e-6)


triton.set_allocator(lambda size, alignment, stream: torch.empty(size, device="cuda", dtype=torch.int8))
for name in sys.argv[1:] or CASES:
    CASES[name]()
