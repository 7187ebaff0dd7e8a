// verdict: race
// Two orders are missing, between three streams.
#include "program.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream(), b = nonblocking_stream(), c = nonblocking_stream();
    launch_fill(a, p);
    launch_increment(b, p);
    launch_fill(b, q);
    launch_increment(c, q);
    return finish();
}
