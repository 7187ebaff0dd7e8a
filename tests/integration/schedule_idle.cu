// verdict: none
// The program waits for the device by looking at memory: it must get on without a call, under every
// schedule, and recorded schedules must know of it.
#include "program.h"

__global__ void raise(volatile int *flag)
{
    *flag = 1;
}

int main()
{
    int *flag = nullptr;
    CHECK(cudaMallocHost((void **)&flag, sizeof *flag));
    *flag = 0;
    raise<<<1, 1, 0, nonblocking_stream()>>>(flag);
    CHECK(cudaGetLastError());
    while (*(volatile int *)flag == 0)
        ;
    return finish();
}
