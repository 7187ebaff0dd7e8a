// verdict: race
// expect: stream_nonblocking_pair.cu:{first}
// expect: stream_nonblocking_pair.cu:{second}
// expect: fill\(int\*, int, int\)
// expect: stream_nonblocking_pair.cu:{birth}
// Two streams, one array, nothing between them.
#include "program.h"

int main()
{
    int *p = device_array<int>(); // at: birth
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, p, 1); // at: first
    launch_fill(b, p, 2); // at: second
    return finish();
}
