/* Kernels for tests/unit/access/test_access_set.c: each a shape of addresses and guards, whose
 * ranges are easy to derive by hand. */
#define KERNEL extern "C" __global__ void
typedef unsigned long long u64;

KERNEL guard(float *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = 1;
}

KERNEL grid_stride(float *p, const float *q, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        p[i] = q[i] * 2;
}

KERNEL early_return(float *p, int n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (i == 0) {
        p[0] = 3;
        return;
    }
    p[i] = p[i - 1];
}

KERNEL nested(float *p, int rows, int columns, int pitch)
{
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++)
            p[y * pitch + x] = 0;
}

KERNEL tile(float *p, int width, int height, int pitch)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        p[y * pitch + x] = 1;
}

KERNEL clamp(float *p, const float *q, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = q[max(0, i - 1)] + q[min(n - 1, i + 1)];
}

KERNEL choose(float *p, const float *q, int n, int half)
{
    int i = threadIdx.x;
    if (i < n)
        p[i < half ? i : i + 100] = 1;
}

KERNEL modulo_constant(float *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i % 10] = 1;
}

KERNEL divide_constant(float *p, int n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i / 7] = 1;
}

KERNEL unravel(float *p, int width, int pitch, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[(i / width) * pitch + i % width] = 1;
}

KERNEL vector(float4 *p, const float4 *q, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = q[i];
}

KERNEL readonly(float *p, const float *__restrict__ q, int n)
{
    int i = threadIdx.x;
    if (i < n)
        p[i] = __ldg(q + n - 1 - i);
}

KERNEL data_index(float *p, const int *q, int n)
{
    int i = threadIdx.x;
    if (i < n)
        p[q[i]] = 1;
}

KERNEL data_guard(float *p, const int *q, int n)
{
    int i = threadIdx.x;
    if (i < n && q[i] > 3)
        p[i] = 1;
}

KERNEL atomics(int *p, u64 *q, int n)
{
    int i = threadIdx.x;
    if (i < n) {
        atomicAdd(p + i, 1);
        atomicMax(q + i, 5ull);
    }
}

KERNEL atomics_block(int *p)
{
    atomicAdd_block(p + threadIdx.x, 1);
}
struct pointers {
    float *at[4];
    int n;
};

KERNEL array_of_pointers(struct pointers s)
{
    int i = threadIdx.x;
    if (i < s.n)
        s.at[blockIdx.x][i] = 1;
}

KERNEL member_pointer(struct pointers s)
{
    int i = threadIdx.x;
    if (i < s.n)
        s.at[2][i] = s.at[0][i];
}

KERNEL through_memory(float **table, int n)
{
    float *p = table[1];
    p[threadIdx.x] = 1;
}

KERNEL negative(float *p)
{
    p[-(int)threadIdx.x - 1] = 1;
}

KERNEL wrap(float *p, unsigned start)
{
    unsigned i = start + threadIdx.x;
    p[i] = 1;
}
__device__ __noinline__ void put(float *p, int i, int n)
{
    if (i < n)
        p[i] = 1;
}

KERNEL calls(float *p, int n)
{
    put(p, threadIdx.x, n);
}
__device__ __noinline__ void descend(float *p, int n)
{
    if (n > 0) {
        p[n] = 1;
        descend(p + 1, n - 2);
        descend(p + 2, n - 1);
    }
}

KERNEL recursive(float *p, int n)
{
    descend(p, n);
}

KERNEL endless(volatile float *p)
{
    for (;;)
        p[threadIdx.x] = 1;
}

KERNEL unbounded(const int *q, float *p)
{
    int i = 0;
    while (q[i]) {
        p[i] = 1;
        i++;
    }
}

KERNEL until_done(float *p, int n)
{
    for (unsigned i = 1; i != n; i = i * 5 + 1)
        p[i & 255] = 1;
}

KERNEL empty() {}

KERNEL countdown(float *p, int n)
{
    for (int i = n - 1; i >= 0; i--)
        p[i] = 1;
}

KERNEL triangle(float *p, int n)
{
    int y = threadIdx.x;
    if (y < n)
        for (int x = 0; x <= y; x++)
            p[y * n + x] = 1;
}
__device__ float table[64];

KERNEL variable(float *p)
{
    p[threadIdx.x] = table[threadIdx.x + 8];
}

KERNEL shared_tile(float *p, const float *q, int n)
{
    __shared__ float s[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    s[threadIdx.x] = i < n ? q[i] : 0;
    __syncthreads();
    if (i < n)
        p[i] = s[255 - threadIdx.x];
}

KERNEL offset_long(char *p, long long offset, long long n)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n)
        p[offset + i] = 1;
}

KERNEL nested_plain(float *p, int rows, int columns, int pitch)
{
    for (int y = 0; y < rows; y++)
#pragma unroll 1
        for (int x = 0; x < columns; x++)
            p[y * pitch + x] = 0;
}

KERNEL triangle_plain(float *p, int n)
{
    int y = threadIdx.x;
    if (y < n)
#pragma unroll 1
        for (int x = 0; x <= y; x++)
            p[y * n + x] = 1;
}

KERNEL unrolled(float *p, int n)
{
    for (int i = 0; i < n; i++)
        p[i] = 0;
}

KERNEL rounds_of_a_row(float *p, int columns, int pitch)
{
    for (int x = 0; x < columns; x++)
        p[blockIdx.x * pitch + x] = 0;
}

KERNEL unrolled_strides(float *p, int n)
{
    for (int i = threadIdx.x; i < n; i += 32)
        p[i] = 0;
}

// What the last round left.
KERNEL after_loop(float *p, int n)
{
    int last = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        last = i + i / 3;
        p[last * 100] = 1;
    }
    p[last] = 7;
}

// What the round before left.
KERNEL round_before(float *p, unsigned n)
{
    unsigned before = 0;
#pragma unroll 1
    for (unsigned i = 0; i < n; i++) {
        p[before] = 1;
        before = i / 3 + 1;
    }
}

KERNEL difference_to_before(float *p, const int *q, int n)
{
    int before = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        int value = q[i];
        p[value - before] = 1;
        before = value;
    }
}

// The second way out is never taken, but its condition, read in the windows of 32-bit numbers, is
// another in later rounds.
KERNEL left_by_product(int4 *p, int other, int n, int m)
{
    for (int k = n - 1; k >= 0; k--) {
        for (unsigned half = blockDim.x / 2; half > 0; half >>= 1)
            p[half > k ? k : other] = make_int4(1, 1, 2, 3);
        if (m % 7 * k == other)
            break;
    }
}

// Whether there is a next round depends on data that is other data then.
KERNEL left_by_data(int *p, const int *q, int n)
{
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        int value = q[k] & 15;
        p[k * 16 + value] = 1;
        if (value < 3)
            break;
    }
}

// Below 0 is beyond all others.
KERNEL wide_minimum(int *p, int n)
{
    p[min((u64)(long long)((int)threadIdx.x - n), (u64)100)] = 1;
}

KERNEL wide_maximum(int *p, int n)
{
    p[max((u64)(long long)((int)threadIdx.x - n), (u64)20) & 63] = 1;
}

// The inner counter's second value is never reached, which no case of it may be taken for 0.
KERNEL left_at_once(char *p, int n)
{
#pragma unroll 1
    for (int i = 3; i < 3 + n; i++)
#pragma unroll 1
        for (int j = i ^ 3; j < i + 7; j++) {
            p[(i * 16 + j) & 31] = 1;
            if (j != n)
                break;
        }
}

// Each of the 16 tests is made of the one before in several ways.
KERNEL bisection(int *p, int n)
{
    int low = 0, high = n;
#pragma unroll 16
    while (low < high) {
        int middle = (low + high) / 2;
        p[middle & 1023] = 1;
        if (middle * 3 < threadIdx.x)
            low = middle + 1;
        else
            high = middle;
    }
}

// Another time at each reading, and of more than 32 bits.
KERNEL clocks(int *p, int n)
{
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        unsigned now = clock() & 15;
        p[k * 16 + now] = 1;
        if (now < 3)
            break;
    }
    p[1000 + (clock64() >> 32 & 3)] = 1;
}

/* Blocks in groups of four rows of tiles, the last group narrower. */
KERNEL grouped_tiles(float *p, int tiles_y, int tiles_x)
{
    int in_group = 4 * tiles_x, first = (int)blockIdx.x / in_group * 4;
    int rows = min(tiles_y - first, 4), inside = (int)blockIdx.x % in_group;
    p[(first + inside % rows) * tiles_x + inside / rows] = 1;
}

KERNEL grouped_tiles_persistent(float *p, int tiles_y, int tiles_x)
{
    for (int tile = blockIdx.x; tile < tiles_y * tiles_x; tile += gridDim.x) {
        int in_group = 4 * tiles_x, first = tile / in_group * 4;
        int rows = min(tiles_y - first, 4), inside = tile % in_group;
        p[(first + inside % rows) * tiles_x + inside / rows] = 1;
    }
}

/* The counter has 64 bits, its test 32. */
KERNEL narrowed_counter(float *p, int n)
{
    long long i = threadIdx.x;
#pragma unroll 1
    do {
        p[i] = 1;
        i += 32;
    } while ((int)i < n);
}

KERNEL masked_copies(const float4 *p, int n)
{
    __shared__ float4 tile[64];
    unsigned to = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x]);
    for (int i = threadIdx.x; i < 192; i += 64)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(p + i),
                     "r"(i < n ? 16 : 0));
}

KERNEL sign_field(float *p)
{
    int sign, low;
    asm("bfe.s32 %0, %1, 23, 1;" : "=r"(sign) : "r"(blockIdx.x));
    asm("bfe.s32 %0, %1, 1, 3;" : "=r"(low) : "r"(threadIdx.x));
    p[low + (sign & 100)] = 1;
}
