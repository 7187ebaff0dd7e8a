// verdict: race
// ways: static
// gpu: any
// skip: gpu
// expect: data race: release \(.*does not wait for sum \(
// A kernel frees what a kernel of another stream still reads.
#include "device_heap.h"

enum { THREADS = 40, COUNT = 12 };

int main()
{
    int **blocks = device_array<int *>(THREADS), *out = device_array<int>(THREADS);
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    make<<<1, THREADS>>>(blocks, COUNT);
    CHECK(cudaDeviceSynchronize());
    sum<<<1, THREADS, 0, a>>>(blocks, COUNT, out);
    release<<<1, THREADS, 0, b>>>(blocks);
    CHECK(cudaGetLastError());
    return finish();
}
