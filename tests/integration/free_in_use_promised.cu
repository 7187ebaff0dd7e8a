// verdict: race
// options: implicit_sync=promised
// expect: free_in_use_promised.cu:{free}
// expect: since cuMemFree made the host wait there, but nothing promises it
// reject: 2 races
// As free_in_use_strict: a part of implicit_sync=promised. The address is given out again, and what
// the former owner's work did to it is not reported once more.
#include "program.h"

int main()
{
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    int *p = device_array<int>();
    launch_fill(a, p);
    CHECK(cudaFree(p)); // at: free
    p = device_array<int>();
    launch_fill(b, p);
    return finish();
}
