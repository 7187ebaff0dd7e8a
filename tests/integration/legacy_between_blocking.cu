// verdict: none
// A kernel in the legacy stream that touches something else still separates two blocking streams.
#include "program.h"

int main()
{
    int *p = device_array<int>(), *other = device_array<int>();
    cudaStream_t a = blocking_stream(), b = blocking_stream();
    launch_fill(a, p);
    launch_fill(0, other);
    launch_increment(b, p);
    return finish();
}
