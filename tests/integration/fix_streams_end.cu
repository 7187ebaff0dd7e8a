// verdict: race
// expect: increment
// A hundred streams end before what they do is waited for. Each has work that the order is to hold
// back for, also those whose streams are long gone.
#include "program.h"

__global__ void part(int *p, int i)
{
    p[i] = i;
}

int main()
{
    int *p = device_array<int>();
    cudaStream_t b = nonblocking_stream();
    for (int i = 0; i < 100; i++) {
        cudaStream_t a = nonblocking_stream();
        part<<<1, 1, 0, a>>>(p, i);
        CHECK(cudaStreamDestroy(a));
    }
    launch_increment(b, p);
    return finish();
}
