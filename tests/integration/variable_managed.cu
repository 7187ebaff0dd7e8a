// verdict: race
// expect: on the __managed__ variable 'counts' \(4096 bytes, of .*variable_managed\)
// expect: The memory is the __managed__ variable 'counts' of .*variable_managed\.
// reject: no allocation csan saw
// A set of a managed variable, and a kernel that writes to it, in two streams.
#include "program.h"

__managed__ int counts[N];

__global__ void count()
{
    counts[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

int main()
{
    CHECK(cudaMemsetAsync(counts, 0, sizeof counts, nonblocking_stream()));
    count<<<GRID, BLOCK, 0, nonblocking_stream()>>>();
    CHECK(cudaGetLastError());
    return finish();
}
