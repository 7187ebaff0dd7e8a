// verdict: none
// finding: out of bounds
// expect: CSAN: out of bounds: fill \(.*write_past_end.cu:{launch}\) writes 1024 bytes behind the end of the 4096 bytes allocated at .*write_past_end.cu:{allocated}
// own-errors: yes
// A grid that is one block too large, without a check of the index.
#include "program.h"

int main()
{
    int *p = nullptr;
    CHECK(cudaMalloc(&p, BYTES)); // at: allocated
    fill<<<5, 256>>>(p, 1, 1280); // at: launch
    CHECK(cudaGetLastError());
    cudaDeviceSynchronize(); // fails where the bytes are nobody's
    printf("done\n");
    return 0;
}
