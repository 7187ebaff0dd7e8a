// verdict: none
// One stream runs in order.
#include "program.h"

int main()
{
    int *p = device_array<int>(), *q = device_array<int>();
    cudaStream_t a = nonblocking_stream();
    launch_fill(a, p);
    launch_increment(a, p);
    launch_copy(a, q, p);
    launch_fill(a, p);
    return finish();
}
