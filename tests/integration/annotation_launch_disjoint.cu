// verdict: none
// What the program says of a launch beats what csan finds out: two launches that write the same
// array are declared to write its two halves.
#include "program.h"

int main()
{
    int *p = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream();
    csan_launch_writes(p, BYTES / 2);
    launch_fill(a, p);
    csan_launch_writes(p + N / 2, BYTES / 2);
    launch_fill(b, p);
    return finish();
}
