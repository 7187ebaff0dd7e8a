// verdict: none
//
// Three streams, each waiting for the one before, and one wait too many: the last stage waits for
// the load, too, but the filter it waits for has waited for that already. Nothing is wrong, but the
// more waits a pipeline has, the less anybody dares to touch them. `csan mutate` leaves out each in
// turn: without the others csan reports a race, this one is needed by no access.

#include "check.h"
#include <csan/csan.h>

__global__ void load(float *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = i % 10;
}

__global__ void filter(float *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = data[i] < 5 ? 0 : data[i];
}

__global__ void scale(float *out, const float *data, float factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = data[i] * factor;
}

int main()
{
    const int n = 4096, blocks = n / 256;
    const size_t bytes = n * sizeof(float);
    float *data, *out, *host;
    CHECK(cudaMalloc(&data, bytes));
    CHECK(cudaMalloc(&out, bytes));
    CHECK(cudaMallocHost(&host, bytes));

    cudaStream_t first, second, third;
    CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking));
    cudaEvent_t loaded, filtered;
    CHECK(cudaEventCreateWithFlags(&loaded, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&filtered, cudaEventDisableTiming));

    load<<<blocks, 256, 0, first>>>(data, n);
    CHECK(cudaEventRecord(loaded, first));

    CHECK(cudaStreamWaitEvent(second, loaded, 0)); // at: filter
    filter<<<blocks, 256, 0, second>>>(data, n);
    CHECK(cudaEventRecord(filtered, second));

    CHECK(cudaStreamWaitEvent(third, filtered, 0)); // at: scale
    CHECK(cudaStreamWaitEvent(third, loaded, 0));   // the needless one // at: needless
    scale<<<blocks, 256, 0, third>>>(out, data, 2.0f, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(host, out, bytes, cudaMemcpyDeviceToHost, third));

    CHECK(cudaStreamSynchronize(third)); // at: host
    csan_host_reads(host, bytes);        // csan does not see the CPU read: say that it does
    if (host[9] != 18 || host[13] != 0)
        return 1;
    printf("done\n");
    return 0;
}
