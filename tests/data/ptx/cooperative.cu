/* Corpus: cooperative groups, pipelines, barriers in shared memory, clusters, asynchronous copies
 * and matrix instructions, where inline assembly and predicated instructions come from. */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <mma.h>
namespace cg = cooperative_groups;

__global__ void grid_reduce(float *partial, const float *in, int n)
{
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    float sum = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size())
        sum += in[i];
    sum = cg::reduce(tile, sum, cg::plus<float>());
    if (tile.thread_rank() == 0)
        atomicAdd(&partial[blockIdx.x], sum);
    grid.sync();
    if (grid.thread_rank() == 0)
        for (unsigned i = 1; i < gridDim.x; i++)
            partial[0] += partial[i];
    auto active = cg::coalesced_threads();
    partial[active.size()] = cg::reduce(tile, (int)threadIdx.x, cg::greater<int>());
}

__global__ void staged(float *out, const float *in, int n)
{
    __shared__ float stage[2][256];
    auto block = cg::this_thread_block();
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto pipe = cuda::make_pipeline(block, &state);
    pipe.producer_acquire();
    cuda::memcpy_async(block, stage[0], in, sizeof(float) * 256, pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    out[threadIdx.x] = stage[0][threadIdx.x];
    pipe.consumer_release();
    cg::memcpy_async(block, stage[1], in + 256, sizeof(float) * 256);
    cg::wait(block);
    out[threadIdx.x + 256] = stage[1][threadIdx.x];
}

__global__ void barriers(int *p)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    if (threadIdx.x == 0)
        init(&barrier, blockDim.x);
    __syncthreads();
    p[threadIdx.x]++;
    barrier.arrive_and_wait();
    p[threadIdx.x]--;
}

__global__ void ordered(cuda::atomic<int, cuda::thread_scope_device> *flag,
                        cuda::atomic<long long, cuda::thread_scope_system> *count, int *data)
{
    if (threadIdx.x == 0) {
        data[0] = 42;
        flag->store(1, cuda::memory_order_release);
    } else {
        while (!flag->load(cuda::memory_order_acquire))
            ;
        data[1] = data[0];
    }
    count->fetch_add(1, cuda::memory_order_relaxed);
    count->store(3, cuda::memory_order_seq_cst);
    int expected = 1;
    flag->compare_exchange_strong(expected, 2);
}

__global__ void matrix(float *c, const __half *a, const __half *b)
{
    using namespace nvcuda::wmma;
    fragment<matrix_a, 16, 16, 16, __half, row_major> fa;
    fragment<matrix_b, 16, 16, 16, __half, col_major> fb;
    fragment<accumulator, 16, 16, 16, float> fc;
    fill_fragment(fc, 0.0f);
    load_matrix_sync(fa, a, 16);
    load_matrix_sync(fb, b, 16);
    mma_sync(fc, fa, fb, fc);
    store_matrix_sync(c, fc, 16, mem_row_major);
}

#if __CUDA_ARCH__ >= 900
__global__ void __cluster_dims__(2, 1, 1) cluster(int *p)
{
    __shared__ int mine;
    auto group = cg::this_cluster();
    mine = threadIdx.x;
    group.sync();
    int *other = group.map_shared_rank(&mine, group.block_rank() ^ 1);
    p[threadIdx.x] = *other;
    group.sync();
}
#endif
