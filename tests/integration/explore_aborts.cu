// verdict: race
// expect: explore_aborts.cu:{index}
// skip: gpu
// A kernel reads its index from memory that a copy may not have written yet. On the embedded device
// the memory then holds a number far out of range, and the program fails.
#include "program.h"

__global__ void gather(int *out, const int *in, const int *index, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[index[i]];
}

int main()
{
    int *in = device_array<int>(), *out = device_array<int>(), *index = device_array<int>();
    CHECK(cudaMemset(in, 0, BYTES));
    CHECK(cudaMemset(index, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    int *late = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_copy(a, late, index);
    gather<<<GRID, BLOCK, 0, b>>>(out, in, late, N); // at: index
    CHECK(cudaGetLastError());
    return finish();
}
