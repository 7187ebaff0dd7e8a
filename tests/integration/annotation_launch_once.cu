// verdict: race
// An annotation is for the next launch only: the one after it is checked as it is.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    csan_launch_reads(p, sizeof(int));
    launch_fill(a, p);
    launch_fill(a, p);
    launch_fill(b, p);
    return finish();
}
