// Histograms: atomics in global memory, in shared memory and then merged, one part for each block.
#include "../corpus.h"

enum { BINS = 64, BLOCK = 128 };

__global__ void histogram_global(unsigned *bins, const unsigned char *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[in[i]], 1u);
}

__global__ void histogram_shared(unsigned *bins, const unsigned char *in, int n)
{
    __shared__ unsigned own[BINS];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        own[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[in[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        atomicAdd(&bins[b], own[b]);
}

__global__ void histogram_parts(unsigned *parts, const unsigned *in, int words)
{
    __shared__ unsigned own[BINS];
    if (threadIdx.x < BINS)
        own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
        unsigned word = in[i];
        atomicAdd(&own[word & 0xff], 1u);
        atomicAdd(&own[word >> 8 & 0xff], 1u);
        atomicAdd(&own[word >> 16 & 0xff], 1u);
        atomicAdd(&own[word >> 24], 1u);
    }
    __syncthreads();
    if (threadIdx.x < BINS)
        parts[blockIdx.x * BINS + threadIdx.x] = own[threadIdx.x];
}

// A block a bin.
__global__ void histogram_merge(unsigned *bins, const unsigned *parts, int count)
{
    __shared__ unsigned sums[32];
    unsigned sum = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        sum += parts[i * BINS + blockIdx.x];
    sums[threadIdx.x] = sum;
    for (int s = 16; s > 0; s >>= 1) {
        __syncthreads();
        if (threadIdx.x < s)
            sums[threadIdx.x] += sums[threadIdx.x + s];
    }
    if (threadIdx.x == 0)
        bins[blockIdx.x] = sums[0];
}

static void run_shape(int n)
{
    std::vector<unsigned char> host = numbers<unsigned char>(n, BINS);
    std::vector<unsigned> wanted(BINS);
    for (unsigned char value : host)
        wanted[value]++;
    array<unsigned char> in(host);
    array<unsigned> global(BINS), shared(BINS), parts(5 * BINS), merged(BINS);
    histogram_global<<<blocks_for(n, BLOCK), BLOCK>>>(global, in, n);
    expect("histogram_global", n, global.get(), wanted);
    histogram_shared<<<2, BLOCK>>>(shared, in, n);
    expect("histogram_shared", n, shared.get(), wanted);
    if (n % 4)
        return;
    histogram_parts<<<5, BLOCK>>>(parts, (const unsigned *)(unsigned char *)in, n / 4);
    histogram_merge<<<BINS, 32>>>(merged, parts, 5);
    expect("histogram_merge", n, merged.get(), wanted);
}

int main()
{
    for (int n : {1, 31, 257, 1500, 4000})
        run_shape(n);
    return finish();
}
