// verdict: none
// finding: out of bounds
// skip: gpu
// own-errors: yes
// flags: -lineinfo
// expect: CSAN: out of bounds: fill \(.*launch_past_end.cu:{launch}\) writes 1024 bytes behind the end of the 4096 bytes allocated at .*launch_past_end.cu:{allocation}
// expect: CSAN: illegal memory access in fill \(.*launch_past_end.cu:{launch}\)
// expect: block \(8,0,0\), thread \(0,0,0\) of grid 10 x block 128, at .*program.h
// expect: Reported to the program as CUDA_ERROR_ILLEGAL_ADDRESS by cudaStreamSynchronize, .*launch_past_end.cu:{reporting}
// A launch of two blocks too many: said at the launch, and again where the kernel fails.
// clang-format off
#include "expect.h"

int main()
{
    cudaStream_t stream = nonblocking_stream();
    int *p;
    CHECK(cudaMalloc((void **)&p, BYTES)); // at: allocation
    fill<<<GRID + 2, BLOCK, 0, stream>>>(p, 1, (GRID + 2) * BLOCK); // at: launch
    EXPECT(cudaStreamSynchronize(stream), cudaErrorIllegalAddress); // at: reporting
    printf("done\n");
    return 0;
}
