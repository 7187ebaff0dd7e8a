// verdict: none
// Kernels of two streams allocate and free, each for itself. That one gets what the other has freed
// is no access in common.
#include "device_heap.h"

__global__ void scratch(int *out, int count)
{
    for (int turn = 0; turn < 4; turn++) {
        int *block = new int[count];
        for (int i = 0; i < count; i++)
            block[i] = i + turn;
        out[threadIdx.x] = block[count - 1];
        delete[] block;
    }
}

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    int *p = device_array<int>(32), *q = device_array<int>(32);
    for (int i = 0; i < 8; i++) {
        scratch<<<1, 32, 0, a>>>(p, 100);
        scratch<<<1, 32, 0, b>>>(q, 100);
    }
    CHECK(cudaGetLastError());
    return finish();
}
