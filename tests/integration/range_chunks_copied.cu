// verdict: none
// options: trace=0
// The overlap that every course teaches: copy in, compute, copy out, a chunk of one buffer a
// stream.
#include "program.h"

enum { CHUNK = 100 };

__global__ void double_part(int *p, int first, int n)
{
    int i = first + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] *= 2;
}

int main()
{
    int *p = device_array<int>(), *host;
    CHECK(cudaMallocHost((void **)&host, BYTES));
    memset(host, 0, BYTES);
    for (int first = 0; first < N; first += CHUNK) {
        int end = first + CHUNK < N ? first + CHUNK : N;
        size_t bytes = (end - first) * sizeof(int);
        cudaStream_t stream = nonblocking_stream();
        CHECK(cudaMemcpyAsync(p + first, host + first, bytes, cudaMemcpyHostToDevice, stream));
        double_part<<<2, 64, 0, stream>>>(p, first, end);
        CHECK(cudaMemcpyAsync(host + first, p + first, bytes, cudaMemcpyDeviceToHost, stream));
    }
    CHECK(cudaGetLastError());
    return finish();
}
