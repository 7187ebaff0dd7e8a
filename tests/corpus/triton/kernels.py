"""Kernels as people write them in Triton, and as PyTorch's Inductor writes them: where the PTX
beside this file comes from (scripts/triton-corpus compiles it)."""

import triton
import triton.language as tl

# name: (function, signature, constants, options); a pointer or number marked with :16 is a multiple
# of 16 at every launch, as Triton finds out by itself when it is.
KERNELS = {}


def kernel(signature, name=None, constants=None, **options):
    def register(function):
        jitted = triton.jit(function)
        KERNELS[name or function.__name__] = (jitted, signature, constants or {}, options)
        return jitted
    return register


def also(name, like, signature):
    function, _, constants, options = KERNELS[like]
    KERNELS[name] = (function, signature, constants, options)


# ---- Elementwise


@kernel("x=*fp32:16 y=*fp32:16 out=*fp32:16 n=i32", constants=dict(BLOCK=1024))
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)


@kernel("x=*fp32:16 out=*fp32:16 n=i32:16 seed=i32 p=fp32", constants=dict(BLOCK=512))
def dropout(x, out, n, seed, p, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    values = tl.load(x + offsets, mask=mask)
    keep = tl.rand(seed, offsets) > p
    tl.store(out + offsets, tl.where(keep, values / (1 - p), 0.0), mask=mask)


@kernel("table=*fp32:16 index=*i32:16 out=*fp32:16 n=i32 width=i32:16", constants=dict(BLOCK=128))
def gather_rows(table, index, out, n, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    source = tl.load(index + row)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = columns < width
    tl.store(out + row * width + columns, tl.load(table + source * width + columns, mask=mask), mask=mask)


@kernel("x=*fp32:16 out=*fp32:16 rows=i32 columns=i32", constants=dict(BLOCK_R=32, BLOCK_C=32))
def transpose(x, out, rows, columns, BLOCK_R: tl.constexpr, BLOCK_C: tl.constexpr):
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    c = tl.program_id(1) * BLOCK_C + tl.arange(0, BLOCK_C)
    mask = (r[:, None] < rows) & (c[None, :] < columns)
    tile = tl.load(x + r[:, None] * columns + c[None, :], mask=mask)
    tl.store(out + c[None, :] * rows + r[:, None], tile, mask=mask)


@kernel("x=*fp32:16 out=*fp32:16 n=i32 scale=fp32", constants=dict(BLOCK=256))
def persistent_scale(x, out, n, scale, BLOCK: tl.constexpr):
    blocks = tl.cdiv(n, BLOCK)
    for block in tl.range(tl.program_id(0), blocks, tl.num_programs(0)):
        offsets = block * BLOCK + tl.arange(0, BLOCK)
        mask = offsets < n
        tl.store(out + offsets, tl.load(x + offsets, mask=mask) * scale, mask=mask)


# ---- Rows


@kernel("out=*fp32:16 x=*fp32:16 x_stride=i32:16 out_stride=i32:16 n=i32", constants=dict(BLOCK=1024))
def softmax(out, x, x_stride, out_stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    values = tl.load(x + row * x_stride + columns, mask=mask, other=-float("inf"))
    shifted = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * out_stride + columns, shifted / tl.sum(shifted, axis=0), mask=mask)


@kernel("out=*fp32:16 x=*fp32:16 x_stride=i32 out_stride=i32 rows=i32 n=i32", constants=dict(BLOCK=256), num_stages=2)
def softmax_persistent(out, x, x_stride, out_stride, rows, n, BLOCK: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        columns = tl.arange(0, BLOCK)
        mask = columns < n
        values = tl.load(x + row * x_stride + columns, mask=mask, other=-float("inf"))
        shifted = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + row * out_stride + columns, shifted / tl.sum(shifted, axis=0), mask=mask)


@kernel("x=*fp32:16 out=*fp32:16 w=*fp32:16 b=*fp32:16 mean=*fp32:16 rstd=*fp32:16 stride=i32:16 n=i32 eps=fp32",
        constants=dict(BLOCK=256))
def layer_norm(x, out, w, b, mean, rstd, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x += row * stride
    out += row * stride
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        total += tl.load(x + columns, mask=columns < n, other=0.0)
    average = tl.sum(total, axis=0) / n
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        value = tl.load(x + columns, mask=columns < n, other=0.0)
        value = tl.where(columns < n, value - average, 0.0)
        squares += value * value
    scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / n + eps)
    tl.store(mean + row, average)
    tl.store(rstd + row, scale)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n
        value = tl.load(x + columns, mask=mask, other=0.0)
        tl.store(out + columns, (value - average) * scale * tl.load(w + columns, mask=mask) + tl.load(b + columns, mask=mask),
                 mask=mask)


@kernel("dx=*fp32:16 dout=*fp32:16 dw=*fp32:16 db=*fp32:16 x=*fp32:16 w=*fp32:16 mean=*fp32:16 rstd=*fp32:16 "
        "lock=*i32:16 stride=i32:16 n=i32", constants=dict(GROUP=4, BLOCK=256))
def layer_norm_backward(dx, dout, dw, db, x, w, mean, rstd, lock, stride, n, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x += row * stride
    dout += row * stride
    dx += row * stride
    lock_id = row % GROUP
    lock += lock_id
    count = lock + GROUP
    dw = dw + lock_id * n + columns
    db = db + lock_id * n + columns
    value = tl.load(x + columns, mask=mask, other=0)
    gradient = tl.load(dout + columns, mask=mask, other=0)
    weight = tl.load(w + columns, mask=mask)
    average = tl.load(mean + row)
    scale = tl.load(rstd + row)
    xhat = tl.where(mask, (value - average) * scale, 0.0)
    weighted = tl.where(mask, weight * gradient, 0.0)
    c1 = tl.sum(xhat * weighted, axis=0) / n
    c2 = tl.sum(weighted, axis=0) / n
    tl.store(dx + columns, (weighted - (xhat * c1 + c2)) * scale, mask=mask)
    partial_dw = gradient * xhat
    partial_db = gradient
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    seen = tl.load(count)
    if seen == 0:
        tl.atomic_xchg(count, 1)
    else:
        partial_dw += tl.load(dw, mask=mask)
        partial_db += tl.load(db, mask=mask)
    tl.store(dw, partial_dw, mask=mask)
    tl.store(db, partial_db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@kernel("dw=*fp32:16 db=*fp32:16 out_w=*fp32:16 out_b=*fp32:16 m=i32 n=i32", constants=dict(BLOCK_M=32, BLOCK_N=128))
def layer_norm_backward_sum(dw, db, out_w, out_b, m, n, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    columns = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    sum_w = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    sum_b = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for i in range(0, m, BLOCK_M):
        rows = i + tl.arange(0, BLOCK_M)
        mask = (rows[:, None] < m) & (columns[None, :] < n)
        offsets = rows[:, None] * n + columns[None, :]
        sum_w += tl.load(dw + offsets, mask=mask, other=0.)
        sum_b += tl.load(db + offsets, mask=mask, other=0.)
    tl.store(out_w + columns, tl.sum(sum_w, axis=0), mask=columns < n)
    tl.store(out_b + columns, tl.sum(sum_b, axis=0), mask=columns < n)


# ---- Reductions and atomics


@kernel("x=*fp32:16 out=*fp32:16 n=i32", constants=dict(BLOCK=1024))
def sum_blocks(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + tl.program_id(0), tl.sum(tl.load(x + offsets, mask=offsets < n, other=0.0)))


@kernel("x=*fp32:16 out=*fp32:16 n=i32", constants=dict(BLOCK=1024))
def sum_atomic(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.sum(tl.load(x + offsets, mask=offsets < n, other=0.0)))


@kernel("index=*i32:16 out=*i32:16 n=i32 bins=i32", constants=dict(BLOCK=256))
def histogram(index, out, n, bins, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    bin = tl.load(index + offsets, mask=mask, other=0)
    tl.atomic_add(out + bin, 1, mask=mask & (bin < bins))


@kernel("x=*fp32:16 out=*fp32:16 rows=i32 columns=i32", constants=dict(BLOCK=128))
def column_sums_atomic(x, out, rows, columns, BLOCK: tl.constexpr):
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = c < columns
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for r in range(tl.program_id(1), rows, tl.num_programs(1)):
        total += tl.load(x + r * columns + c, mask=mask, other=0.0)
    tl.atomic_add(out + c, total, mask=mask)


@kernel("x=*fp32:16 out=*fp32:16 n=i32", constants=dict(BLOCK=256))
def cumulative_sum(x, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    values = tl.load(x + row * n + columns, mask=columns < n, other=0.0)
    tl.store(out + row * n + columns, tl.cumsum(values, axis=0), mask=columns < n)


# ---- Matrix products

MATMUL = "a=*fp16:16 b=*fp16:16 c=*fp16:16 m=i32 n=i32 k=i32 am=i32:16 bk=i32:16 cm=i32:16"
TILES = dict(BM=64, BN=64, BK=32, GROUP=4)


@kernel(MATMUL, constants=TILES, num_stages=3)
def matmul(a, b, c, m, n, k, am, bk, cm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    blocks_m = tl.cdiv(m, BM)
    blocks_n = tl.cdiv(n, BN)
    in_group = GROUP * blocks_n
    group = pid // in_group
    first_m = group * GROUP
    group_size = min(blocks_m - first_m, GROUP)
    pid_m = first_m + ((pid % in_group) % group_size)
    pid_n = (pid % in_group) // group_size
    rows = (pid_m * BM + tl.arange(0, BM)) % m
    columns = (pid_n * BN + tl.arange(0, BN)) % n
    depth = tl.arange(0, BK)
    a_at = a + rows[:, None] * am + depth[None, :]
    b_at = b + depth[:, None] * bk + columns[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(0, tl.cdiv(k, BK)):
        left = tl.load(a_at, mask=depth[None, :] < k - step * BK, other=0.0)
        right = tl.load(b_at, mask=depth[:, None] < k - step * BK, other=0.0)
        total = tl.dot(left, right, total)
        a_at += BK
        b_at += BK * bk
    rows = pid_m * BM + tl.arange(0, BM)
    columns = pid_n * BN + tl.arange(0, BN)
    mask = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(c + cm * rows[:, None] + columns[None, :], total.to(tl.float16), mask=mask)


@kernel(MATMUL, constants=dict(BM=32, BN=32, BK=32), num_stages=2)
def matmul_masked(a, b, c, m, n, k, am, bk, cm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        left = tl.load(a + rows[:, None] * am + depth[None, :], mask=(rows[:, None] < m) & (depth[None, :] < k), other=0.0)
        right = tl.load(b + depth[:, None] * bk + columns[None, :], mask=(depth[:, None] < k) & (columns[None, :] < n), other=0.0)
        total = tl.dot(left, right, total)
    tl.store(c + cm * rows[:, None] + columns[None, :], total.to(tl.float16), mask=(rows[:, None] < m) & (columns[None, :] < n))


@kernel("a=*fp16:16 b=*fp16:16 c=*fp32:16 m=i32 n=i32 k=i32 am=i32:16 bk=i32:16 cm=i32:16",
        constants=dict(BM=32, BN=32, BK=32, SPLIT=4), num_stages=2)
def matmul_split_k(a, b, c, m, n, k, am, bk, cm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(tl.program_id(2) * BK, k, BK * SPLIT):
        depth = start + tl.arange(0, BK)
        left = tl.load(a + rows[:, None] * am + depth[None, :], mask=(rows[:, None] < m) & (depth[None, :] < k), other=0.0)
        right = tl.load(b + depth[:, None] * bk + columns[None, :], mask=(depth[:, None] < k) & (columns[None, :] < n), other=0.0)
        total = tl.dot(left, right, total)
    tl.atomic_add(c + cm * rows[:, None] + columns[None, :], total, mask=(rows[:, None] < m) & (columns[None, :] < n))


@kernel("a=*fp16:16 b=*fp16:16 c=*fp16:16 m=i32 n=i32 k=i32 am=i64:16 bk=i64:16 cm=i64:16",
        constants=dict(BM=32, BN=32, BK=32), num_stages=2)
def matmul_block_pointers(a, b, c, m, n, k, am, bk, cm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM
    column = tl.program_id(1) * BN
    a_at = tl.make_block_ptr(a, (m, k), (am, 1), (row, 0), (BM, BK), (1, 0))
    b_at = tl.make_block_ptr(b, (k, n), (bk, 1), (0, column), (BK, BN), (1, 0))
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, k, BK):
        total = tl.dot(tl.load(a_at, boundary_check=(0, 1)), tl.load(b_at, boundary_check=(0, 1)), total)
        a_at = tl.advance(a_at, (0, BK))
        b_at = tl.advance(b_at, (BK, 0))
    c_at = tl.make_block_ptr(c, (m, n), (cm, 1), (row, column), (BM, BN), (1, 0))
    tl.store(c_at, total.to(tl.float16), boundary_check=(0, 1))


@kernel(MATMUL, constants=TILES, num_stages=3)
def matmul_persistent(a, b, c, m, n, k, am, bk, cm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    blocks_m = tl.cdiv(m, BM)
    blocks_n = tl.cdiv(n, BN)
    for tile in tl.range(tl.program_id(0), blocks_m * blocks_n, tl.num_programs(0)):
        in_group = GROUP * blocks_n
        first_m = (tile // in_group) * GROUP
        group_size = min(blocks_m - first_m, GROUP)
        rows = (first_m + tile % group_size) * BM + tl.arange(0, BM)
        columns = ((tile % in_group) // group_size) * BN + tl.arange(0, BN)
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for step in range(0, tl.cdiv(k, BK)):
            depth = step * BK + tl.arange(0, BK)
            left = tl.load(a + rows[:, None] * am + depth[None, :], mask=(rows[:, None] < m) & (depth[None, :] < k), other=0.0)
            right = tl.load(b + depth[:, None] * bk + columns[None, :], mask=(depth[:, None] < k) & (columns[None, :] < n), other=0.0)
            total = tl.dot(left, right, total)
        tl.store(c + cm * rows[:, None] + columns[None, :], total.to(tl.float16), mask=(rows[:, None] < m) & (columns[None, :] < n))


@kernel("q=*fp16:16 k=*fp16:16 v=*fp16:16 out=*fp16:16 lse=*fp32:16 scale=fp32 heads=i32 length=i32 batch_stride=i32:16 head_stride=i32:16",
        constants=dict(BM=64, BN=32, DEPTH=64, CAUSAL=True), num_stages=2)
def attention(q, k, v, out, lse, scale, heads, length, batch_stride, head_stride, BM: tl.constexpr, BN: tl.constexpr,
              DEPTH: tl.constexpr, CAUSAL: tl.constexpr):
    start = tl.program_id(0)
    which = tl.program_id(1)
    base = (which // heads).to(tl.int64) * batch_stride + (which % heads).to(tl.int64) * head_stride
    rows = start * BM + tl.arange(0, BM)
    columns = tl.arange(0, BN)
    depth = tl.arange(0, DEPTH)
    query = tl.load(q + base + rows[:, None] * DEPTH + depth[None, :], mask=rows[:, None] < length, other=0.0)
    largest = tl.zeros([BM], dtype=tl.float32) - float("inf")
    weight = tl.zeros([BM], dtype=tl.float32) + 1.0
    total = tl.zeros([BM, DEPTH], dtype=tl.float32)
    end = min((start + 1) * BM, length) if CAUSAL else length
    for first in range(0, end, BN):
        at = first + columns
        key = tl.load(k + base + at[None, :] * DEPTH + depth[:, None], mask=at[None, :] < length, other=0.0)
        scores = tl.dot(query, key) * scale
        if CAUSAL:
            scores = tl.where(rows[:, None] >= at[None, :], scores, -1e6)
        new_largest = tl.maximum(largest, tl.max(scores, 1))
        p = tl.exp(scores - new_largest[:, None])
        alpha = tl.exp(largest - new_largest)
        weight = weight * alpha + tl.sum(p, 1)
        value = tl.load(v + base + at[:, None] * DEPTH + depth[None, :], mask=at[:, None] < length, other=0.0)
        total = tl.dot(p.to(tl.float16), value, total * alpha[:, None])
        largest = new_largest
    tl.store(lse + which * length + rows, largest + tl.log(weight), mask=rows < length)
    tl.store(out + base + rows[:, None] * DEPTH + depth[None, :], (total / weight[:, None]).to(tl.float16), mask=rows[:, None] < length)


# ---- As Inductor writes them (torch 2.11): xnumel and rnumel are constants for static shapes


@kernel("in_ptr0=*fp32:16 in_ptr1=*fp32:16 out_ptr0=*fp32:16 xnumel=i32:16", constants=dict(XBLOCK=512))
def triton_poi_fused_add_relu_0(in_ptr0, in_ptr1, out_ptr0, xnumel, XBLOCK: tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex
    x1 = xindex % 96
    tmp0 = tl.load(in_ptr0 + (x0), xmask)
    tmp1 = tl.load(in_ptr1 + (x1), xmask, eviction_policy="evict_last")
    tmp2 = tmp0 + tmp1
    tmp3 = tl.full([1], 0, tl.int32)
    tmp4 = tl.maximum(tmp3, tmp2)
    tl.store(out_ptr0 + (x0), tmp4, xmask)


@kernel("in_out_ptr0=*fp32:16 in_ptr0=*fp32:16 xnumel=i32", constants=dict(XBLOCK=256))
def triton_poi_fused_convolution_1(in_out_ptr0, in_ptr0, xnumel, XBLOCK: tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x3 = xindex
    x1 = (xindex // 49) % 20
    tmp0 = tl.load(in_out_ptr0 + (x3), xmask, eviction_policy="evict_last")
    tmp1 = tl.load(in_ptr0 + (x1), xmask, eviction_policy="evict_last")
    tl.store(in_out_ptr0 + (x3), tmp0 + tmp1, xmask)


@kernel("in_ptr0=*fp32:16 in_ptr1=*fp32:16 out_ptr0=*fp32:16 xnumel=i32:16", constants=dict(XBLOCK=256))
def triton_poi_fused_cat_2(in_ptr0, in_ptr1, out_ptr0, xnumel, XBLOCK: tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex % 48
    x1 = xindex // 48
    x2 = xindex
    tmp0 = x0
    tmp3 = tl.full([1], 16, tl.int64)
    tmp4 = tmp0 < tmp3
    tmp5 = tl.load(in_ptr0 + (16 * x1 + (x0)), xmask & tmp4, eviction_policy="evict_last", other=0.0)
    tmp6 = tmp0 >= tmp3
    tmp9 = tl.load(in_ptr1 + (32 * x1 + ((-16) + x0)), xmask & tmp6, eviction_policy="evict_last", other=0.0)
    tmp10 = tl.where(tmp4, tmp5, tmp9)
    tl.store(out_ptr0 + (x2), tmp10, xmask)


@kernel("in_ptr0=*fp32:16 out_ptr0=*fp32:16 ynumel=i32 xnumel=i32", constants=dict(YBLOCK=32, XBLOCK=32))
def triton_poi_fused_clone_3(in_ptr0, out_ptr0, ynumel, xnumel, YBLOCK: tl.constexpr, XBLOCK: tl.constexpr):
    yoffset = (tl.program_id(1) + tl.program_id(2) * tl.num_programs(1)) * YBLOCK
    yindex = yoffset + tl.arange(0, YBLOCK)[:, None]
    ymask = yindex < ynumel
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[None, :]
    xmask = xindex < xnumel
    x2 = xindex
    y0 = yindex % 24
    y1 = yindex // 24
    tmp0 = tl.load(in_ptr0 + (y0 + 24 * x2 + 24 * xnumel * y1), xmask & ymask, eviction_policy="evict_last")
    tl.store(out_ptr0 + (x2 + xnumel * yindex), tmp0, xmask & ymask)


@kernel("in_ptr0=*i64:16 in_ptr1=*fp32:16 out_ptr0=*fp32:16 xnumel=i32:16", constants=dict(XBLOCK=256))
def triton_poi_fused_embedding_4(in_ptr0, in_ptr1, out_ptr0, xnumel, XBLOCK: tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x1 = xindex // 64
    x0 = xindex % 64
    x2 = xindex
    tmp0 = tl.load(in_ptr0 + (x1), xmask, eviction_policy="evict_last")
    tmp1 = tl.full([XBLOCK], 100, tl.int32)
    tmp2 = tmp0 + tmp1
    tmp3 = tmp0 < 0
    tmp4 = tl.where(tmp3, tmp2, tmp0)
    tl.device_assert(((0 <= tmp4) & (tmp4 < 100)) | ~(xmask), "index out of bounds: 0 <= tmp4 < 100")
    tmp6 = tl.load(in_ptr1 + (x0 + 64 * tmp4), xmask)
    tl.store(out_ptr0 + (x2), tmp6, xmask)


@kernel("in_ptr0=*fp32:16 out_ptr0=*fp32:16 xnumel=i32 r0_numel=i32:16", constants=dict(XBLOCK=8, R0_BLOCK=128))
def triton_red_fused_mean_5(in_ptr0, out_ptr0, xnumel, r0_numel, XBLOCK: tl.constexpr, R0_BLOCK: tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_base = tl.arange(0, R0_BLOCK)[None, :]
    x0 = xindex
    _tmp2 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        tmp0 = tl.load(in_ptr0 + (r0_index + r0_numel * x0), r0_mask & xmask, eviction_policy="evict_first", other=0.0)
        tmp1 = tl.broadcast_to(tmp0, [XBLOCK, R0_BLOCK])
        _tmp2 = tl.where(r0_mask & xmask, _tmp2 + tmp1, _tmp2)
    tmp2 = tl.sum(_tmp2, 1)[:, None]
    tl.store(out_ptr0 + (x0), tmp2 / r0_numel, xmask)


@kernel("in_out_ptr0=*fp32:16 in_ptr0=*fp32:16 in_ptr1=*fp32:16 in_ptr2=*fp32:16 out_ptr0=*fp32:16 xnumel=i32 r0_numel=i32:16",
        constants=dict(XBLOCK=1, R0_BLOCK=256))
def triton_per_fused_native_layer_norm_6(in_out_ptr0, in_ptr0, in_ptr1, in_ptr2, out_ptr0, xnumel, r0_numel, XBLOCK: tl.constexpr,
                                         R0_BLOCK: tl.constexpr):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = tl.full([R0_BLOCK], xoffset, tl.int32)
    r0_index = tl.arange(0, R0_BLOCK)[:]
    r0_mask = r0_index < 192
    r0_1 = r0_index
    x0 = xindex
    tmp0 = tl.load(in_ptr0 + (r0_1 + 192 * x0), r0_mask, other=0.0)
    tmp21 = tl.load(in_ptr1 + (r0_1), r0_mask, eviction_policy="evict_last", other=0.0)
    tmp23 = tl.load(in_ptr2 + (r0_1), r0_mask, eviction_policy="evict_last", other=0.0)
    tmp8 = tl.sum(tmp0, 0) / 192.0
    tmp10 = tl.where(r0_mask, tmp0 - tmp8, 0.0)
    tmp17 = tl.math.rsqrt(tl.sum(tmp10 * tmp10, 0) / 192.0 + 1e-05)
    tl.debug_barrier()
    tl.store(in_out_ptr0 + (x0 + tl.full([1], 0, tl.int32)), tmp17)
    tl.store(out_ptr0 + (r0_1 + 192 * x0), tmp10 * tmp17 * tmp21 + tmp23, r0_mask)


# ---- The same for shapes that are multiples of 16: wide and asynchronous copies

ALIGNED = "a=*fp16:16 b=*fp16:16 c=*fp16:16 m=i32:16 n=i32:16 k=i32:16 am=i32:16 bk=i32:16 cm=i32:16"
also("vector_add_aligned", "vector_add", "x=*fp32:16 y=*fp32:16 out=*fp32:16 n=i32:16")
also("softmax_aligned", "softmax", "out=*fp32:16 x=*fp32:16 x_stride=i32:16 out_stride=i32:16 n=i32:16")
also("softmax_persistent_aligned", "softmax_persistent",
     "out=*fp32:16 x=*fp32:16 x_stride=i32:16 out_stride=i32:16 rows=i32 n=i32:16")
also("layer_norm_aligned", "layer_norm",
     "x=*fp32:16 out=*fp32:16 w=*fp32:16 b=*fp32:16 mean=*fp32:16 rstd=*fp32:16 stride=i32:16 n=i32:16 eps=fp32")
for name in ("matmul", "matmul_masked", "matmul_persistent"):
    also(name + "_aligned", name, ALIGNED)
also("matmul_split_k_aligned", "matmul_split_k", ALIGNED.replace("c=*fp16", "c=*fp32"))
