// verdict: race
// options: strict_free=1
// expect: free_in_use_strict.cu:{free}
// expect: since cuMemFree made the host wait there, but nothing promises it
// The same with strict_free=1: the documentation says that the driver "may" wait.
#include "program.h"

int main()
{
    cudaStream_t a = nonblocking_stream();
    int *p = device_array<int>();
    launch_fill(a, p);
    CHECK(cudaFree(p)); // at: free
    return finish();
}
