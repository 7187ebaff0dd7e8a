// verdict: none
// flags: -default-stream per-thread
// One thread's default stream runs in order, by whichever name.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    CHECK(cudaMemsetAsync(p, 0, BYTES));
    increment<<<GRID, BLOCK>>>(p, N);
    launch_increment(cudaStreamPerThread, p);
    CHECK(cudaGetLastError());
    return finish();
}
