// verdict: race
// expect: ^In NVTX range 'iteration 0'$
// expect: ^In NVTX range 'iteration 1'$
// expect: csan: .* 1 race,
// cuda: 13
// The ranges of a loop have numbers in them: the race is one all the same.
#include "program.h"

#include <nvtx3/nvToolsExt.h>

int main()
{
    int *p = device_array<int>();
    cudaStream_t streams[2] = {nonblocking_stream(), nonblocking_stream()};
    for (int i = 0; i < 8; i++) {
        char name[32];
        snprintf(name, sizeof name, "iteration %d", i);
        nvtxRangePushA(name);
        increment<<<GRID, BLOCK, 0, streams[i % 2]>>>(p, N);
        nvtxRangePop();
    }
    CHECK(cudaDeviceSynchronize());
    puts("done");
}
