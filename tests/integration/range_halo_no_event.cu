// verdict: race
// options: trace=0
// gpu: race
// expect: Overlap: 4 bytes, (2044 to 2047|2048 to 2051) of the 4096
// reject: Overlap: [0-9]{2}
// As range_halo_event, without the events: after a step each stream reads the other's border, and
// overwrites what the other may still read.
#include "program.h"

__global__ void smooth(int *out, const int *in, int first, int end)
{
    int i = first + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < end)
        out[i] = in[i - 1] + in[i] + in[i + 1];
}

int main()
{
    int *now = device_array<int>(), *next = device_array<int>();
    CHECK(cudaMemset(now, 0, BYTES));
    CHECK(cudaMemset(next, 0, BYTES));
    CHECK(cudaDeviceSynchronize());
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    for (int step = 0; step < 2; step++) {
        smooth<<<4, 128, 0, a>>>(next, now, 1, N / 2);
        smooth<<<4, 128, 0, b>>>(next, now, N / 2, N - 1);
        int *other = now;
        now = next;
        next = other;
    }
    CHECK(cudaGetLastError());
    return finish();
}
