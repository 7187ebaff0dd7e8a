// verdict: race
// options: trace=0
// gpu: race
// expect: Overlap: 4 bytes, 1024 to 1027 of the 4096
// expect: , [1-9] races?, 0 possible races
// The pipeline of untraced_chunks, the first chunk of which is computed one element too far.
#include "program.h"

enum { CHUNKS = 4, CHUNK = N / CHUNKS };

__global__ void scale(int *p, int offset, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[offset + i] *= 2;
}

int main()
{
    int *p = device_array<int>(), *host = nullptr;
    CHECK(cudaMallocHost((void **)&host, BYTES));
    for (int i = 0; i < N; i++)
        host[i] = i;
    for (int c = 0; c < CHUNKS; c++) {
        cudaStream_t stream = nonblocking_stream();
        size_t bytes = CHUNK * sizeof(int);
        CHECK(cudaMemcpyAsync(p + c * CHUNK, host + c * CHUNK, bytes, cudaMemcpyHostToDevice,
                              stream));
        scale<<<3, 100, 0, stream>>>(p, c * CHUNK, CHUNK + (c == 0));
        CHECK(cudaMemcpyAsync(host + c * CHUNK, p + c * CHUNK, bytes, cudaMemcpyDeviceToHost,
                              stream));
    }
    return finish();
}
