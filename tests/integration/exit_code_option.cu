// verdict: race
// options: exitcode=77
// race-exit: 77
// The exit code of a race is an option.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    launch_fill(a, p);
    launch_fill(b, p);
    return finish();
}
