// Sums: a tree in shared memory, warp shuffles, one block's sum by an atomic, two passes,
// cooperative groups, a whole grid that synchronizes, the last block that finishes.
#include "../corpus.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

enum { BLOCK = 128 };

__global__ void sum_tree(int *sums, const int *in, int n)
{
    __shared__ int part[BLOCK];
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        sum += in[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        sums[blockIdx.x] = part[0];
}

// Two elements a thread at once, as the classic lecture has it.
__global__ void sum_pairs(int *sums, const int *in, unsigned n)
{
    extern __shared__ int part[];
    unsigned tid = threadIdx.x, i = blockIdx.x * (blockDim.x * 2) + tid;
    int sum = i < n ? in[i] : 0;
    if (i + blockDim.x < n)
        sum += in[i + blockDim.x];
    part[tid] = sum;
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s)
            part[tid] = sum = sum + part[tid + s];
        __syncthreads();
    }
    if (tid == 0)
        sums[blockIdx.x] = sum;
}

__device__ static int warp_sum(int value)
{
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffff, value, offset);
    return value;
}

__global__ void sum_shuffle(int *total, const int *in, int n)
{
    __shared__ int warps[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        sum += in[i];
    sum = warp_sum(sum);
    if (lane == 0)
        warps[warp] = sum;
    __syncthreads();
    sum = threadIdx.x < blockDim.x / 32 ? warps[lane] : 0;
    if (warp == 0)
        sum = warp_sum(sum);
    if (threadIdx.x == 0)
        atomicAdd(total, sum);
}

__global__ void sum_vectors(int *total, const int4 *in, int vectors)
{
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < vectors; i += blockDim.x * gridDim.x) {
        int4 v = in[i];
        sum += v.x + v.y + v.z + v.w;
    }
    sum = warp_sum(sum);
    if ((threadIdx.x & 31) == 0)
        atomicAdd(total, sum);
}

__global__ void sum_groups(int *sums, const int *in, int n)
{
    __shared__ int warps[BLOCK / 32];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    int sum = 0;
    for (int i = blockIdx.x * block.size() + block.thread_rank(); i < n;
         i += gridDim.x * block.size())
        sum += in[i];
    sum = cg::reduce(warp, sum, cg::plus<int>());
    if (warp.thread_rank() == 0)
        warps[warp.meta_group_rank()] = sum;
    block.sync();
    if (block.thread_rank() == 0) {
        sum = 0;
        for (int w = 0; w < BLOCK / 32; w++)
            sum += warps[w];
        sums[blockIdx.x] = sum;
    }
}

__global__ void sum_grid(int *sums, const int *in, int n)
{
    cg::grid_group grid = cg::this_grid();
    int sum = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size())
        sum += in[i];
    sums[grid.thread_rank()] = sum;
    grid.sync();
    for (int s = (int)grid.size() / 2; s > 0; s /= 2) {
        if ((int)grid.thread_rank() < s)
            sums[grid.thread_rank()] += sums[grid.thread_rank() + s];
        grid.sync();
    }
}

__device__ unsigned blocks_done;

__global__ void sum_last_block(int *total, volatile int *sums, const int *in, int n)
{
    __shared__ bool last;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = warp_sum(i < n ? in[i] : 0);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        sum = 0;
        for (int b = 0; b < gridDim.x; b++)
            sum += sums[b];
        *total = sum;
    }
}

// A matrix of partial results per block and its column-wise maximum.
__global__ void max_grid_stride(float *out, const float *in, size_t n)
{
    __shared__ float part[BLOCK];
    float best = -INFINITY;
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        best = fmaxf(best, in[i]);
    part[threadIdx.x] = best;
    for (int s = BLOCK / 2; s >= 1; s /= 2) {
        __syncthreads();
        if (threadIdx.x < s)
            part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + s]);
    }
    if (!threadIdx.x)
        out[blockIdx.x] = part[0];
}

static int total_of(const std::vector<int> &values)
{
    int total = 0;
    for (int value : values)
        total += value;
    return total;
}

static void run_shape(int n)
{
    std::vector<int> host = numbers<int>(n, 100);
    int total = total_of(host), blocks = 3;
    array<int> in(host), sums(blocks), once(1), vectors(1), groups(blocks), last(1);
    sum_tree<<<blocks, BLOCK>>>(sums, in, n);
    expect("sum_tree", n, std::vector<int>{total_of(sums.get())}, {total});
    array<int> pairs(blocks_for(n, 2 * BLOCK));
    sum_pairs<<<blocks_for(n, 2 * BLOCK), BLOCK, BLOCK * sizeof(int)>>>(pairs, in, n);
    expect("sum_pairs", n, std::vector<int>{total_of(pairs.get())}, {total});
    sum_shuffle<<<blocks, BLOCK>>>(once, in, n);
    expect("sum_shuffle", n, once.get(), {total});
    host.resize(n / 4 * 4);
    sum_vectors<<<2, 64>>>(vectors, (const int4 *)(int *)in, n / 4);
    expect("sum_vectors", n, vectors.get(), {total_of(host)});
    sum_groups<<<blocks, BLOCK>>>(groups, in, n);
    expect("sum_groups", n, std::vector<int>{total_of(groups.get())}, {total});
    array<int> partial(blocks_for(n, 32));
    sum_last_block<<<blocks_for(n, 32), 32>>>(last, partial, in, n);
    expect("sum_last_block", n, last.get(), {total});
}

static void run_grid(int n)
{
    std::vector<int> host = numbers<int>(n, 100);
    array<int> in(host), sums(4 * 32);
    int *sums_argument = sums;
    const int *in_argument = in;
    void *arguments[] = {&sums_argument, &in_argument, &n};
    CHECK(cudaLaunchCooperativeKernel((void *)sum_grid, 4, 32, arguments, 0, nullptr));
    expect("sum_grid", n, std::vector<int>{sums.get()[0]}, {total_of(host)});
}

static void run_max(int n)
{
    std::vector<float> host = numbers<float>(n, 10000);
    array<float> in(host), out(2);
    max_grid_stride<<<2, BLOCK>>>(out, in, n);
    std::vector<float> found = out.get();
    expect("max_grid_stride", n, std::vector<float>{std::max(found[0], found[1])},
           {*std::max_element(host.begin(), host.end())});
}

int main()
{
    for (int n : {1, 31, 257, 1000, 2048})
        run_shape(n);
    run_grid(100);
    run_grid(1003);
    run_max(1);
    run_max(999);
    return finish();
}
