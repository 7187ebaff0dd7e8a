// verdict: race
// flags: -std=c++17
// expect: CSAN: data race: .*DeviceRadixSort.*\(.*:{sort}\) does not wait for keys \(.*:{keys}\)
// expect: ^  ... [0-9]+ frames of .*Thrust.* \(full_stacks=1 shows them\)
// expect: Fix: .*thrust_stream.cu:{sort}\)\.
// reject: ^  #[0-9]+ .*(thrust::|cub::)
// A sort on a non-blocking stream starts on data which a kernel in the default stream still
// produces: the report leads to the program's line, and not into the library.
#include "program.h"

#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/sort.h>

__global__ void keys(unsigned *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = (i * 2654435761u) >> 8;
}

int main()
{
    unsigned *p = device_array<unsigned>();
    cudaStream_t stream = nonblocking_stream();
    keys<<<GRID, BLOCK>>>(p, N); // at: keys
    CHECK(cudaGetLastError());
    thrust::device_ptr<unsigned> begin(p);
    thrust::sort(thrust::cuda::par_nosync.on(stream), begin, begin + N); // at: sort
    return finish();
}
