// verdict: none
// devices: 2
// finding: memory that the device cannot reach
// expect: CSAN: memory that the device cannot reach: fill \(.*devices_no_peer_stream.cu:{launch}\) writes 4096 bytes of the 4096 bytes allocated at .*devices_no_peer_stream.cu:{allocated}
// expect: The memory is of device 0. The kernel runs on device 1, which has no access to it.
// expect: Launched on stream A \(created at
// own-errors: yes
// skip: gpu
// A stream of another device than the current one: the kernel runs there.
#include "devices.h"

int main()
{
    int *p = nullptr;
    cudaStream_t theirs = stream_on(1);
    CHECK(cudaMalloc(&p, BYTES));              // at: allocated
    fill<<<GRID, BLOCK, 0, theirs>>>(p, 1, N); // at: launch
    cudaStreamSynchronize(theirs);
    printf("done\n");
    return 0;
}
