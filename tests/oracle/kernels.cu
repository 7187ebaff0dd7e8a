// The kernels of the oracle's programs: one warp, up to 32 columns and any number of rows. What
// each touches follows from its parameters alone, so csan's analysis of the PTX is exact; the
// guarded ones do the same behind a condition on memory, so there it is bounded. What is written
// depends on what was read and on the op, so that the order of two ops shows in the bytes they
// leave; atomics commute, and nobody looks at their results.

struct range {
    unsigned char *base;
    int width;  // elements in a row
    int stride; // bytes from row to row
    int rows;
};

static __device__ unsigned sum(range r, unsigned lane)
{
    unsigned total = 0;
#pragma unroll 1
    for (int row = 0; row < r.rows; row++)
        if (lane < r.width)
            total = total * 31 + r.base[(long)row * r.stride + lane];
    return total;
}

static __device__ void step_body(range first, range second, range target, unsigned op)
{
    unsigned lane = threadIdx.x;
    unsigned value =
        (sum(first, lane) * 33 + sum(second, lane) * 7 + op) * 2654435761u + lane * 40503u;
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(~0u, value, distance) * 3;
    value += lane;
#pragma unroll 1
    for (int row = 0; row < target.rows; row++)
        if (lane < target.width)
            target.base[(long)row * target.stride + lane] = (value + row * 13) >> 5;
}

template <typename T> static __device__ void add_body(range r, unsigned op)
{
    unsigned lane = threadIdx.x;
#pragma unroll 1
    for (int row = 0; row < r.rows; row++)
        if (lane < r.width)
            atomicAdd((T *)(r.base + (long)row * r.stride) + lane, (T)(op * 2654435761u + 1));
}

extern "C" __global__ void step(range first, range second, range target, unsigned op)
{
    step_body(first, second, target, op);
}
extern "C" __global__ void add4(range r, unsigned op)
{
    add_body<unsigned>(r, op);
}
extern "C" __global__ void add8(range r, unsigned op)
{
    add_body<unsigned long long>(r, op);
}
extern "C" __global__ void step_guarded(range first, range second, range target, unsigned op,
                                        const int *guard)
{
    if (*guard == 77)
        step_body(first, second, target, op);
}
extern "C" __global__ void add4_guarded(range r, unsigned op, const int *guard)
{
    if (*guard == 77)
        add_body<unsigned>(r, op);
}
