// verdict: race
// gpu: any
// expect: data race: sum \(.*does not wait for double_all \(
// Two streams use the same blocks of the device's heap. On a GPU csan does not know where they lie.
#include "device_heap.h"

enum { THREADS = 40, COUNT = 12 };

int main()
{
    int **blocks = device_array<int *>(THREADS), *out = device_array<int>(THREADS);
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    make<<<1, THREADS>>>(blocks, COUNT);
    CHECK(cudaDeviceSynchronize());
    double_all<<<1, THREADS, 0, a>>>(blocks, COUNT);
    sum<<<1, THREADS, 0, b>>>(blocks, COUNT, out);
    CHECK(cudaGetLastError());
    return finish();
}
