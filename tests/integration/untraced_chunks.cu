// verdict: none
// options: trace=0
// reject: [1-9][0-9]* (bounded|unknown)|direction| traced
// A pipeline of chunks on four streams: copy in, compute with the offset as a scalar argument, copy
// out. Known from PTX alone, as on a GPU.
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
        scale<<<3, 100, 0, stream>>>(p, c * CHUNK, CHUNK);
        CHECK(cudaMemcpyAsync(host + c * CHUNK, p + c * CHUNK, bytes, cudaMemcpyDeviceToHost,
                              stream));
    }
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++)
        if (host[i] != 2 * i)
            return 1;
    return finish();
}
