// verdict: none
// skip: embedded
// options: access=learn:learn_cache_mb=0
// expect: [1-9][0-9]* traced to learn
// A traced kernel spins until a kernel sets the flag that is launched after it: whoever made that
// launch wait for the first one's trace would hang. Both are loaded before, for lazy loading waits.
#include "program.h"

__global__ void spin(int *flag, int *out)
{
    while (atomicAdd(flag, 0) == 0)
        continue;
    out[threadIdx.x] = 1;
}

__global__ void set(int *flag, int *out)
{
    atomicExch(flag, 1);
    out[threadIdx.x] = 2;
}

int main()
{
    int *flag = device_array<int>(), *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t s = nonblocking_stream(), t = nonblocking_stream();
    for (int i = 0; i < 6; i++) {
        CHECK(cudaMemset(flag, i == 0, sizeof *flag));
        CHECK(cudaDeviceSynchronize());
        if (i == 0) {
            set<<<1, 32, 0, t>>>(flag, q);
            CHECK(cudaDeviceSynchronize());
        }
        spin<<<1, 32, 0, s>>>(flag, p);
        set<<<1, 32, 0, t>>>(flag, q);
        CHECK(cudaDeviceSynchronize());
    }
    return finish();
}
