// verdict: race
// options: trace=0
// gpu: race
// expect: Overlap: 4 bytes, 396 to 399 of the 4096
// expect: range_sizes_change.cu:{longer}
// expect: , 1 race, 0 possible races
// One kernel again and again in one shape with other lengths: what was learned about one launch
// must not stand for the next.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    fill<<<1, 128, 0, a>>>(p, 0, 50);
    fill<<<1, 128, 0, b>>>(p + 99, 0, 28);
    fill<<<1, 128, 0, a>>>(p, 0, 99);
    fill<<<1, 128, 0, b>>>(p + 100, 0, 128);
    fill<<<1, 128, 0, a>>>(p, 0, 100); // at: longer
    CHECK(cudaGetLastError());
    return finish();
}
